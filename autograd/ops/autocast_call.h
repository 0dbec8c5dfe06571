#pragma once

#include <optional>

#include <ebb/autograd/ops/autocast_table.h>
#include <ebb/autograd/record.h>

// How a public op casts its inputs. One that has a class in core/ops/ops.def begins with
//
//   if (const AutocastCall cast(autocast_of("mm"), {self, mat2}); cast) return mm(cast[0],
//   cast[1]);
//
// and runs again, with the casts, while this thread casts for no other op: whatever it is made of
// sees the dtypes of its class. With autocast off that is one branch. An op of the class `promote`
// whose forward promotes by itself needs no such line.

namespace ebb::autograd {

namespace detail {
/// The inputs of an op after casting.
struct AutocastFrame;
/// Null if autocast is off for the device of the inputs, or the op has no class there. Else this
/// thread casts no more until the frame is left.
EBB_API AutocastFrame* enter_autocast(AutocastRow row, TensorRefs inputs);
EBB_API void leave_autocast(AutocastFrame* frame) noexcept;
EBB_API const Tensor& autocast_input(const AutocastFrame* frame, size_t i) noexcept;
/// The dtype of a result whose caller gave none, after ops.def.
EBB_API std::optional<ScalarType> autocast_result(AutocastRow row, const Tensor& self);
}  // namespace detail

inline bool is_autocast_active() { return thread_state().autocast.active; }

/// The call of an op, with its inputs cast if it is true.
class AutocastCall {
 public:
  AutocastCall(AutocastRow row, TensorRefs inputs)
      : frame_(is_autocast_active() ? detail::enter_autocast(row, inputs) : nullptr) {}
  ~AutocastCall() {
    if (frame_ != nullptr) [[unlikely]] {
      detail::leave_autocast(frame_);
    }
  }
  AutocastCall(const AutocastCall&) = delete;
  AutocastCall& operator=(const AutocastCall&) = delete;

  explicit operator bool() const noexcept { return frame_ != nullptr; }
  /// Input i, which may be undefined.
  const Tensor& operator[](size_t i) const noexcept { return detail::autocast_input(frame_, i); }
  /// Input i, absent if undefined.
  [[nodiscard]] std::optional<Tensor> optional(size_t i) const {
    return (*this)[i].defined() ? std::optional<Tensor>((*this)[i]) : std::nullopt;
  }

 private:
  detail::AutocastFrame* frame_;
};

/// The one input of an op, cast or as it is, until the end of the expression.
class AutocastInput {
 public:
  AutocastInput(AutocastRow row, const Tensor& self) : self_(self), call_(row, {self}) {}
  operator const Tensor&() const noexcept { return call_ ? call_[0] : self_; }  // NOLINT

 private:
  const Tensor& self_;
  AutocastCall call_;
};

/// The dtype that the result of a reduction gets: the caller's choice, else that of autocast.
inline std::optional<ScalarType> autocast_dtype(AutocastRow row, const Tensor& self,
                                                std::optional<ScalarType> dtype) {
  if (!is_autocast_active() || dtype) [[likely]] {
    return dtype;
  }
  return detail::autocast_result(row, self);
}

/// An optional tensor among the inputs of a call.
EBB_API const Tensor& or_undefined(const std::optional<Tensor>& tensor) noexcept;

}  // namespace ebb::autograd
