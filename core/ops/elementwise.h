#pragma once

#include <initializer_list>

#include <ebb/core/export.h>
#include <ebb/core/ops/elementwise_ops.h>
#include <ebb/core/tensor/tensor_base.h>

// What the elementwise ops mean, whatever the device: promotion, broadcasting, the layout of the
// result, checks of what is written in place. An op that is only a functor needs no more than
// `elementwise(ElementwiseOp::Exp, {self})`.

namespace ebb::ops {

/// An input of an elementwise op: a tensor, or a number that gets no tensor of its own.
class Argument {
 public:
  Argument(const TensorBase& tensor) noexcept : tensor_(&tensor) {}  // NOLINT: implicit
  Argument(const Scalar& scalar) noexcept : scalar_(&scalar) {}      // NOLINT: implicit
  [[nodiscard]] bool is_tensor() const noexcept { return tensor_ != nullptr; }
  [[nodiscard]] const TensorBase& tensor() const noexcept { return *tensor_; }
  [[nodiscard]] const Scalar& scalar() const noexcept { return *scalar_; }

 private:
  const TensorBase* tensor_ = nullptr;
  const Scalar* scalar_ = nullptr;
};
using Arguments = std::initializer_list<Argument>;

/// The dtype that arithmetic on the arguments is done in, as torch.result_type: tensors with
/// dimensions decide, those without and then numbers only where theirs is a higher kind (bool <
/// integer < floating point); a floating-point number is of the default dtype.
EBB_API ScalarType result_type(Arguments arguments);

/// The result of an elementwise op. Its sizes are the broadcast ones, its dtype is that of
/// result_type and of the functor (core/ops/functors): the same, floating-point, or bool; its
/// strides are dense in the order of the inputs' strides. `parameters`: the numbers that the
/// functor takes. Throws where shapes do not broadcast or the functor does not compute in that
/// dtype.
EBB_API TensorBase elementwise(ElementwiseOp op, Arguments inputs,
                               const Scalar* parameters = nullptr);
/// The same, computed in `common` instead of result_type(inputs).
EBB_API TensorBase elementwise(ElementwiseOp op, ScalarType common, Arguments inputs,
                               const Scalar* parameters = nullptr);

/// The same written to `self`, which keeps dtype and sizes, and whose version rises. Throws an
/// Error if the result's dtype cannot be cast to self's, if broadcasting would enlarge self, if
/// elements of self overlap, or if self overlaps an input without being the same memory.
EBB_API void elementwise_(ElementwiseOp op, const TensorBase& self, Arguments inputs,
                          const Scalar* parameters = nullptr);
EBB_API void elementwise_(ElementwiseOp op, ScalarType common, const TensorBase& self,
                          Arguments inputs, const Scalar* parameters = nullptr);

/// Dense strides for a result of `sizes`, in the order of the strides of `like`, tensors that
/// broadcast to it: permuted inputs give a result that is permuted alike.
EBB_API DimVector dense_strides(IntArrayRef sizes, std::initializer_list<const TensorBase*> like);

/// Throws unless `self` may be written: its elements must not overlap.
EBB_API void check_writable(const TensorBase& self);
/// Throws if `written` and `read` share memory without being the same elements in the same order.
EBB_API void check_no_partial_overlap(const TensorBase& written, const TensorBase& read);

}  // namespace ebb::ops
