#pragma once

#include <ebb/autograd/tensor.h>

// The second derivatives of activations, which the gradients of their backward ops need.

namespace ebb::autograd {

/// That of x Phi(x): phi(x) (2 - x^2).
Tensor gelu_curvature(const Tensor& x);
/// That of x / 2 (1 + tanh u) with u = k (x + c x^3).
Tensor gelu_tanh_curvature(const Tensor& x);
/// That of x sigmoid(x).
Tensor silu_curvature(const Tensor& x);
/// That of log(1 + e^(beta x)) / beta; 0 where beta x is above the threshold.
Tensor softplus_curvature(const Tensor& x, const Scalar& beta, const Scalar& threshold);
/// That of x tanh(log(1 + e^x)).
Tensor mish_curvature(const Tensor& x);
/// That of log(sigmoid(x)).
Tensor log_sigmoid_curvature(const Tensor& x);

}  // namespace ebb::autograd
