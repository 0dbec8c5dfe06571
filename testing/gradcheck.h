#pragma once

#include <functional>
#include <vector>

#include <ebb/autograd/tensor.h>

namespace ebb::testing {

/// A function of tensors: one or more in, one or more out.
using TensorFunction = std::function<std::vector<Tensor>(const std::vector<Tensor>&)>;

/// Steps and tolerances, for float64.
struct GradcheckOptions {
  double eps = 1e-6;  ///< step of the central difference
  double atol = 1e-5;
  double rtol = 1e-3;
};

/// Compares the gradients of `fn` at `inputs` with central differences, for every output and every
/// input that requires grad (these must be float64, and dense). It also checks that a gradient of
/// zero gives zero, that gradients have the sizes and dtype of their inputs, and that a second
/// backward gives the same. Returns true; throws an ebb::Error that names input, output, element
/// and both values otherwise. `fn` must give the same at each call, and not write its arguments.
EBB_API bool gradcheck(const TensorFunction& fn, const std::vector<Tensor>& inputs,
                       GradcheckOptions options = {});

/// Applies gradcheck to the gradient of `fn`: checks second derivatives. `grad_outputs`: gradients
/// for the differentiable outputs; made up if empty.
EBB_API bool gradgradcheck(const TensorFunction& fn, const std::vector<Tensor>& inputs,
                           GradcheckOptions options = {},
                           const std::vector<Tensor>& grad_outputs = {});

/// The same for a function that gives one tensor.
template <typename F>
requires std::is_convertible_v < std::invoke_result_t < F&, const std::vector<Tensor>
& >, Tensor >
         bool gradcheck(F fn, const std::vector<Tensor>& inputs, GradcheckOptions options = {}) {
  return gradcheck(TensorFunction([fn](const std::vector<Tensor>& in) mutable {
                     return std::vector<Tensor>{fn(in)};
                   }),
                   inputs, options);
}
template <typename F>
requires std::is_convertible_v < std::invoke_result_t < F&, const std::vector<Tensor>
& >, Tensor > bool gradgradcheck(F fn, const std::vector<Tensor>& inputs,
                                 GradcheckOptions options = {}) {
  return gradgradcheck(TensorFunction([fn](const std::vector<Tensor>& in) mutable {
                         return std::vector<Tensor>{fn(in)};
                       }),
                       inputs, options);
}

}  // namespace ebb::testing
