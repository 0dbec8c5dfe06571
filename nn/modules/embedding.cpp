#include <ebb/nn/modules/embedding.h>

#include <ebb/autograd/factories.h>
#include <ebb/autograd/grad_mode.h>
#include <ebb/nn/functional.h>
#include <ebb/nn/init.h>

namespace ebb::nn {

EmbeddingImpl::EmbeddingImpl(EmbeddingOptions options) : options(std::move(options)) {
  EmbeddingImpl::reset();
}

void EmbeddingImpl::reset() {
  const int64_t rows = options.num_embeddings();
  EBB_CHECK_AS(NotImplementedError, !options.max_norm() && !options.sparse(),
               "Embedding: max_norm and sparse are not implemented");
  if (auto& padding_idx = options.padding_idx()) {
    EBB_CHECK(*padding_idx >= -rows && *padding_idx < rows, "Embedding: padding_idx ", *padding_idx,
              " must be within num_embeddings (", rows, ")");
    if (*padding_idx < 0) *padding_idx += rows;
  }
  if (!options._weight().defined()) {
    weight = register_parameter("weight", empty({rows, options.embedding_dim()}));
    reset_parameters();
    return;
  }
  EBB_CHECK(options._weight().sizes() == IntArrayRef({rows, options.embedding_dim()}),
            "Embedding: the sizes of _weight, ", options._weight().sizes(),
            ", do not match num_embeddings and embedding_dim, [", rows, ", ",
            options.embedding_dim(), "]");
  // A tensor of its own over the same memory, so that a clone can replace it.
  weight = register_parameter("weight", options._weight().detach());
}

void EmbeddingImpl::reset_parameters() {
  init::normal_(weight);
  if (!options.padding_idx()) return;
  const NoGradGuard no_grad;
  weight.select(0, *options.padding_idx()).fill_(0);
}

void EmbeddingImpl::pretty_print(std::ostream& stream) const {
  stream << "ebb::nn::Embedding(num_embeddings=" << options.num_embeddings()
         << ", embedding_dim=" << options.embedding_dim();
  if (options.padding_idx()) stream << ", padding_idx=" << *options.padding_idx();
  if (options.scale_grad_by_freq()) stream << ", scale_grad_by_freq=true";
  stream << ")";
}

Tensor EmbeddingImpl::forward(const Tensor& indices) {
  return functional::embedding(indices, weight,
                               functional::EmbeddingFuncOptions()
                                   .padding_idx(options.padding_idx())
                                   .scale_grad_by_freq(options.scale_grad_by_freq()));
}

Embedding Embedding::from_pretrained(const Tensor& embeddings,
                                     const EmbeddingFromPretrainedOptions& options) {
  EBB_CHECK(embeddings.dim() == 2, "Embedding::from_pretrained: expected a table with two ",
            "dimensions, got ", embeddings.sizes());
  Embedding embedding(EmbeddingOptions(embeddings.size(0), embeddings.size(1))
                          ._weight(embeddings)
                          .padding_idx(options.padding_idx())
                          .max_norm(options.max_norm())
                          .norm_type(options.norm_type())
                          .scale_grad_by_freq(options.scale_grad_by_freq())
                          .sparse(options.sparse()));
  embedding->weight.set_requires_grad(!options.freeze());
  return embedding;
}

}  // namespace ebb::nn
