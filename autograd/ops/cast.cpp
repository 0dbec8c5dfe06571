#include <ebb/autograd/record.h>
#include <ebb/core/ops/copy.h>

// Conversions and copies. Gradients pass unchanged: the engine converts them back to the dtype and
// device of the input and sums them over broadcast dimensions.

namespace ebb {

using autograd::Backward;
using autograd::differentiable;
using autograd::differentiable_;
using autograd::not_differentiable;
using autograd::Recorder;

namespace {

auto identity_formula() {
  return [](Backward& b) { b.set(0, b.grad()); };
}

Tensor convert(const Tensor& self, ScalarType dtype, Device device, bool copy) {
  const bool same = self.scalar_type() == dtype && self.device() == device;
  if (same && !copy) return self;
  auto forward = [&] { return ops::to(self, dtype, device); };
  if (!is_floating_point(dtype)) return not_differentiable("to", forward);
  return differentiable("to", "ToCopyBackward0", {self}, forward,
                        [&](Recorder&) { return identity_formula(); });
}

/// The device that a program named: without an index the one it is on already, if of that type.
Device resolve(Device named, Device current) {
  return named.type() == current.type() && !named.has_index() ? current : named;
}

}  // namespace

Tensor clone(const Tensor& self) {
  return differentiable(
      "clone", "CloneBackward0", {self}, [&] { return ops::clone(self); },
      [&](Recorder&) { return identity_formula(); });
}

Tensor Tensor::to(const TensorOptions& options, bool, bool copy) const {
  EBB_CHECK(!options.requires_grad(),
            "to: the options must not ask for requires_grad; call .requires_grad_() on the result");
  const Device device =
      options.has_device() ? resolve(options.device(), this->device()) : this->device();
  const Tensor result = convert(*this, options.dtype_opt().value_or(scalar_type()), device, copy);
  const bool row_major = options.memory_format_opt() == MemoryFormat::Contiguous;
  return row_major ? result.contiguous() : result;
}
Tensor Tensor::to(ScalarType dtype, bool, bool copy) const {
  return convert(*this, dtype, device(), copy);
}
Tensor Tensor::to(Device device, ScalarType dtype, bool, bool copy) const {
  return convert(*this, dtype, resolve(device, this->device()), copy);
}
Tensor Tensor::to(const Tensor& other, bool, bool copy) const {
  return convert(*this, other.scalar_type(), other.device(), copy);
}
Tensor Tensor::cpu() const { return convert(*this, scalar_type(), kCPU, false); }
Tensor Tensor::cuda() const {
  return convert(*this, scalar_type(), resolve(kCUDA, device()), false);
}

Tensor& Tensor::copy_(const Tensor& src, bool) const {
  const auto& self = const_cast<Tensor&>(*this);
  if (is_same(src)) return const_cast<Tensor&>(*this);
  if (!is_floating_point()) {  // nothing to record, also if src requires grad
    const OpName name("copy_");
    autograd::check_inplace(*this);
    ops::copy_(*this, src);
    return const_cast<Tensor&>(*this);
  }
  differentiable_(
      "copy_", "CopyBackwards", self, {self, src}, [&] { ops::copy_(self, src); },
      [&](Recorder&) {
        return [](Backward& b) {
          if (b.needs(0)) b.set(0, zero(b.grad()));
          if (b.needs(1)) b.set(1, b.grad());
        };
      });
  return const_cast<Tensor&>(*this);
}

Scalar Tensor::item() const {
  const OpName name("item");
  return ops::item(*this);
}

}  // namespace ebb
