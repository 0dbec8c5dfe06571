#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include <ebb/nn/cloneable.h>
#include <ebb/nn/module_holder.h>
#include <ebb/nn/options/rnn.h>
#include <ebb/nn/utils/rnn.h>

// Recurrent networks. Input is [T, B, input_size] (batch_first: [B, T, input_size]), of one
// sequence [T, input_size], or a PackedSequence; output has D hidden_size in place of input_size, D
// being 1 or 2 (bidirectional). States are [num_layers D, B, hidden_size], of one sequence without
// B; left out they are zeros, which take no memory. Each direction of layer k has weight_ih_lk [G
// hidden_size, features], weight_hh_lk [G hidden_size, hidden_size], bias_ih_lk and bias_hh_lk [G
// hidden_size], those of the reverse direction with the suffix _reverse; G is 1 for RNN, 4 for
// LSTM, 3 for GRU. All start uniform in +-1 / sqrt(hidden_size). docs/recurrent.md says what they
// keep for backward.

namespace ebb::nn {

namespace detail {

/// Output, last hidden states and, of an LSTM, last cell states.
using RNNResult = std::tuple<Tensor, Tensor, Tensor>;

/// The layers of RNN, LSTM and GRU.
template <typename Derived>
class EBB_API RNNImplBase : public Cloneable<Derived> {
 public:
  /// Throws an Error for sizes that are not positive and for a dropout outside [0, 1].
  explicit RNNImplBase(const RNNOptionsBase& options);
  void reset() override;
  void reset_parameters();
  void pretty_print(std::ostream& stream) const override;
  /// Does nothing: the weights are used where they are. For LibTorch's programs.
  void flatten_parameters() {}
  /// The weights in the order of registration: layer by layer, direction by direction.
  [[nodiscard]] std::vector<Tensor> all_weights() const { return flat_weights_; }

  RNNOptionsBase options_base;

 protected:
  RNNResult run(const Tensor& input, const Tensor& hx, const Tensor& cx) const;
  std::tuple<utils::rnn::PackedSequence, Tensor, Tensor> run_packed(
      const utils::rnn::PackedSequence& input, const Tensor& hx, const Tensor& cx) const;

 private:
  std::vector<Tensor> flat_weights_;
};

}  // namespace detail

/// h' = tanh(W_ih x + b_ih + W_hh h + b_hh), or relu of it (Elman, 1990).
class EBB_API RNNImpl : public detail::RNNImplBase<RNNImpl> {
 public:
  static constexpr const char* kName = "RNN";
  RNNImpl(int64_t input_size, int64_t hidden_size) : RNNImpl(RNNOptions(input_size, hidden_size)) {}
  explicit RNNImpl(const RNNOptions& options);
  /// Output and the last hidden states. Throws an Error that states the sizes that fit.
  std::tuple<Tensor, Tensor> forward(const Tensor& input, Tensor hx = {});
  std::tuple<utils::rnn::PackedSequence, Tensor> forward_with_packed_input(
      const utils::rnn::PackedSequence& packed_input, Tensor hx = {});

  RNNOptions options;
};
EBB_MODULE(RNN);

/// c' = f c + i g, h' = o tanh(c'), where i, f, o are sigmoid and g tanh of W_ih x + b_ih + W_hh h
/// + b_hh, in the order i f g o (Hochreiter and Schmidhuber, 1997; Gers et al., 2000).
class EBB_API LSTMImpl : public detail::RNNImplBase<LSTMImpl> {
 public:
  static constexpr const char* kName = "LSTM";
  using State = std::tuple<Tensor, Tensor>;  ///< hidden states and cell states
  LSTMImpl(int64_t input_size, int64_t hidden_size)
      : LSTMImpl(LSTMOptions(input_size, hidden_size)) {}
  /// Throws NotImplementedError for proj_size.
  explicit LSTMImpl(const LSTMOptions& options);
  std::tuple<Tensor, State> forward(const Tensor& input, std::optional<State> hx_opt = {});
  std::tuple<utils::rnn::PackedSequence, State> forward_with_packed_input(
      const utils::rnn::PackedSequence& packed_input, std::optional<State> hx_opt = {});

  LSTMOptions options;
};
EBB_MODULE(LSTM);

/// h' = n + z (h - n) with r and z sigmoid of W_ih x + b_ih + W_hh h + b_hh, and n = tanh(W_in x +
/// b_in + r (W_hn h + b_hn)), in the order r z n (Cho et al., 2014).
class EBB_API GRUImpl : public detail::RNNImplBase<GRUImpl> {
 public:
  static constexpr const char* kName = "GRU";
  GRUImpl(int64_t input_size, int64_t hidden_size) : GRUImpl(GRUOptions(input_size, hidden_size)) {}
  explicit GRUImpl(const GRUOptions& options);
  std::tuple<Tensor, Tensor> forward(const Tensor& input, Tensor hx = {});
  std::tuple<utils::rnn::PackedSequence, Tensor> forward_with_packed_input(
      const utils::rnn::PackedSequence& packed_input, Tensor hx = {});

  GRUOptions options;
};
EBB_MODULE(GRU);

namespace detail {

/// One step of a layer: parameters weight_ih, weight_hh, bias_ih, bias_hh.
template <typename Derived>
class EBB_API RNNCellImplBase : public Cloneable<Derived> {
 public:
  explicit RNNCellImplBase(const RNNCellOptionsBase& options);
  void reset() override;
  void reset_parameters();
  void pretty_print(std::ostream& stream) const override;

  RNNCellOptionsBase options_base;
  Tensor weight_ih;
  Tensor weight_hh;
  Tensor bias_ih;  ///< undefined without `bias`
  Tensor bias_hh;

 protected:
  /// The next hidden state and, of an LSTM, cell state.
  std::tuple<Tensor, Tensor> step(const Tensor& input, const Tensor& hx, const Tensor& cx) const;
};

}  // namespace detail

/// One step of an RNN: input [B, input_size] and state [B, hidden_size], or both without B, to the
/// next state. A state that is left out is zeros.
class EBB_API RNNCellImpl : public detail::RNNCellImplBase<RNNCellImpl> {
 public:
  static constexpr const char* kName = "RNNCell";
  RNNCellImpl(int64_t input_size, int64_t hidden_size)
      : RNNCellImpl(RNNCellOptions(input_size, hidden_size)) {}
  explicit RNNCellImpl(const RNNCellOptions& options);
  Tensor forward(const Tensor& input, Tensor hx = {});

  RNNCellOptions options;
};
EBB_MODULE(RNNCell);

/// One step of an LSTM, to the next hidden and cell state.
class EBB_API LSTMCellImpl : public detail::RNNCellImplBase<LSTMCellImpl> {
 public:
  static constexpr const char* kName = "LSTMCell";
  using State = std::tuple<Tensor, Tensor>;
  LSTMCellImpl(int64_t input_size, int64_t hidden_size)
      : LSTMCellImpl(LSTMCellOptions(input_size, hidden_size)) {}
  explicit LSTMCellImpl(const LSTMCellOptions& options);
  State forward(const Tensor& input, std::optional<State> hx_opt = {});

  LSTMCellOptions options;
};
EBB_MODULE(LSTMCell);

/// One step of a GRU.
class EBB_API GRUCellImpl : public detail::RNNCellImplBase<GRUCellImpl> {
 public:
  static constexpr const char* kName = "GRUCell";
  GRUCellImpl(int64_t input_size, int64_t hidden_size)
      : GRUCellImpl(GRUCellOptions(input_size, hidden_size)) {}
  explicit GRUCellImpl(const GRUCellOptions& options);
  Tensor forward(const Tensor& input, Tensor hx = {});

  GRUCellOptions options;
};
EBB_MODULE(GRUCell);

}  // namespace ebb::nn
