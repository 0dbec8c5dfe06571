#pragma once

#include <cstdint>
#include <utility>

#include <ebb/nn/cloneable.h>
#include <ebb/nn/module_holder.h>
#include <ebb/nn/options/embedding.h>

namespace ebb::nn {

/// The rows of a table that the input, integers of any shape, names: [...] to [..., embedding_dim].
/// The weight [num_embeddings, embedding_dim] starts normal.
class EBB_API EmbeddingImpl : public Cloneable<EmbeddingImpl> {
 public:
  EmbeddingImpl(int64_t num_embeddings, int64_t embedding_dim)
      : EmbeddingImpl(EmbeddingOptions(num_embeddings, embedding_dim)) {}
  /// Throws an Error if padding_idx is no row or _weight has other sizes, and NotImplementedError
  /// for max_norm and sparse.
  explicit EmbeddingImpl(EmbeddingOptions options);
  void reset() override;
  void reset_parameters();
  void pretty_print(std::ostream& stream) const override;
  Tensor forward(const Tensor& indices);

  EmbeddingOptions options;
  Tensor weight;
};

/// The holder of an EmbeddingImpl.
class EBB_API Embedding : public ModuleHolder<EmbeddingImpl> {
 public:
  using ModuleHolder<EmbeddingImpl>::ModuleHolder;
  using Impl = EmbeddingImpl;

  /// A module over a table [rows, width] that exists, which by default is not trained.
  static Embedding from_pretrained(const Tensor& embeddings,
                                   const EmbeddingFromPretrainedOptions& options = {});
};

}  // namespace ebb::nn
