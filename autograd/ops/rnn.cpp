#include <ebb/core/ops/rnn.h>

#include <algorithm>

#include <ebb/autograd/autograd.h>
#include <ebb/autograd/grad_mode.h>
#include <ebb/autograd/ops/autocast_call.h>
#include <ebb/autograd/record.h>

// A layer is one node. Where its gradient is to be differentiated again, the layer runs once more,
// written out with public ops, and its gradients are taken through these.

namespace ebb {

using autograd::Backward;
using autograd::needs_recording;
using autograd::Recorder;
using autograd::SavedTensor;
using ops::RnnLayer;
using ops::RnnMode;

namespace {

constexpr size_t kWeights = RnnLayer::kWeights;
/// The inputs of the node: input, hx, cx, and then the weights.
constexpr size_t kFirstWeight = 3;

using Outputs = std::tuple<Tensor, Tensor, Tensor>;

/// One step of one direction, written out.
struct State {
  Tensor hidden;
  Tensor cell;
};

State composed_step(RnnMode mode, const Tensor& of_input, const Tensor& of_hidden,
                    const State& before) {
  const Tensor sum = mode == RnnMode::gru ? Tensor() : of_input + of_hidden;
  if (mode == RnnMode::tanh) return {sum.tanh(), {}};
  if (mode == RnnMode::relu) return {sum.relu(), {}};
  if (mode == RnnMode::lstm) {
    const auto gates = sum.chunk(4, 1);
    const Tensor cell = gates[1].sigmoid() * before.cell + gates[0].sigmoid() * gates[2].tanh();
    return {gates[3].sigmoid() * cell.tanh(), cell};
  }
  const auto x = of_input.chunk(3, 1);
  const auto h = of_hidden.chunk(3, 1);
  const Tensor n = (x[2] + (x[0] + h[0]).sigmoid() * h[2]).tanh();
  return {n + (x[1] + h[1]).sigmoid() * (before.hidden - n), {}};
}

/// The first `count` sequences of a state; those that a tensor lacks come from `start`.
Tensor first_of(const Tensor& state, const Tensor& start, int64_t count) {
  if (!state.defined()) return state;
  const int64_t there = state.size(0);
  if (there >= count) return state.narrow(0, 0, count);
  return cat({state, start.narrow(0, there, count - there)});
}

/// What a state becomes when the sequences of `step` have moved on.
Tensor advanced(const Tensor& step, const Tensor& state) {
  if (!step.defined() || step.size(0) >= state.size(0)) return step;
  return cat({step, state.narrow(0, step.size(0), state.size(0) - step.size(0))});
}

/// One direction; `start` has all sequences.
Outputs composed_direction(RnnMode mode, const Tensor& input, const State& start,
                           const Tensor* weights, IntArrayRef batch_sizes, bool reverse) {
  const Tensor of_input = linear(input, weights[0], weights[2]);
  std::vector<Tensor> outputs(batch_sizes.size());
  State state = start;
  int64_t row = reverse ? input.size(0) : 0;
  for (size_t i = 0; i < batch_sizes.size(); ++i) {
    const size_t t = reverse ? batch_sizes.size() - 1 - i : i;
    const int64_t size = batch_sizes[t];
    if (reverse) row -= size;
    const State before = {first_of(state.hidden, start.hidden, size),
                          first_of(state.cell, start.cell, size)};
    const State next = composed_step(mode, of_input.narrow(0, row, size),
                                     linear(before.hidden, weights[1], weights[3]), before);
    if (!reverse) row += size;
    outputs[t] = next.hidden;
    state = {advanced(next.hidden, state.hidden), advanced(next.cell, state.cell)};
  }
  return {cat(outputs), state.hidden, state.cell};
}

/// The layer, written out. `inputs`: as the node's.
Outputs composed_layer(RnnMode mode, const std::vector<Tensor>& inputs, IntArrayRef batch_sizes) {
  const size_t directions = (inputs.size() - kFirstWeight) / kWeights;
  std::vector<Tensor> outputs, hidden, cell;
  for (size_t d = 0; d < directions; ++d) {
    const Tensor* weights = inputs.data() + kFirstWeight + d * kWeights;
    const auto start = [&](const Tensor& state) {
      if (state.defined()) return state.select(0, static_cast<int64_t>(d));
      return inputs[0].new_zeros({batch_sizes[0], weights[1].size(1)});
    };
    const State first = {start(inputs[1]), mode == RnnMode::lstm ? start(inputs[2]) : Tensor()};
    auto [output, h, c] = composed_direction(mode, inputs[0], first, weights, batch_sizes, d == 1);
    outputs.push_back(std::move(output));
    hidden.push_back(std::move(h));
    if (c.defined()) cell.push_back(std::move(c));
  }
  return {cat(outputs, 1), stack(hidden), cell.empty() ? Tensor() : stack(cell)};
}

/// The gradients with a graph of their own.
void compose_backward(Backward& b, RnnMode mode, const std::vector<Tensor>& inputs,
                      IntArrayRef batch_sizes) {
  std::vector<Tensor> used = inputs;
  std::vector<Tensor> wanted;
  for (size_t i = 0; i < used.size(); ++i) {
    if (!b.needs(i)) continue;
    used[i] = used[i].view_as(used[i]);  // so that a tensor that is there twice has two gradients
    wanted.push_back(used[i]);
  }
  const auto [output, hidden, cell] = composed_layer(mode, used, batch_sizes);
  std::vector<Tensor> outputs, grads;
  for (const auto& [i, result] : {std::pair(0, output), std::pair(1, hidden), std::pair(2, cell)}) {
    if (!b.has_grad(static_cast<size_t>(i)) || !result.requires_grad()) continue;
    outputs.push_back(result);
    grads.push_back(b.grad(static_cast<size_t>(i)));
  }
  auto gradients = autograd::grad(outputs, wanted, grads, /*retain_graph=*/true,
                                  /*create_graph=*/true, /*allow_unused=*/true);
  size_t next = 0;
  for (size_t i = 0; i < used.size(); ++i) {
    if (b.needs(i)) b.set(i, std::move(gradients[next++]));
  }
}

/// What the node of a layer keeps beside its results.
struct Kept {
  RnnMode mode;
  std::vector<int64_t> batch_sizes;
  std::vector<SavedTensor> inputs;  // as the node's
  SavedTensor gates;
  SavedTensor cells;
  bool keeps_output;
};

void run_backward(Backward& b, const Kept& kept) {
  std::vector<Tensor> inputs;
  for (const SavedTensor& saved : kept.inputs) inputs.push_back(b.get(saved));
  if (GradMode::is_enabled()) {
    EBB_CHECK(inputs[0].defined(),
              "rnn_layer: the gradient of a layer whose w_ih was frozen cannot be differentiated "
              "again (create_graph), since the input was not kept: let w_ih require grad");
    return compose_backward(b, kept.mode, inputs, kept.batch_sizes);
  }
  RnnLayer layer{.mode = kept.mode,
                 .batch_sizes = kept.batch_sizes,
                 .input = inputs[0],
                 .hx = inputs[1],
                 .cx = {},
                 .weights = {}};
  ops::RnnWanted wanted{.input = b.needs(0), .hx = b.needs(1), .cx = b.needs(2), .weights = {}};
  layer.directions = (inputs.size() - kFirstWeight) / kWeights;
  for (size_t i = kFirstWeight; i < inputs.size(); ++i) {
    layer.weights[i - kFirstWeight] = inputs[i];
    wanted.weights[i - kFirstWeight] = b.needs(i);
  }
  ops::RnnResult result;
  if (kept.keeps_output) result.output = b.result(0);
  result.gates = b.get(kept.gates);
  result.cells = b.get(kept.cells);
  ops::RnnGradients gradients =
      ops::rnn_layer_backward(layer, result, b.grad(0), b.grad(1), b.grad(2), wanted);
  TensorBase* const of_inputs[] = {&gradients.input, &gradients.hx, &gradients.cx};
  for (size_t i = 0; i < inputs.size(); ++i) {
    TensorBase& gradient = i < kFirstWeight ? *of_inputs[i] : gradients.weights[i - kFirstWeight];
    if (gradient.defined()) b.set(i, Tensor(std::move(gradient)));
  }
}

void record(RnnMode mode, const std::vector<Tensor>& inputs, IntArrayRef batch_sizes,
            ops::RnnResult& result, Tensor& output, Tensor& hidden, Tensor& cell) {
  Recorder r("RnnLayerBackward0", TensorList(inputs));
  const auto any = [&](size_t weight) {
    for (size_t i = kFirstWeight + weight; i < inputs.size(); i += kWeights) {
      if (r.needs(i)) return true;
    }
    return false;
  };
  Kept kept{mode, batch_sizes.vec(), {}, {}, {}, any(1) || mode != RnnMode::lstm};
  for (size_t i = 0; i < inputs.size(); ++i) {
    kept.inputs.push_back(r.save_if(i > 0 || any(0), inputs[i]));
  }
  kept.gates = r.save(Tensor(std::move(result.gates)));
  kept.cells = r.save(Tensor(std::move(result.cells)));
  if (kept.keeps_output) r.keep_result(0);
  r.record({output, hidden, cell},
           [kept = std::move(kept)](Backward& b) { run_backward(b, kept); });
}

/// The layer that the arguments of the op describe.
RnnLayer layer_of(RnnMode mode, const std::vector<Tensor>& inputs, IntArrayRef batch_sizes) {
  RnnLayer layer{.mode = mode,
                 .batch_sizes = batch_sizes,
                 .input = inputs[0],
                 .hx = inputs[1],
                 .cx = inputs[2],
                 .weights = {}};
  const size_t count = inputs.size() - kFirstWeight;
  EBB_CHECK(count == kWeights || count == 2 * kWeights,
            "expected w_ih, w_hh, b_ih and b_hh of one or two directions, got ", count, " weights");
  layer.directions = count / kWeights;
  std::copy(inputs.begin() + kFirstWeight, inputs.end(), layer.weights.begin());
  ops::check_rnn_layer(layer);
  return layer;
}

}  // namespace

std::tuple<Tensor, Tensor, Tensor> rnn_layer(std::string_view mode, const Tensor& input,
                                             const std::optional<Tensor>& hx,
                                             const std::optional<Tensor>& cx, TensorList weights,
                                             IntArrayRef batch_sizes) {
  const auto weight = [&](size_t i) -> const Tensor& {
    return i < weights.size() ? weights[i] : autograd::or_undefined(std::nullopt);
  };
  if (const autograd::AutocastCall cast(
          autograd::autocast_of("rnn_layer"),
          {input, autograd::or_undefined(hx), autograd::or_undefined(cx), weight(0), weight(1),
           weight(2), weight(3), weight(4), weight(5), weight(6), weight(7)});
      cast) {
    std::vector<Tensor> converted;
    for (size_t i = 0; i < weights.size(); ++i) converted.push_back(cast[kFirstWeight + i]);
    return rnn_layer(mode, cast[0], cast.optional(1), cast.optional(2), converted, batch_sizes);
  }
  const OpName name("rnn_layer");
  const RnnMode kind = ops::rnn_mode(mode);
  std::vector<Tensor> inputs = {input, hx.value_or(Tensor()), cx.value_or(Tensor())};
  inputs.insert(inputs.end(), weights.begin(), weights.end());
  RnnLayer layer = layer_of(kind, inputs, batch_sizes);
  if (!input.is_contiguous()) layer.input = inputs[0] = input.contiguous();
  const bool is_recorded = needs_recording(TensorList(inputs));
  ops::RnnResult result = ops::rnn_layer(layer, is_recorded);
  Tensor output(std::move(result.output));
  Tensor hidden(std::move(result.hidden));
  Tensor cell(std::move(result.cell));
  if (is_recorded) record(kind, inputs, batch_sizes, result, output, hidden, cell);
  return {std::move(output), std::move(hidden), std::move(cell)};
}

}  // namespace ebb
