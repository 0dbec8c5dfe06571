#pragma once

#include <utility>

#include <ebb/autograd/autograd_meta.h>
#include <ebb/autograd/record.h>

namespace ebb::autograd {

/// Notes that `view` shows the memory of `self` (or of its base). Results of ops under no-grad and
/// of tensors that do not require grad are views too: a later write may bring a history.
EBB_API void mark_view(const Tensor& view, const Tensor& self, bool multi_output);
/// The root base if `tensor` is a view, else null.
[[nodiscard]] EBB_API const Tensor* view_base(const TensorBase& tensor) noexcept;
/// Throws if writes to this view cannot be recorded. `indirect`: its base was written.
EBB_API void check_view_kind(const Tensor& view, bool indirect);
/// The same memory and version counter in a new tensor without history.
[[nodiscard]] EBB_API Tensor alias(const TensorBase& tensor);

template <typename MakeFormula>
Tensor differentiable_view(const char* node_name, const Tensor& self, TensorBase result,
                           MakeFormula&& formula, bool multi_output) {
  Tensor view(std::move(result));
  mark_view(view, self, multi_output);
  if (needs_recording({self})) {
    Recorder recorder(node_name, {self});
    recorder.record(view, formula(recorder));
  }
  return view;
}

}  // namespace ebb::autograd
