#include <ebb/autograd/factories.h>
#include <ebb/core/cpu/convert.h>
#include <ebb/core/ops/copy.h>
#include <ebb/core/ops/factory.h>
#include <ebb/core/thread_state.h>

namespace ebb {

namespace detail {

TensorLiteral::TensorLiteral() : dtype_(get_default_dtype()), sizes_{0} {}

TensorLiteral::TensorLiteral(std::initializer_list<TensorLiteral> list) : TensorLiteral() {
  if (list.size() == 0) return;
  const OpName name("tensor");
  const TensorLiteral& first = *list.begin();
  for (const TensorLiteral& element : list) {
    EBB_CHECK(IntArrayRef(element.sizes_) == IntArrayRef(first.sizes_),
              "expected all nested lists to have the same sizes, got ", first.sizes_, " and ",
              element.sizes_);
    EBB_CHECK(element.dtype_ == first.dtype_, "expected all elements to be of one kind, got ",
              first.dtype_, " and ", element.dtype_);
    values_.insert(values_.end(), element.values_.begin(), element.values_.end());
  }
  dtype_ = first.dtype_;
  sizes_ = first.sizes_;
  sizes_.insert(0, static_cast<int64_t>(list.size()));
}

Tensor TensorLiteral::to_tensor(const TensorOptions& options) const {
  const ScalarType dtype = options.dtype_opt().value_or(dtype_);
  TensorBase result = ops::empty(sizes_, dtype, kCPU);
  dispatch(dtype, [&](auto zero) {
    using T = decltype(zero);
    auto* out = static_cast<cpu::Stored<T>*>(result.data_ptr());
    for (const Scalar& value : values_) *out++ = cpu::Stored<T>(value.to<T>());
  });
  if (!options.device().is_cpu()) result = ops::to(result, dtype, options.device());
  Tensor tensor(std::move(result));
  if (options.requires_grad()) tensor.requires_grad_();
  return tensor;
}

}  // namespace detail

Tensor tensor(const detail::TensorLiteral& values, const TensorOptions& options) {
  const OpName name("tensor");
  return values.to_tensor(options);
}

}  // namespace ebb
