#pragma once

#include <vector>

#include <ebb/autograd/tensor.h>

namespace ebb::nn::utils {

/// Scales the gradients of `parameters` in place so that their joint norm of order `norm_type`
/// (infinity: the largest magnitude) is at most `max_norm`, and returns what the norm was; 0 if
/// none has a gradient. Gradients are not copied. Throws an Error for a norm that is infinite or
/// NaN if `error_if_nonfinite`, and changes nothing then.
EBB_API double clip_grad_norm_(const std::vector<Tensor>& parameters, double max_norm,
                               double norm_type = 2.0, bool error_if_nonfinite = false);
EBB_API double clip_grad_norm_(const Tensor& parameter, double max_norm, double norm_type = 2.0,
                               bool error_if_nonfinite = false);

/// Limits each element of the gradients of `parameters` to [-clip_value, clip_value], in place.
EBB_API void clip_grad_value_(const std::vector<Tensor>& parameters, double clip_value);
EBB_API void clip_grad_value_(const Tensor& parameter, double clip_value);

}  // namespace ebb::nn::utils
