#pragma once

#include <array>
#include <string_view>

#include <ebb/core/export.h>
#include <ebb/core/tensor/tensor_base.h>

// A layer of a recurrent network over all steps of a batch of sequences. The products with the
// input are one for all steps, in forward and in backward; a step is one product with the hidden
// state and one kernel.

namespace ebb::ops {

enum class RnnMode : uint8_t { tanh, relu, lstm, gru };

/// The mode of LibTorch's names "RNN_TANH", "RNN_RELU", "LSTM" and "GRU"; throws for another.
EBB_API RnnMode rnn_mode(std::string_view name);

/// How many gates a mode has: rows of its weights for each element of the hidden state.
[[nodiscard]] EBB_API int64_t rnn_gates(RnnMode mode);

/// What a layer is given: D directions (1, or 2 with the reverse one), hidden size H, batch B, N
/// rows in all.
struct RnnLayer {
  static constexpr size_t kWeights = 4;  ///< of a direction: ih, hh, bias ih, bias hh

  RnnMode mode;
  IntArrayRef batch_sizes;  ///< how many sequences have each step; not increasing
  TensorBase input;         ///< [N, I]: the first step of all sequences, then the second, ...
  TensorBase hx;            ///< [D, B, H]; undefined: zeros
  TensorBase cx;            ///< of an LSTM
  /// Of each direction [gates H, I], [gates H, H], and two of [gates H] or undefined.
  std::array<TensorBase, 2 * kWeights> weights;
  size_t directions = 1;
};

/// What a layer gives, and what its gradient needs.
struct RnnResult {
  TensorBase output;  ///< [N, D H]
  TensorBase hidden;  ///< [D, B, H], after the last step of each sequence
  TensorBase cell;    ///< of an LSTM
  TensorBase gates;   ///< [D, N, 4 H] of LSTM and GRU: activated gates
  TensorBase cells;   ///< [D, N, H] of an LSTM: the cell state before each step
};

/// Throws an Error unless all sizes, dtypes (floating point) and devices fit.
EBB_API void check_rnn_layer(const RnnLayer& layer);

/// Runs a layer that was checked. Without `for_backward` gates and cells stay undefined, and need
/// memory for one direction at a time and none.
EBB_API RnnResult rnn_layer(const RnnLayer& layer, bool for_backward);

/// The gradients of what a layer was given, each undefined where it was not wanted.
struct RnnGradients {
  TensorBase input;
  TensorBase hx;
  TensorBase cx;
  std::array<TensorBase, 2 * RnnLayer::kWeights> weights;
};

/// Which of them are wanted.
struct RnnWanted {
  bool input = false;
  bool hx = false;
  bool cx = false;
  std::array<bool, 2 * RnnLayer::kWeights> weights{};
};

/// The gradients of a layer, given those of output, hidden and cell, which may be undefined: zero.
/// Of `layer` only what these gradients need must be there: w_hh; w_ih for the input; the input for
/// w_ih; hx and the output for w_hh, GRU and (the output) the plain modes.
EBB_API RnnGradients rnn_layer_backward(const RnnLayer& layer, const RnnResult& result,
                                        const TensorBase& grad_output,
                                        const TensorBase& grad_hidden, const TensorBase& grad_cell,
                                        const RnnWanted& wanted);

}  // namespace ebb::ops
