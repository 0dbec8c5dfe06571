#include <ebb/testing/gradcheck.h>

#include <algorithm>
#include <cmath>

#include <ebb/autograd/autograd.h>
#include <ebb/autograd/grad_mode.h>
#include <ebb/autograd/ops/functions.h>
#include <ebb/core/ops/copy.h>
#include <ebb/core/ops/factory.h>
#include <ebb/core/ops/fill.h>

namespace ebb::testing {

namespace {

using Tensors = std::vector<Tensor>;
using Values = std::vector<double>;

Tensor zeros_like(const Tensor& tensor) {
  Tensor zeros(ops::empty(tensor.sizes(), tensor.scalar_type(), tensor.device()));
  ops::fill_fresh(zeros, 0);
  return zeros;
}

Values values_of(const Tensor& tensor) {
  const Tensor dense(ops::clone_contiguous(Tensor(ops::to(tensor, kDouble, kCPU))));
  const auto* data = dense.data_ptr<double>();
  return {data, data + dense.numel()};
}

bool is_differentiable(const Tensor& tensor) {
  return tensor.defined() && tensor.requires_grad() && tensor.is_floating_point();
}

/// The indices of the inputs that are checked.
std::vector<size_t> checked_inputs(const Tensors& inputs) {
  std::vector<size_t> checked;
  for (size_t i = 0; i < inputs.size(); ++i) {
    if (!is_differentiable(inputs[i])) continue;
    EBB_CHECK(inputs[i].scalar_type() == kDouble, "gradcheck: input ", i, " is ",
              to_string(inputs[i].scalar_type()), "; differences need float64");
    EBB_CHECK(!has_internal_overlap(inputs[i].sizes(), inputs[i].strides()), "gradcheck: input ", i,
              " has elements that share memory; clone it first");
    checked.push_back(i);
  }
  EBB_CHECK(!checked.empty(), "gradcheck: no input requires grad");
  return checked;
}

/// Element `i` (in row-major order) of a tensor, as a tensor on the same memory that counts its
/// versions apart.
TensorBase element(const Tensor& tensor, int64_t i) {
  int64_t offset = tensor.storage_offset();
  for (int64_t dim = tensor.dim(); dim-- > 0;) {
    offset += i % tensor.size(dim) * tensor.stride(dim);
    i /= tensor.size(dim);
  }
  return TensorBase(make_intrusive<TensorImpl>(tensor.storage(), kDouble, tensor.device(),
                                               IntArrayRef(), IntArrayRef(), offset));
}

/// The outputs with one element of one input moved, without a graph. The element is written behind
/// the back of the version counter, and put back.
Tensors outputs_at(const TensorFunction& fn, const Tensors& inputs, size_t input, int64_t i,
                   double step) {
  const TensorBase at = element(inputs[input], i);
  const double value = ops::item(at).toDouble();
  ops::fill_fresh(at, value + step);
  Tensors outputs = fn(inputs);
  for (Tensor& output : outputs) {
    if (output.defined()) output = Tensor(ops::clone(output));  // it may show the input's memory
  }
  ops::fill_fresh(at, value);
  return outputs;
}

std::string place(size_t output, int64_t element_out, size_t input, int64_t element_in) {
  return detail::concat("d output ", output, "[", element_out, "] / d input ", input, "[",
                        element_in, "]");
}

/// jacobian[i][o] = d output[o] / d input[i], of one input and one output.
using Jacobian = std::vector<Values>;

Jacobian numerical(const TensorFunction& fn, const Tensors& inputs, size_t input, size_t output,
                   double eps) {
  const NoGradGuard no_grad;
  Jacobian jacobian;
  for (int64_t i = 0; i < inputs[input].numel(); ++i) {
    const Values up = values_of(outputs_at(fn, inputs, input, i, eps)[output]);
    const Values down = values_of(outputs_at(fn, inputs, input, i, -eps)[output]);
    Values slopes(up.size());
    for (size_t o = 0; o < up.size(); ++o) slopes[o] = (up[o] - down[o]) / (2 * eps);
    jacobian.push_back(std::move(slopes));
  }
  return jacobian;
}

void check_kind(const Tensor& gradient, const Tensor& input, size_t index) {
  EBB_CHECK(!gradient.defined() || (gradient.sizes() == input.sizes() &&
                                    gradient.scalar_type() == input.scalar_type()),
            "gradcheck: the gradient of input ", index, " has sizes ", gradient.sizes(),
            " and dtype ", to_string(gradient.scalar_type()), ", the input sizes ", input.sizes(),
            " and dtype ", to_string(input.scalar_type()));
}

/// The gradients of the checked inputs for one gradient of one output.
std::vector<Values> backward_values(const Tensor& output, const Tensor& grad_output,
                                    const Tensors& wanted, const std::vector<size_t>& indices) {
  const Tensors gradients = autograd::grad({output}, wanted, {grad_output}, /*retain_graph=*/true,
                                           /*create_graph=*/false, /*allow_unused=*/true);
  std::vector<Values> values;
  for (size_t k = 0; k < wanted.size(); ++k) {
    check_kind(gradients[k], wanted[k], indices[k]);
    values.push_back(gradients[k].defined() ? values_of(gradients[k])
                                            : Values(static_cast<size_t>(wanted[k].numel()), 0.0));
  }
  return values;
}

void compare(const Jacobian& expected, const Jacobian& got, size_t input, size_t output,
             const GradcheckOptions& options) {
  for (size_t i = 0; i < expected.size(); ++i) {
    for (size_t o = 0; o < expected[i].size(); ++o) {
      const double error = std::abs(expected[i][o] - got[i][o]);
      EBB_CHECK(error <= options.atol + options.rtol * std::abs(expected[i][o]), "gradcheck: ",
                place(output, static_cast<int64_t>(o), input, static_cast<int64_t>(i)), " is ",
                expected[i][o], " by differences, but ", got[i][o], " by backward");
    }
  }
}

void check_output(const TensorFunction& fn, const Tensors& inputs, const Tensor& output,
                  size_t output_index, const std::vector<size_t>& checked,
                  const GradcheckOptions& options) {
  EBB_CHECK(output.scalar_type() == kDouble, "gradcheck: output ", output_index, " is ",
            to_string(output.scalar_type()), "; expected float64");
  Tensors wanted;
  for (const size_t i : checked) wanted.push_back(inputs[i]);

  std::vector<Jacobian> analytical;
  for (const Tensor& input : wanted) {
    analytical.emplace_back(static_cast<size_t>(input.numel()),
                            Values(static_cast<size_t>(output.numel())));
  }
  for (int64_t o = 0; o < output.numel(); ++o) {
    const Tensor grad_output = zeros_like(output);
    ops::fill_fresh(element(grad_output, o), 1);
    const auto gradients = backward_values(output, grad_output, wanted, checked);
    EBB_CHECK(gradients == backward_values(output, grad_output, wanted, checked) ||
                  std::any_of(gradients.begin(), gradients.end(),
                              [](const Values& v) {
                                return std::any_of(v.begin(), v.end(),
                                                   [](double x) { return std::isnan(x); });
                              }),
              "gradcheck: a second backward through output ", output_index,
              " gave other gradients than the first");
    for (size_t k = 0; k < wanted.size(); ++k) {
      for (size_t i = 0; i < gradients[k].size(); ++i) {
        analytical[k][i][static_cast<size_t>(o)] = gradients[k][i];
      }
    }
  }
  for (size_t k = 0; k < wanted.size(); ++k) {
    compare(numerical(fn, inputs, checked[k], output_index, options.eps), analytical[k], checked[k],
            output_index, options);
  }
  for (const Values& gradient : backward_values(output, zeros_like(output), wanted, checked)) {
    EBB_CHECK(std::all_of(gradient.begin(), gradient.end(), [](double x) { return x == 0; }),
              "gradcheck: a gradient of zero for output ", output_index,
              " does not give a gradient of zero");
  }
}

/// Numbers without pattern in [-1, 1], as gradients of outputs.
Tensor made_up(const Tensor& like, size_t seed) {
  Tensor tensor(ops::empty(like.sizes(), kDouble, kCPU));
  auto* data = tensor.data_ptr<double>();
  for (int64_t i = 0; i < tensor.numel(); ++i) {
    data[i] = std::sin(0.9 * static_cast<double>(i) + 0.4 + static_cast<double>(seed));
  }
  return Tensor(ops::to(tensor, kDouble, like.device()));
}

}  // namespace

bool gradcheck(const TensorFunction& fn, const Tensors& inputs, GradcheckOptions options) {
  const AutoGradMode recording(true);
  const std::vector<size_t> checked = checked_inputs(inputs);
  const Tensors outputs = fn(inputs);
  bool any = false;
  for (size_t o = 0; o < outputs.size(); ++o) {
    if (!is_differentiable(outputs[o])) continue;
    any = true;
    check_output(fn, inputs, outputs[o], o, checked, options);
  }
  EBB_CHECK(any, "gradcheck: no output requires grad");
  return true;
}

bool gradgradcheck(const TensorFunction& fn, const Tensors& inputs, GradcheckOptions options,
                   const Tensors& grad_outputs) {
  const AutoGradMode recording(true);
  const std::vector<size_t> checked = checked_inputs(inputs);
  const Tensors outputs = fn(inputs);
  // The function to check takes the inputs, then a gradient for each differentiable output.
  Tensors all = inputs;
  size_t given = 0;
  for (size_t o = 0; o < outputs.size(); ++o) {
    if (!is_differentiable(outputs[o])) continue;
    Tensor grad = grad_outputs.empty() ? made_up(outputs[o], o) : grad_outputs.at(given++).detach();
    all.push_back(grad.requires_grad_());
  }
  const size_t count = inputs.size();
  const TensorFunction gradient = [&fn, &checked, count](const Tensors& arguments) {
    const AutoGradMode inner_recording(
        true);  // differences are taken without, but this is a gradient
    const Tensors in(arguments.begin(), arguments.begin() + static_cast<int64_t>(count));
    const Tensors results = fn(in);
    Tensors differentiable, wanted;
    for (const Tensor& result : results) {
      if (is_differentiable(result)) differentiable.push_back(result);
    }
    for (const size_t i : checked) wanted.push_back(in[i]);
    const Tensors grads(arguments.begin() + static_cast<int64_t>(count), arguments.end());
    Tensors gradients = autograd::grad(differentiable, wanted, grads, /*retain_graph=*/true,
                                       /*create_graph=*/true, /*allow_unused=*/true);
    std::erase_if(gradients, [](const Tensor& g) { return !g.defined(); });
    return gradients;
  };
  return gradcheck(gradient, all, options);
}

}  // namespace ebb::testing
