#include <ebb/core/ops/rnn.h>

#include <ebb/core/error.h>
#include <ebb/core/ops/binary.h>
#include <ebb/core/ops/copy.h>
#include <ebb/core/ops/factory.h>
#include <ebb/core/ops/fill.h>
#include <ebb/core/ops/rnn_steps.h>
#include <ebb/core/ops/row_major.h>
#include <ebb/core/ops/same_device.h>
#include <ebb/core/ops/shape.h>

namespace ebb::ops {

namespace {

using rnn::Extent;
using rnn::operand;
using rnn::own_columns;
using rnn::own_matrix;
using rnn::part_of;
using rnn::transpose_of;

constexpr const char* kWeightNames[] = {"w_ih", "w_hh", "b_ih", "b_hh"};

/// Throws unless a tensor of the layer has these sizes, and dtype and device of the input.
void check_part(const char* name, const TensorBase& tensor, IntArrayRef sizes,
                const TensorBase& input) {
  EBB_CHECK(tensor.sizes() == sizes, "expected ", name, " to have sizes ", sizes, ", got ",
            tensor.sizes(), " (the input has sizes ", input.sizes(), ")");
  EBB_CHECK(tensor.scalar_type() == input.scalar_type(), "expected ", name, " to be ",
            input.scalar_type(), " as the input, got ", tensor.scalar_type());
  check_same_device(name, tensor, "input", input);
}

void check_batch_sizes(IntArrayRef batch_sizes) {
  EBB_CHECK(!batch_sizes.empty(), "Expected sequence length to be larger than 0 in RNN");
  for (size_t t = 0; t < batch_sizes.size(); ++t) {
    EBB_CHECK(batch_sizes[t] >= 0 && (t == 0 || batch_sizes[t] <= batch_sizes[t - 1]),
              "batch_sizes must not be negative nor increase, got ", batch_sizes);
  }
}

/// Makes the sums what input and biases give.
void add_input(const rnn::LayerKernels& device, const Extent& e, const TensorBase& input,
               const TensorBase* weights, const TensorBase& sums) {
  const TensorBase& w_ih = weights[0];
  const TensorBase& b_ih = weights[2];
  const TensorBase& b_hh = weights[3];
  const TensorBase both = b_ih.defined() ? add(Form::fresh, b_ih, b_hh, 1) : TensorBase();
  for (const rnn::Part& part : e.parts()) {
    // The bias of m stays apart from that of n.
    const TensorBase& bias = part.row == part.column ? both : b_ih;
    device.product(e.rows, part.count, input.size(1), part_of(input),
                   transpose_of(part_of(w_ih, part.row)), part_of(sums, 0, part.column),
                   rnn::repeated(bias, part.row));
  }
  if (e.mode != RnnMode::gru) return;
  const TensorBase m = narrow(sums, 1, 2 * e.hidden, e.hidden);
  if (b_hh.defined()) {
    copy_(m, expand(narrow(b_hh, 0, 2 * e.hidden, e.hidden), m.sizes()));
  } else {
    fill_fresh(m, 0);
  }
}

/// Runs the steps of one direction. `sums`: [N, columns], which become the activated gates.
void run_direction(const RnnLayer& layer, const Extent& e, size_t direction,
                   const RnnResult& result, const TensorBase& sums) {
  const TensorBase* weights = layer.weights.data() + direction * RnnLayer::kWeights;
  const rnn::LayerKernels device(e, layer.input);
  add_input(device, e, layer.input, weights, sums);
  const TensorBase hidden = own_matrix(result.hidden, direction);
  const TensorBase cell = own_matrix(result.cell, direction);
  const TensorBase cells = own_matrix(result.cells, direction);
  const TensorBase output = own_columns(result.output, direction, e.hidden);
  const MatrixView w_hh = transpose_of(part_of(weights[1]));
  const auto steps = rnn::steps_of(layer.batch_sizes, direction == 1);
  for (const rnn::Step& step : steps) {
    const auto gate = [&](int64_t k) { return operand(sums, step.row, k * e.hidden); };
    // Without a state the first step adds nothing.
    if (layer.hx.defined() || &step != &steps.front()) {
      const MatrixView here = part_of(sums, step.row);
      device.product(step.size, e.hidden_columns(), e.hidden, part_of(hidden), w_hh, here, here);
    }
    const RnnOperand state = operand(hidden);
    const RnnOperand out = operand(output, step.row);
    if (e.is_plain()) {
      device.step(e.mode == RnnMode::tanh ? device.rules.tanh : device.rules.relu, step.size,
                  {out, state});
    } else if (e.mode == RnnMode::lstm) {
      device.step(device.rules.lstm, step.size,
                  {gate(0), gate(1), gate(2), gate(3), operand(cell), operand(cells, step.row),
                   state, out});
    } else {
      device.step(device.rules.gru, step.size, {gate(0), gate(1), gate(2), gate(3), state, out});
    }
  }
}

}  // namespace

RnnMode rnn_mode(std::string_view name) {
  constexpr std::string_view kNames[] = {"RNN_TANH", "RNN_RELU", "LSTM", "GRU"};
  for (uint8_t i = 0; i < std::size(kNames); ++i) {
    if (name == kNames[i]) return static_cast<RnnMode>(i);
  }
  detail::raise<Error>(detail::concat("expected mode RNN_TANH, RNN_RELU, LSTM or GRU, got ", name));
}

int64_t rnn_gates(RnnMode mode) { return mode == RnnMode::lstm ? 4 : mode == RnnMode::gru ? 3 : 1; }

void check_rnn_layer(const RnnLayer& layer) {
  const TensorBase& input = layer.input;
  EBB_CHECK(input.dim() == 2 && is_floating_point(input.scalar_type()),
            "expected a floating-point input [rows, features], got ", input.scalar_type(),
            " of sizes ", input.sizes());
  check_batch_sizes(layer.batch_sizes);
  EBB_CHECK(layer.weights[1].dim() == 2, "expected w_hh to have 2 dimensions, got sizes ",
            layer.weights[1].sizes());
  const Extent e(layer);
  EBB_CHECK(e.rows == input.size(0), "the batch sizes ", layer.batch_sizes, " are of ", e.rows,
            " rows, but the input has sizes ", input.sizes());
  const int64_t wide = e.hidden_columns();
  for (size_t i = 0; i < layer.directions * RnnLayer::kWeights; ++i) {
    const size_t kind = i % RnnLayer::kWeights;
    const TensorBase& weight = layer.weights[i];
    if (kind < 2) {
      check_part(kWeightNames[kind], weight, {wide, kind == 0 ? input.size(1) : e.hidden}, input);
      continue;
    }
    EBB_CHECK(weight.defined() == layer.weights[i ^ 1U].defined(),
              "b_ih and b_hh must be given together, or both be undefined");
    if (weight.defined()) check_part(kWeightNames[kind], weight, wide, input);
  }
  const DimVector state{e.directions, e.batch, e.hidden};
  if (layer.hx.defined()) check_part("hx", layer.hx, state, input);
  EBB_CHECK(layer.mode == RnnMode::lstm || !layer.cx.defined(), "cx of sizes ", layer.cx.sizes(),
            " is for LSTM alone");
  if (layer.cx.defined()) check_part("cx", layer.cx, state, input);
}

RnnResult rnn_layer(const RnnLayer& layer, bool for_backward) {
  const Extent e(layer);
  const TensorBase& like = layer.input;
  const auto make = [&](IntArrayRef sizes) {
    return empty(sizes, like.scalar_type(), like.device());
  };
  RnnResult result;
  result.output = make({e.rows, e.directions * e.hidden});
  result.hidden = rnn::fresh_state(layer.hx, e, like);
  if (e.mode == RnnMode::lstm) result.cell = rnn::fresh_state(layer.cx, e, like);
  TensorBase gates;
  if (!e.is_plain()) gates = make({for_backward ? e.directions : 1, e.rows, e.columns()});
  if (for_backward) {
    result.gates = gates;
    if (e.mode == RnnMode::lstm) result.cells = make({e.directions, e.rows, e.hidden});
  }
  for (size_t d = 0; d < layer.directions; ++d) {
    run_direction(layer, e, d, result,
                  e.is_plain() ? own_columns(result.output, d, e.hidden)
                               : own_matrix(gates, for_backward ? d : 0));
  }
  return result;
}

}  // namespace ebb::ops
