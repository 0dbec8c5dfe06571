#include "models.h"

#include <cmath>
#include <limits>

namespace tour {

namespace {

namespace nn = ebb::nn;
using ebb::Tensor;

/// A linear layer, or a frozen one with an update of low rank.
struct ProjectionImpl : nn::Module {
  ProjectionImpl(int64_t in, int64_t out, int64_t rank) {
    layer = nn::Linear(in, out);
    if (rank > 0) {
      adapted = register_module("adapted", nn::LoRALinear(layer, rank));
    } else {
      register_module("layer", layer);
    }
  }
  Tensor forward(const Tensor& x) { return adapted ? adapted(x) : layer(x); }

  nn::Linear layer{nullptr};
  nn::LoRALinear adapted{nullptr};
};
EBB_MODULE(Projection);

struct AttentionImpl : nn::Module {
  AttentionImpl(const Recipe& recipe, const Shapes& shapes)
      : heads(shapes.heads), is_tiled(recipe.tiled_attention), inplace(recipe.inplace) {
    const int64_t width = shapes.width;
    qkv = register_module("qkv", Projection(width, 3 * width, recipe.lora_rank));
    out = register_module("out", Projection(width, width, recipe.lora_rank));
    if (is_tiled) return;
    const auto all = ebb::ones({shapes.length, shapes.length});
    future = register_buffer("future", all.triu(1).to(ebb::kBool));
  }

  Tensor forward(const Tensor& x) {
    const auto n = x.size(0);
    const auto length = x.size(1);
    const auto width = x.size(2);
    const Tensor parts = qkv(x).view({n, length, 3, heads, width / heads}).permute({2, 0, 3, 1, 4});
    const auto result = attend(parts.select(0, 0), parts.select(0, 1), parts.select(0, 2));
    return out(result.transpose(1, 2).reshape({n, length, width}));
  }

  [[nodiscard]] Tensor attend(const Tensor& q, const Tensor& k, const Tensor& v) const {
    if (is_tiled) return ebb::scaled_dot_product_attention(q, k, v, {}, 0.0, /*is_causal=*/true);
    const double scale = 1 / std::sqrt(static_cast<double>(q.size(-1)));
    constexpr double none = -std::numeric_limits<double>::infinity();
    Tensor scores = ebb::matmul(q, k.transpose(-2, -1));
    if (inplace) {
      scores.mul_(scale);
      scores.masked_fill_(future, none);
    } else {
      scores = scores * scale;
      scores = scores.masked_fill(future, none);
    }
    scores = scores.softmax(-1);
    return ebb::matmul(scores, v);
  }

  int64_t heads;
  bool is_tiled;
  bool inplace;
  Projection qkv{nullptr};
  Projection out{nullptr};
  Tensor future;
};
EBB_MODULE(Attention);

struct BlockImpl : nn::Module {
  BlockImpl(const Recipe& recipe, const Shapes& shapes) : inplace(recipe.inplace) {
    const int64_t width = shapes.width;
    norm1 = register_module("norm1", nn::LayerNorm(nn::LayerNormOptions({width})));
    attention = register_module("attention", Attention(recipe, shapes));
    norm2 = register_module("norm2", nn::LayerNorm(nn::LayerNormOptions({width})));
    widen = register_module("widen", Projection(width, 4 * width, recipe.lora_rank));
    narrow = register_module("narrow", Projection(4 * width, width, recipe.lora_rank));
  }
  Tensor forward(const Tensor& x) {
    const Tensor y = add(attention(norm1(x)), x);
    return add(narrow(ebb::gelu(widen(norm2(y)))), y);
  }
  /// A sum into its first term, which no op keeps, or a new one.
  [[nodiscard]] Tensor add(Tensor branch, const Tensor& x) const {
    if (!inplace || branch.scalar_type() != x.scalar_type()) return branch + x;
    branch.add_(x);
    return branch;
  }

  bool inplace;
  nn::LayerNorm norm1{nullptr};
  Attention attention{nullptr};
  nn::LayerNorm norm2{nullptr};
  Projection widen{nullptr};
  Projection narrow{nullptr};
};
EBB_MODULE(Block);

struct EmbedImpl : nn::Module {
  EmbedImpl(nn::Embedding words_, int64_t length, int64_t width)
      : words(register_module("words", std::move(words_))),
        positions(register_module("positions", nn::Embedding(length, width))) {}
  Tensor forward(const Tensor& tokens) {
    return words(tokens) + positions->weight.narrow(0, 0, tokens.size(1));
  }

  nn::Embedding words;
  nn::Embedding positions;
};
EBB_MODULE(Embed);

}  // namespace

NetworkImpl::NetworkImpl(nn::Sequential body, nn::Linear head)
    : body_(register_module("body", std::move(body))),
      head_(register_module("head", std::move(head))) {}

NetworkImpl::NetworkImpl(nn::Sequential body, nn::Embedding table)
    : body_(register_module("body", std::move(body))), table_(std::move(table)) {}

Tensor NetworkImpl::loss(const Tensor& input, const Tensor& target, const Recipe& recipe) {
  const int64_t segments = recipe.segments == Recipe::kEachLayer
                               ? static_cast<int64_t>(body_->size())
                               : recipe.segments;
  const Tensor result = segments == 0 ? body_->forward(input)
                                      : ebb::checkpoint_sequential(body_, segments, input);
  const Tensor hidden = result.flatten(0, -2);
  const Tensor rows = target.flatten();
  const Tensor& weight = head_ ? head_->weight : table_->weight;
  std::optional<Tensor> bias;
  if (head_ && head_->bias.defined()) bias = head_->bias;
  if (recipe.chunked_loss) return ebb::linear_cross_entropy(hidden, weight, rows, bias);
  return ebb::cross_entropy_loss(ebb::linear(hidden, weight, bias), rows);
}

std::vector<Tensor> NetworkImpl::trained_parameters() const {
  std::vector<Tensor> result;
  for (const Tensor& parameter : parameters()) {
    if (parameter.requires_grad()) result.push_back(parameter);
  }
  return result;
}

Network make_convnet(const Recipe& recipe) {
  const nn::ReLU relu(nn::ReLUOptions(recipe.inplace));
  const nn::Sequential features(nn::Conv2d(nn::Conv2dOptions(1, 16, 3).padding(1)),
                                nn::BatchNorm2d(16), relu, nn::MaxPool2d(2),
                                nn::Conv2d(nn::Conv2dOptions(16, 32, 3).padding(1)),
                                nn::BatchNorm2d(32), relu, nn::MaxPool2d(2));
  if (recipe.frozen) {
    for (const Tensor& parameter : features->parameters()) parameter.requires_grad_(false);
  }
  nn::Sequential body;
  body->extend(*features);
  body->push_back(nn::Flatten());
  body->push_back(nn::Linear(32 * 7 * 7, 64));
  body->push_back(relu);
  return Network(body, nn::Linear(64, 10));
}

Network make_gpt(const Recipe& recipe, const Shapes& shapes) {
  const int64_t width = shapes.width;
  const nn::Embedding table(shapes.words, width);
  {
    // So that a table that is the last layer too gives logits of a common size.
    const ebb::NoGradGuard no_grad;
    table->weight.mul_(0.02);
  }
  nn::Sequential body(Embed(table, shapes.length, width));
  for (int64_t i = 0; i < shapes.layers; ++i) body->push_back(Block(recipe, shapes));
  body->push_back(nn::LayerNorm(nn::LayerNormOptions({width})));
  if (recipe.lora_rank > 0) {
    for (const auto& item : body->named_parameters()) {
      if (item.key().find("lora_") == std::string::npos) item.value().requires_grad_(false);
    }
  }
  if (recipe.tied) return Network(body, table);
  const nn::Linear head(nn::LinearOptions(width, shapes.words).bias(false));
  if (recipe.lora_rank > 0) head->weight.requires_grad_(false);
  return Network(body, head);
}

}  // namespace tour
