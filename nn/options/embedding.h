#pragma once

#include <cstdint>
#include <optional>

#include <ebb/autograd/tensor.h>
#include <ebb/nn/arg.h>

namespace ebb::nn {

/// Options of Embedding: a table of `num_embeddings` rows of `embedding_dim` numbers.
struct EmbeddingOptions {
  EmbeddingOptions(int64_t num_embeddings, int64_t embedding_dim)
      : num_embeddings_(num_embeddings), embedding_dim_(embedding_dim) {}

  EBB_ARG(int64_t, num_embeddings);
  EBB_ARG(int64_t, embedding_dim);
  /// A row that starts as zeros and gets no gradient; negative numbers count from the end.
  EBB_ARG(std::optional<int64_t>, padding_idx) = std::nullopt;
  /// Not implemented: rows of at most this norm.
  EBB_ARG(std::optional<double>, max_norm) = std::nullopt;
  EBB_ARG(double, norm_type) = 2.0;
  /// Whether gradients are divided by how often a row was used in the batch.
  EBB_ARG(bool, scale_grad_by_freq) = false;
  /// Not implemented: sparse gradients.
  EBB_ARG(bool, sparse) = false;
  /// The table, [num_embeddings, embedding_dim], instead of a random one.
  EBB_ARG(Tensor, _weight) = Tensor();
};

/// Options of Embedding::from_pretrained.
struct EmbeddingFromPretrainedOptions {
  /// Whether the table is not trained.
  EBB_ARG(bool, freeze) = true;
  EBB_ARG(std::optional<int64_t>, padding_idx) = std::nullopt;
  EBB_ARG(std::optional<double>, max_norm) = std::nullopt;
  EBB_ARG(double, norm_type) = 2.0;
  EBB_ARG(bool, scale_grad_by_freq) = false;
  EBB_ARG(bool, sparse) = false;
};

namespace functional {

/// Options of embedding as a function.
struct EmbeddingFuncOptions {
  EBB_ARG(std::optional<int64_t>, padding_idx) = std::nullopt;
  EBB_ARG(std::optional<double>, max_norm) = std::nullopt;
  EBB_ARG(double, norm_type) = 2.0;
  EBB_ARG(bool, scale_grad_by_freq) = false;
  EBB_ARG(bool, sparse) = false;
};

}  // namespace functional
}  // namespace ebb::nn
