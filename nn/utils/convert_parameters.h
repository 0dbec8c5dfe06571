#pragma once

#include <vector>

#include <ebb/autograd/tensor.h>

namespace ebb::nn::utils {

/// All elements of the parameters, one after another, as one differentiable vector: a copy. Throws
/// an Error if the parameters lie on different devices.
[[nodiscard]] EBB_API Tensor parameters_to_vector(const std::vector<Tensor>& parameters);

/// Makes each parameter a view of its part of `vec`, as LibTorch does: they share its memory, which
/// lives as long as one of them does. Throws an Error, before anything is changed, if the
/// parameters lie on different devices or have more elements than `vec`.
EBB_API void vector_to_parameters(const Tensor& vec, const std::vector<Tensor>& parameters);

}  // namespace ebb::nn::utils
