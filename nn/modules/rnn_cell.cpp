#include <cmath>

#include <ebb/autograd/factories.h>
#include <ebb/core/ops/rnn.h>
#include <ebb/nn/init.h>
#include <ebb/nn/modules/rnn.h>

namespace ebb::nn {

namespace detail {

template <typename Derived>
RNNCellImplBase<Derived>::RNNCellImplBase(const RNNCellOptionsBase& options)
    : options_base(options) {
  EBB_CHECK(options.input_size() > 0 && options.hidden_size() > 0, Derived::kName,
            ": input_size and hidden_size must be greater than zero, got ", options.input_size(),
            " and ", options.hidden_size());
  RNNCellImplBase::reset();
}

template <typename Derived>
void RNNCellImplBase<Derived>::reset() {
  const int64_t hidden = options_base.hidden_size();
  const int64_t rows = ops::rnn_gates(ops::rnn_mode(options_base.mode())) * hidden;
  const auto bias = [&](const char* name) {
    return options_base.bias() ? this->register_parameter(name, empty(rows))
                               : this->register_parameter(name, Tensor(), /*requires_grad=*/false);
  };
  weight_ih = this->register_parameter("weight_ih", empty({rows, options_base.input_size()}));
  weight_hh = this->register_parameter("weight_hh", empty({rows, hidden}));
  bias_ih = bias("bias_ih");
  bias_hh = bias("bias_hh");
  reset_parameters();
}

template <typename Derived>
void RNNCellImplBase<Derived>::reset_parameters() {
  const double bound = 1 / std::sqrt(static_cast<double>(options_base.hidden_size()));
  for (const Tensor& weight : this->parameters()) init::uniform_(weight, -bound, bound);
}

template <typename Derived>
void RNNCellImplBase<Derived>::pretty_print(std::ostream& stream) const {
  stream << "ebb::nn::" << Derived::kName << "(" << options_base.input_size() << ", "
         << options_base.hidden_size();
  if (!options_base.bias()) stream << ", bias=false";
  if (options_base.mode() == "RNN_RELU") stream << ", nonlinearity=kReLU";
  stream << ")";
}

template <typename Derived>
std::tuple<Tensor, Tensor> RNNCellImplBase<Derived>::step(const Tensor& input, const Tensor& hx,
                                                          const Tensor& cx) const {
  EBB_CHECK(input.dim() == 1 || input.dim() == 2, Derived::kName,
            ": Expected input to be 1-D or 2-D but received sizes ", input.sizes());
  EBB_CHECK(input.size(-1) == options_base.input_size(), "input has inconsistent input_size: got ",
            input.size(-1), " expected ", options_base.input_size());
  const bool one = input.dim() == 1;
  const int64_t batch = one ? 1 : input.size(0);
  const auto layer_state = [&](const Tensor& state) {
    if (!state.defined()) return state;
    EBB_CHECK(state.dim() == input.dim() && (one || state.size(0) == batch), "Input batch size ",
              batch, " (sizes ", input.sizes(), ") doesn't match hidden of sizes ", state.sizes());
    EBB_CHECK(state.size(-1) == options_base.hidden_size(),
              "hidden has inconsistent hidden_size: got ", state.size(-1), ", expected ",
              options_base.hidden_size());
    return state.reshape({1, batch, options_base.hidden_size()});
  };
  const auto [output, hidden, cell] =
      rnn_layer(options_base.mode(), one ? input.unsqueeze(0) : input, layer_state(hx),
                layer_state(cx), {weight_ih, weight_hh, bias_ih, bias_hh}, batch);
  // The node keeps the output anyway, as it does not the hidden state.
  return {one ? output.squeeze(0) : output, !cell.defined() ? cell
                                            : one           ? cell.view({-1})
                                                            : cell.squeeze(0)};
}

template class RNNCellImplBase<RNNCellImpl>;
template class RNNCellImplBase<LSTMCellImpl>;
template class RNNCellImplBase<GRUCellImpl>;

}  // namespace detail

RNNCellImpl::RNNCellImpl(const RNNCellOptions& options)
    : RNNCellImplBase(detail::RNNCellOptionsBase(
          std::holds_alternative<enumtype::kReLU>(options.nonlinearity()) ? "RNN_RELU" : "RNN_TANH",
          options.input_size(), options.hidden_size(), options.bias())),
      options(options) {}

Tensor RNNCellImpl::forward(const Tensor& input, Tensor hx) {
  return std::get<0>(step(input, hx, {}));
}

LSTMCellImpl::LSTMCellImpl(const LSTMCellOptions& options)
    : RNNCellImplBase(detail::RNNCellOptionsBase("LSTM", options.input_size(),
                                                 options.hidden_size(), options.bias())),
      options(options) {}

LSTMCellImpl::State LSTMCellImpl::forward(const Tensor& input, std::optional<State> hx_opt) {
  if (!hx_opt) return step(input, {}, {});
  return step(input, std::get<0>(*hx_opt), std::get<1>(*hx_opt));
}

GRUCellImpl::GRUCellImpl(const GRUCellOptions& options)
    : RNNCellImplBase(detail::RNNCellOptionsBase("GRU", options.input_size(), options.hidden_size(),
                                                 options.bias())),
      options(options) {}

Tensor GRUCellImpl::forward(const Tensor& input, Tensor hx) {
  return std::get<0>(step(input, hx, {}));
}

}  // namespace ebb::nn
