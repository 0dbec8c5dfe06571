#include <algorithm>
#include <vector>

#include <ebb/core/ops/factory.h>
#include <ebb/core/ops/fill.h>
#include <ebb/core/ops/join.h>
#include <ebb/core/ops/reduce.h>
#include <ebb/core/ops/rnn_steps.h>
#include <ebb/core/ops/row_major.h>
#include <ebb/core/ops/shape.h>

// The gradients of the sums of all steps are kept, so that those of weights and input are one
// product each.

namespace ebb::ops {

namespace {

using rnn::Extent;
using rnn::operand;
using rnn::own_columns;
using rnn::own_matrix;
using rnn::part_of;
using rnn::Step;
using rnn::transpose_of;

/// One direction of a layer, backward.
class DirectionBackward {
 public:
  DirectionBackward(const RnnLayer& layer, const Extent& extent, size_t direction,
                    const RnnResult& result)
      : layer_(layer),
        e_(extent),
        direction_(direction),
        weights_(layer.weights.data() + direction * RnnLayer::kWeights),
        device_(extent, weights_[1]),
        steps_(rnn::steps_of(layer.batch_sizes, direction == 1)),
        hx_(own_matrix(layer.hx, direction)),
        output_(own_columns(result.output, direction, extent.hidden)),
        gates_(own_matrix(result.gates, direction)),
        cells_(own_matrix(result.cells, direction)),
        grad_sums_(empty({extent.rows, extent.columns()}, weights_[1].scalar_type(),
                         weights_[1].device())) {}

  /// Fills the gradients of the sums. `grad_hidden` and `grad_cell`, [B, H], are those of the state
  /// after the last steps, and become those of the state before the first.
  void run(const TensorBase& grad_output, const TensorBase& grad_hidden,
           const TensorBase& grad_cell, bool state_wanted) const;
  /// Makes `grad_input` what this direction gives, or adds it.
  void add_input_gradient(const TensorBase& grad_input, bool add) const;
  [[nodiscard]] TensorBase w_ih_gradient() const;
  [[nodiscard]] TensorBase w_hh_gradient() const;
  /// The sums over all rows: of what the hidden state added to, or of what the input did.
  [[nodiscard]] TensorBase bias_gradient(bool of_hidden) const;

 private:
  /// Rows of grad_sums and those of the hidden states before, in the output or in hx.
  struct Run {
    int64_t row;
    int64_t before;
    int64_t count;
    bool in_hx;
  };
  [[nodiscard]] std::vector<Run> runs() const;
  void step_back(const Step& step, const TensorBase& grad_output, const TensorBase& grad_hidden,
                 const TensorBase& grad_cell) const;
  void gru_back(const Step& step, int64_t first, int64_t end, RnnOperand before,
                const TensorBase& grad_output, const TensorBase& grad_hidden) const;

  const RnnLayer& layer_;
  const Extent& e_;
  size_t direction_;
  const TensorBase* weights_;
  rnn::LayerKernels device_;
  std::vector<Step> steps_;
  TensorBase hx_;
  TensorBase output_;
  TensorBase gates_;
  TensorBase cells_;
  TensorBase grad_sums_;
};

/// Sequences [first, end) of a step of a GRU, `before` being their hidden states before.
void DirectionBackward::gru_back(const Step& step, int64_t first, int64_t end, RnnOperand before,
                                 const TensorBase& grad_output,
                                 const TensorBase& grad_hidden) const {
  const int64_t row = step.row + first;
  const auto gate = [&](int64_t k) { return operand(gates_, row, k * e_.hidden); };
  const auto grad = [&](int64_t k) { return operand(grad_sums_, row, k * e_.hidden); };
  device_.step(device_.rules.gru_backward, end - first,
               {gate(0), gate(1), gate(2), gate(3), before, operand(grad_output, row),
                operand(grad_hidden, first), grad(0), grad(1), grad(2), grad(3)});
}

void DirectionBackward::step_back(const Step& step, const TensorBase& grad_output,
                                  const TensorBase& grad_hidden,
                                  const TensorBase& grad_cell) const {
  if (e_.mode == RnnMode::gru) {
    if (step.known > 0) {
      gru_back(step, 0, step.known, operand(output_, step.before), grad_output, grad_hidden);
    }
    return gru_back(step, step.known, step.size, operand(hx_, step.known), grad_output,
                    grad_hidden);
  }
  const auto gate = [&](int64_t k) { return operand(gates_, step.row, k * e_.hidden); };
  const auto grad = [&](int64_t k) { return operand(grad_sums_, step.row, k * e_.hidden); };
  const RnnOperand of_output = operand(grad_output, step.row);
  if (e_.mode == RnnMode::lstm) {
    return device_.step(
        device_.rules.lstm_backward, step.size,
        {gate(0), gate(1), gate(2), gate(3), operand(cells_, step.row), of_output,
         operand(grad_hidden), operand(grad_cell), grad(0), grad(1), grad(2), grad(3)});
  }
  const RnnKernel kernel =
      e_.mode == RnnMode::tanh ? device_.rules.tanh_backward : device_.rules.relu_backward;
  device_.step(kernel, step.size,
               {operand(output_, step.row), of_output, operand(grad_hidden), grad(0)});
}

void DirectionBackward::run(const TensorBase& grad_output, const TensorBase& grad_hidden,
                            const TensorBase& grad_cell, bool state_wanted) const {
  const TensorBase of_output = own_columns(grad_output, direction_, e_.hidden);
  const MatrixView state = part_of(grad_hidden);
  for (size_t i = steps_.size(); i-- > 0;) {
    const Step& step = steps_[i];
    step_back(step, of_output, grad_hidden, grad_cell);
    if (i == 0 && !state_wanted) break;
    // What passes by the gates of a GRU is there already.
    device_.product(step.size, e_.hidden, e_.hidden_columns(), part_of(grad_sums_, step.row),
                    part_of(weights_[1]), state, e_.mode == RnnMode::gru ? state : MatrixView());
  }
}

void DirectionBackward::add_input_gradient(const TensorBase& grad_input, bool add) const {
  const MatrixView all = part_of(grad_input);
  for (const rnn::Part& part : e_.parts()) {
    device_.product(e_.rows, grad_input.size(1), part.count, part_of(grad_sums_, 0, part.column),
                    part_of(weights_[0], part.row), all, add ? all : MatrixView());
    add = true;
  }
}

TensorBase DirectionBackward::w_ih_gradient() const {
  const int64_t inputs = layer_.input.size(1);
  TensorBase grad =
      empty({e_.hidden_columns(), inputs}, grad_sums_.scalar_type(), grad_sums_.device());
  for (const rnn::Part& part : e_.parts()) {
    device_.product(part.count, inputs, e_.rows, transpose_of(part_of(grad_sums_, 0, part.column)),
                    part_of(layer_.input), part_of(grad, part.row));
  }
  return grad;
}

std::vector<DirectionBackward::Run> DirectionBackward::runs() const {
  std::vector<Run> runs;
  const auto append = [&](const Run& next) {
    if (next.count == 0) return;
    if (!runs.empty()) {
      Run& last = runs.back();
      if (last.in_hx == next.in_hx && last.row + last.count == next.row &&
          last.before + last.count == next.before) {
        last.count += next.count;
        return;
      }
    }
    runs.push_back(next);
  };
  const auto append_step = [&](const Step& step) {
    append({step.row, step.before, step.known, false});
    if (hx_.defined()) append({step.row + step.known, step.known, step.size - step.known, true});
  };
  // In the order of memory, so that runs of equal steps join.
  if (direction_ == 0) {
    std::for_each(steps_.begin(), steps_.end(), append_step);
  } else {
    std::for_each(steps_.rbegin(), steps_.rend(), append_step);
  }
  return runs;
}

TensorBase DirectionBackward::w_hh_gradient() const {
  const std::vector<Run> all = runs();
  const DimVector sizes{e_.hidden_columns(), e_.hidden};
  if (all.empty()) return rnn::zeros(sizes, grad_sums_);
  TensorBase grad = empty(sizes, grad_sums_.scalar_type(), grad_sums_.device());
  const MatrixView whole = part_of(grad);
  for (const Run& run : all) {
    device_.product(sizes[0], sizes[1], run.count, transpose_of(part_of(grad_sums_, run.row)),
                    part_of(run.in_hx ? hx_ : output_, run.before), whole,
                    &run == &all.front() ? MatrixView() : whole);
  }
  return grad;
}

TensorBase DirectionBackward::bias_gradient(bool of_hidden) const {
  const auto sums = [&](int64_t column, int64_t count) {
    return sum(narrow(grad_sums_, 1, column, count), 0);
  };
  if (e_.mode != RnnMode::gru || of_hidden) return sums(0, e_.hidden_columns());
  const TensorBase first = sums(0, 2 * e_.hidden);
  const TensorBase last = sums(3 * e_.hidden, e_.hidden);
  const TensorBase* const both[] = {&first, &last};
  return cat(both, 0);
}

/// The gradients of the weights of one direction.
void set_weights(const DirectionBackward& direction, RnnMode mode, const bool* wanted,
                 TensorBase* gradients) {
  if (wanted[0]) gradients[0] = direction.w_ih_gradient();
  if (wanted[1]) gradients[1] = direction.w_hh_gradient();
  if (wanted[2]) gradients[2] = direction.bias_gradient(false);
  if (!wanted[3]) return;
  const bool same = wanted[2] && mode != RnnMode::gru;
  gradients[3] = same ? gradients[2] : direction.bias_gradient(true);
}

}  // namespace

RnnGradients rnn_layer_backward(const RnnLayer& given, const RnnResult& result,
                                const TensorBase& grad_output, const TensorBase& grad_hidden,
                                const TensorBase& grad_cell, const RnnWanted& wanted) {
  RnnLayer layer = given;
  const auto dense = [](const TensorBase& tensor) {
    return tensor.defined() ? row_major(tensor) : tensor;
  };
  layer.input = dense(layer.input);
  layer.hx = dense(layer.hx);
  const TensorBase& like = layer.weights[1];
  const Extent e(layer);
  const TensorBase of_output = dense(grad_output);
  RnnGradients gradients;
  gradients.hx = rnn::fresh_state(grad_hidden, e, like);
  if (e.mode == RnnMode::lstm) gradients.cx = rnn::fresh_state(grad_cell, e, like);
  if (wanted.input) {
    gradients.input = empty({e.rows, layer.weights[0].size(1)}, like.scalar_type(), like.device());
  }
  for (size_t d = 0; d < layer.directions; ++d) {
    const DirectionBackward direction(layer, e, d, result);
    direction.run(of_output, own_matrix(gradients.hx, d), own_matrix(gradients.cx, d), wanted.hx);
    if (wanted.input) direction.add_input_gradient(gradients.input, d > 0);
    const size_t first = d * RnnLayer::kWeights;
    set_weights(direction, e.mode, wanted.weights.data() + first, gradients.weights.data() + first);
  }
  if (!wanted.hx) gradients.hx.reset();
  if (!wanted.cx) gradients.cx.reset();
  return gradients;
}

}  // namespace ebb::ops
