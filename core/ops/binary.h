#pragma once

#include <optional>
#include <string_view>

#include <ebb/core/ops/elementwise.h>

// The elementwise ops that check or rearrange something before their kernel runs. Each takes where
// to write: nothing, for a new tensor, or the tensor that is changed in place.

namespace ebb::ops {

/// The result of an op: a new tensor, or `self` after it was written in place.
enum class Form : uint8_t { fresh, in_place };

/// The ops of the same name. `Form::in_place` writes to the first input, which must be a tensor.
EBB_API TensorBase add(Form form, const Argument& self, const Argument& other, const Scalar& alpha);
EBB_API TensorBase sub(Form form, const Argument& self, const Argument& other, const Scalar& alpha);
EBB_API TensorBase rsub(const Argument& self, const Argument& other, const Scalar& alpha);
/// `rounding_mode`: absent, "floor" or "trunc".
EBB_API TensorBase div(Form form, const Argument& self, const Argument& other,
                       std::optional<std::string_view> rounding_mode = {});
EBB_API TensorBase remainder(Form form, const Argument& self, const Argument& other);
EBB_API TensorBase fmod(Form form, const Argument& self, const Argument& other);
EBB_API TensorBase pow(Form form, const Argument& self, const Argument& exponent);
EBB_API TensorBase clamp(Form form, const TensorBase& self, const std::optional<Scalar>& min,
                         const std::optional<Scalar>& max);
EBB_API TensorBase where(const TensorBase& condition, const Argument& self, const Argument& other);
EBB_API TensorBase masked_fill(Form form, const TensorBase& self, const TensorBase& mask,
                               const Argument& value);
EBB_API TensorBase addcdiv(Form form, const TensorBase& self, const TensorBase& tensor1,
                           const TensorBase& tensor2, const Scalar& value);
EBB_API TensorBase lerp(Form form, const TensorBase& self, const TensorBase& end,
                        const Argument& weight);
EBB_API TensorBase neg(Form form, const TensorBase& self);
EBB_API TensorBase bitwise_not(Form form, const TensorBase& self);
/// bitwise_and, bitwise_or or bitwise_xor.
EBB_API TensorBase bitwise(ElementwiseOp op, Form form, const Argument& self,
                           const Argument& other);

/// An op without checks of its own.
EBB_API TensorBase elementwise(ElementwiseOp op, Form form, Arguments inputs,
                               const Scalar* parameters = nullptr);

}  // namespace ebb::ops
