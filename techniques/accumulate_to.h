#pragma once

#include <cstdint>
#include <vector>

#include <ebb/autograd/tensor.h>

namespace ebb {

/// A part of a batch, for one forward and backward of several before a step.
struct MicroBatch {
  int64_t begin;  ///< its first example in the batch
  int64_t size;   ///< how many examples it has
  int64_t batch;  ///< how many the batch has

  /// What the mean loss of the part is multiplied by, so that the gradients of all parts add up to
  /// that of the batch's mean. A loss that is a sum needs no factor.
  [[nodiscard]] double weight() const {
    return static_cast<double>(size) / static_cast<double>(batch);
  }
  /// Whether the step comes after it.
  [[nodiscard]] bool is_last() const { return begin + size == batch; }
  /// The part of a tensor whose first dimension is the batch: a view. Throws an Error if it has
  /// another size.
  [[nodiscard]] EBB_API Tensor of(const Tensor& examples) const;
};

/// Splits a batch into as few parts of at most `micro` examples as will do, whose sizes differ by
/// one at most. With a model whose examples do not see each other (no batch norm) the gradients are
/// those of the batch, up to the order of sums, for the memory of one part:
///
///   for (const auto& part : ebb::accumulate_to(256, fits)) {
///     (mse_loss(model->forward(part.of(x)), part.of(y)) * part.weight()).backward();
///   }
///   optimizer.step();
///
/// Throws an Error unless both numbers are positive.
[[nodiscard]] EBB_API std::vector<MicroBatch> accumulate_to(int64_t batch, int64_t micro);

}  // namespace ebb
