#include <ebb/nn/modules/rnn.h>

#include <cmath>

#include <ebb/autograd/factories.h>
#include <ebb/core/ops/rnn.h>
#include <ebb/nn/functional.h>
#include <ebb/nn/init.h>

namespace ebb::nn {

using utils::rnn::PackedSequence;

namespace detail {

namespace {

constexpr size_t kWeights = ops::RnnLayer::kWeights;

int64_t directions_of(const RNNOptionsBase& options) { return options.bidirectional() ? 2 : 1; }

/// Throws unless a state is [num_layers D, batch, hidden_size].
void check_state(const RNNOptionsBase& options, const char* name, const Tensor& state,
                 int64_t batch) {
  if (!state.defined()) return;
  const DimVector expected{options.num_layers() * directions_of(options), batch,
                           options.hidden_size()};
  EBB_CHECK(state.sizes() == IntArrayRef(expected), options.mode(), ": Expected ", name, " size ",
            expected, ", got ", state.sizes());
}

void check_features(const RNNOptionsBase& options, const Tensor& input) {
  EBB_CHECK(input.size(-1) == options.input_size(), options.mode(),
            ": input.size(-1) must be equal to input_size. Expected ", options.input_size(),
            ", got ", input.size(-1), " (sizes ", input.sizes(), ")");
}

/// The weights of a layer, four for each direction; where there are no biases they are undefined.
std::vector<Tensor> layer_weights(const RNNOptionsBase& options, const std::vector<Tensor>& flat,
                                  int64_t layer) {
  const size_t there = options.bias() ? kWeights : 2;
  const auto directions = static_cast<size_t>(directions_of(options));
  std::vector<Tensor> weights(directions * kWeights);
  for (size_t d = 0; d < directions; ++d) {
    const size_t first = (static_cast<size_t>(layer) * directions + d) * there;
    for (size_t i = 0; i < there; ++i) weights[d * kWeights + i] = flat[first + i];
  }
  return weights;
}

/// All layers over rows [N, features].
RNNResult run_layers(const RNNOptionsBase& options, const std::vector<Tensor>& flat, bool training,
                     Tensor rows, const std::vector<int64_t>& batch_sizes, const Tensor& hx,
                     const Tensor& cx) {
  const int64_t directions = directions_of(options);
  std::vector<Tensor> hidden, cell;
  for (int64_t layer = 0; layer < options.num_layers(); ++layer) {
    const auto of_layer = [&](const Tensor& state) {
      return state.defined() ? state.narrow(0, layer * directions, directions) : state;
    };
    auto [output, h, c] = rnn_layer(options.mode(), rows, of_layer(hx), of_layer(cx),
                                    layer_weights(options, flat, layer), batch_sizes);
    rows = std::move(output);
    hidden.push_back(std::move(h));
    cell.push_back(std::move(c));
    if (options.dropout() > 0 && training && layer + 1 < options.num_layers()) {
      rows = dropout(rows, options.dropout(), /*train=*/true);
    }
  }
  const auto joined = [](std::vector<Tensor>& states) {
    return states.size() == 1 || !states[0].defined() ? states[0] : cat(states);
  };
  return {std::move(rows), joined(hidden), joined(cell)};
}

}  // namespace

template <typename Derived>
RNNImplBase<Derived>::RNNImplBase(const RNNOptionsBase& options) : options_base(options) {
  EBB_CHECK(options.input_size() > 0 && options.hidden_size() > 0 && options.num_layers() > 0,
            Derived::kName, ": input_size, hidden_size and num_layers must be greater than zero, ",
            "got ", options.input_size(), ", ", options.hidden_size(), " and ",
            options.num_layers());
  EBB_CHECK(options.dropout() >= 0 && options.dropout() <= 1,
            "dropout should be a number in range [0, 1] representing the probability of an element "
            "being zeroed, got ",
            options.dropout());
  RNNImplBase::reset();
}

template <typename Derived>
void RNNImplBase<Derived>::reset() {
  const int64_t hidden = options_base.hidden_size();
  const int64_t directions = directions_of(options_base);
  const int64_t rows = ops::rnn_gates(ops::rnn_mode(options_base.mode())) * hidden;
  flat_weights_.clear();
  for (int64_t layer = 0; layer < options_base.num_layers(); ++layer) {
    const int64_t features = layer == 0 ? options_base.input_size() : hidden * directions;
    for (int64_t d = 0; d < directions; ++d) {
      const std::string suffix = "_l" + std::to_string(layer) + (d == 1 ? "_reverse" : "");
      const auto add = [&](const char* name, IntArrayRef sizes) {
        flat_weights_.push_back(this->register_parameter(name + suffix, empty(sizes)));
      };
      add("weight_ih", {rows, features});
      add("weight_hh", {rows, hidden});
      if (!options_base.bias()) continue;
      add("bias_ih", rows);
      add("bias_hh", rows);
    }
  }
  reset_parameters();
}

template <typename Derived>
void RNNImplBase<Derived>::reset_parameters() {
  const double bound = 1 / std::sqrt(static_cast<double>(options_base.hidden_size()));
  for (const Tensor& weight : flat_weights_) init::uniform_(weight, -bound, bound);
}

template <typename Derived>
void RNNImplBase<Derived>::pretty_print(std::ostream& stream) const {
  const auto yes = [](bool value) { return value ? "true" : "false"; };
  stream << "ebb::nn::" << Derived::kName << "(input_size=" << options_base.input_size()
         << ", hidden_size=" << options_base.hidden_size()
         << ", num_layers=" << options_base.num_layers() << ", bias=" << yes(options_base.bias())
         << ", batch_first=" << yes(options_base.batch_first())
         << ", dropout=" << options_base.dropout()
         << ", bidirectional=" << yes(options_base.bidirectional()) << ")";
}

template <typename Derived>
RNNResult RNNImplBase<Derived>::run(const Tensor& input, const Tensor& hx, const Tensor& cx) const {
  EBB_CHECK(input.dim() == 2 || input.dim() == 3, options_base.mode(),
            ": Expected input to be 2-D or 3-D but received sizes ", input.sizes());
  check_features(options_base, input);
  const bool one = input.dim() == 2;
  for (const Tensor& state : {hx, cx}) {
    EBB_CHECK(!state.defined() || state.dim() == input.dim(), "For ",
              one ? "unbatched 2-D" : "batched 3-D", " input, hx should also be ", input.dim(),
              "-D but got sizes ", state.sizes());
  }
  const bool batch_first = options_base.batch_first() && !one;
  const int64_t batch = one ? 1 : input.size(batch_first ? 0 : 1);
  const int64_t steps = input.size(batch_first ? 1 : 0);
  const auto batched = [&](const Tensor& s) { return one && s.defined() ? s.unsqueeze(1) : s; };
  const Tensor h = batched(hx);
  const Tensor c = batched(cx);
  check_state(options_base, cx.defined() ? "hidden[0]" : "hidden", h, batch);
  check_state(options_base, "hidden[1]", c, batch);
  auto [rows, last_h, last_c] = run_layers(
      options_base, flat_weights_, this->is_training(),
      (batch_first ? input.transpose(0, 1) : input).reshape({steps * batch, input.size(-1)}),
      std::vector<int64_t>(static_cast<size_t>(steps), batch), h, c);
  if (one) {
    return {rows, last_h.squeeze(1), last_c.defined() ? last_c.squeeze(1) : last_c};
  }
  const Tensor output = rows.view({steps, batch, rows.size(1)});
  return {batch_first ? output.transpose(0, 1) : output, std::move(last_h), std::move(last_c)};
}

template <typename Derived>
std::tuple<PackedSequence, Tensor, Tensor> RNNImplBase<Derived>::run_packed(
    const PackedSequence& input, const Tensor& hx, const Tensor& cx) const {
  EBB_CHECK(input.data().dim() == 2, options_base.mode(),
            ": Expected packed data to be 2-D but received sizes ", input.data().sizes());
  check_features(options_base, input.data());
  const Tensor sizes = input.batch_sizes().contiguous();
  const auto* data = sizes.const_data_ptr<int64_t>();
  const std::vector<int64_t> batch_sizes(data, data + sizes.numel());
  const int64_t batch = batch_sizes.empty() ? 0 : batch_sizes[0];
  check_state(options_base, cx.defined() ? "hidden[0]" : "hidden", hx, batch);
  check_state(options_base, "hidden[1]", cx, batch);
  const auto permuted = [](const Tensor& state, const Tensor& order) {
    return state.defined() && order.defined() ? state.index_select(1, order) : state;
  };
  auto [rows, last_h, last_c] =
      run_layers(options_base, flat_weights_, this->is_training(), input.data(), batch_sizes,
                 permuted(hx, input.sorted_indices()), permuted(cx, input.sorted_indices()));
  return {PackedSequence(std::move(rows), input.batch_sizes(), input.sorted_indices(),
                         input.unsorted_indices()),
          permuted(last_h, input.unsorted_indices()), permuted(last_c, input.unsorted_indices())};
}

template class RNNImplBase<RNNImpl>;
template class RNNImplBase<LSTMImpl>;
template class RNNImplBase<GRUImpl>;

namespace {

/// The options that all three have.
template <typename Options>
RNNOptionsBase base_options(std::string_view mode, const Options& options) {
  return RNNOptionsBase(mode, options.input_size(), options.hidden_size())
      .num_layers(options.num_layers())
      .bias(options.bias())
      .batch_first(options.batch_first())
      .dropout(options.dropout())
      .bidirectional(options.bidirectional());
}

template <typename Result>
auto without_cell(Result&& result) {
  return std::tuple(std::get<0>(std::move(result)), std::get<1>(std::move(result)));
}
template <typename Result>
auto with_state(Result&& result) {
  return std::tuple(
      std::get<0>(std::move(result)),
      LSTMImpl::State(std::get<1>(std::move(result)), std::get<2>(std::move(result))));
}

/// The two states of an LSTM, which come together.
LSTMImpl::State states_of(const std::optional<LSTMImpl::State>& state) {
  if (!state) return {};
  EBB_CHECK(std::get<0>(*state).defined() && std::get<1>(*state).defined(),
            "LSTM: the hidden and the cell state must both be given, or neither");
  return *state;
}

}  // namespace

}  // namespace detail

RNNImpl::RNNImpl(const RNNOptions& options)
    : RNNImplBase(detail::base_options(
          std::holds_alternative<enumtype::kReLU>(options.nonlinearity()) ? "RNN_RELU" : "RNN_TANH",
          options)),
      options(options) {}

std::tuple<Tensor, Tensor> RNNImpl::forward(const Tensor& input, Tensor hx) {
  return detail::without_cell(run(input, hx, {}));
}

std::tuple<PackedSequence, Tensor> RNNImpl::forward_with_packed_input(
    const PackedSequence& packed_input, Tensor hx) {
  return detail::without_cell(run_packed(packed_input, hx, {}));
}

LSTMImpl::LSTMImpl(const LSTMOptions& options)
    : RNNImplBase(detail::base_options("LSTM", options)), options(options) {
  if (options.proj_size() == 0) return;
  ebb::detail::raise<NotImplementedError>(
      "LSTM: proj_size is not supported; put a Linear behind the LSTM");
}

std::tuple<Tensor, LSTMImpl::State> LSTMImpl::forward(const Tensor& input,
                                                      std::optional<State> hx_opt) {
  const auto [hx, cx] = detail::states_of(hx_opt);
  return detail::with_state(run(input, hx, cx));
}

std::tuple<PackedSequence, LSTMImpl::State> LSTMImpl::forward_with_packed_input(
    const PackedSequence& packed_input, std::optional<State> hx_opt) {
  const auto [hx, cx] = detail::states_of(hx_opt);
  return detail::with_state(run_packed(packed_input, hx, cx));
}

GRUImpl::GRUImpl(const GRUOptions& options)
    : RNNImplBase(detail::base_options("GRU", options)), options(options) {}

std::tuple<Tensor, Tensor> GRUImpl::forward(const Tensor& input, Tensor hx) {
  return detail::without_cell(run(input, hx, {}));
}

std::tuple<PackedSequence, Tensor> GRUImpl::forward_with_packed_input(
    const PackedSequence& packed_input, Tensor hx) {
  return detail::without_cell(run_packed(packed_input, hx, {}));
}

}  // namespace ebb::nn
