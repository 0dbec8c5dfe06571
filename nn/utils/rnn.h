#pragma once

#include <cstdint>
#include <optional>
#include <tuple>
#include <utility>

#include <ebb/autograd/tensor.h>

// Sequences of different lengths in one tensor: padded, with a dimension as long as the longest, or
// packed, where a step that a sequence does not have takes no memory.

namespace ebb::nn::utils::rnn {

/// Where each element of a permutation (int64) goes back to; undefined for an undefined one.
[[nodiscard]] EBB_API Tensor invert_permutation(const Tensor& permutation);

/// A batch of sequences, the longest first: all first steps, then all second steps, and so on.
/// Sequences abc and x are the data axbc with batch sizes 2, 1, 1. Made by pack_padded_sequence and
/// pack_sequence; what a recurrent module gives for one has the same batch sizes.
class EBB_API PackedSequence {
 public:
  PackedSequence() = default;
  /// Throws an Error unless batch_sizes is on the CPU and the indices are on the device of `data`.
  explicit PackedSequence(Tensor data, Tensor batch_sizes, Tensor sorted_indices = {},
                          Tensor unsorted_indices = {});

  /// [sum of the lengths, ...], of any dtype on any device.
  [[nodiscard]] const Tensor& data() const { return data_; }
  /// How many sequences have each step: int64 on the CPU, [longest length].
  [[nodiscard]] const Tensor& batch_sizes() const { return batch_sizes_; }
  /// Which of the original sequences is first, second, ...; undefined if they came sorted.
  [[nodiscard]] const Tensor& sorted_indices() const { return sorted_indices_; }
  /// Where each of the original sequences is now; undefined if they came sorted.
  [[nodiscard]] const Tensor& unsorted_indices() const { return unsorted_indices_; }

  [[nodiscard]] PackedSequence pin_memory() const;
  /// With the data converted and moved, and the indices moved; this one if nothing changes.
  [[nodiscard]] PackedSequence to(TensorOptions options) const;
  [[nodiscard]] PackedSequence cuda() const { return to(TensorOptions(kCUDA)); }
  [[nodiscard]] PackedSequence cpu() const { return to(TensorOptions(kCPU)); }
  [[nodiscard]] bool is_cuda() const { return data_.is_cuda(); }
  [[nodiscard]] bool is_pinned() const { return data_.is_pinned(); }

 private:
  Tensor data_;
  Tensor batch_sizes_;
  Tensor sorted_indices_;
  Tensor unsorted_indices_;
};

/// Packs input [T, B, ...] (batch_first: [B, T, ...]) whose sequence b has lengths[b] steps, the
/// rest being padding. `lengths`: int64 [B], decreasing unless enforce_sorted is off. The data is
/// the only copy; its gradient keeps eight bytes a row. Throws an Error for lengths that are not
/// positive, above T, or not sorted.
[[nodiscard]] EBB_API PackedSequence pack_padded_sequence(const Tensor& input,
                                                          const Tensor& lengths,
                                                          bool batch_first = false,
                                                          bool enforce_sorted = true);

/// The inverse: [T, B, ...] (batch_first: [B, T, ...]) with padding_value where a sequence has
/// ended, in the original order, and the lengths, int64 [B] on the CPU. T is total_length, or the
/// longest length, below which total_length is an Error.
[[nodiscard]] EBB_API std::tuple<Tensor, Tensor> pad_packed_sequence(
    const PackedSequence& sequence, bool batch_first = false, double padding_value = 0.0,
    std::optional<int64_t> total_length = std::nullopt);

/// Sequences [l, ...] side by side: [longest l, B, ...] (batch_first: [B, longest l, ...]), filled
/// up with padding_value.
[[nodiscard]] EBB_API Tensor pad_sequence(TensorList sequences, bool batch_first = false,
                                          double padding_value = 0);

/// Packs sequences [l, ...], the longest first unless enforce_sorted is off. They are never padded.
[[nodiscard]] EBB_API PackedSequence pack_sequence(TensorList sequences,
                                                   bool enforce_sorted = true);

}  // namespace ebb::nn::utils::rnn
