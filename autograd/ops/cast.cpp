#include <ebb/autograd/record.h>
#include <ebb/core/memory/registry.h>
#include <ebb/core/ops/copy.h>
#include <ebb/cuda/runtime/stream.h>

// Conversions and copies. Gradients pass unchanged, but go back to the device of the input: the
// engine converts them to its dtype and sums them over broadcast dimensions.

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

Tensor convert(const Tensor& self, ScalarType dtype, Device device, bool non_blocking = false,
               bool copy = false) {
  const bool same = self.scalar_type() == dtype && self.device() == device;
  if (same && !copy) return self;
  auto forward = [&] { return ops::to(self, dtype, device, non_blocking); };
  if (!is_floating_point(dtype)) return not_differentiable("to", forward);
  return differentiable("to", "ToCopyBackward0", {self}, forward, [&](Recorder&) {
    return [origin = self.device()](Backward& b) { b.set(0, b.grad().to(origin)); };
  });
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

Tensor Tensor::to(const TensorOptions& options, bool non_blocking, bool copy) const {
  EBB_CHECK(!options.requires_grad(),
            "to: the options must not ask for requires_grad; call .requires_grad_() on the result");
  const Device device =
      options.has_device() ? resolve(options.device(), this->device()) : this->device();
  const ScalarType dtype = options.dtype_opt().value_or(scalar_type());
  const Tensor result = convert(*this, dtype, device, non_blocking, copy);
  const bool row_major = options.memory_format_opt() == MemoryFormat::Contiguous;
  return row_major ? result.contiguous() : result;
}
Tensor Tensor::to(ScalarType dtype, bool non_blocking, bool copy) const {
  return convert(*this, dtype, device(), non_blocking, copy);
}
Tensor Tensor::to(Device device, ScalarType dtype, bool non_blocking, bool copy) const {
  return convert(*this, dtype, resolve(device, this->device()), non_blocking, copy);
}
Tensor Tensor::to(const Tensor& other, bool non_blocking, bool copy) const {
  return convert(*this, other.scalar_type(), other.device(), non_blocking, copy);
}
Tensor Tensor::cpu() const { return convert(*this, scalar_type(), kCPU); }
Tensor Tensor::cuda() const { return convert(*this, scalar_type(), resolve(kCUDA, device())); }

Tensor Tensor::pin_memory() const {
  if (is_pinned()) return *this;
  return differentiable(
      "pin_memory", "PinMemoryBackward0", {*this}, [&] { return ops::pin_memory(*this); },
      [&](Recorder&) { return identity_formula(); });
}

void Tensor::record_stream(const cuda::Stream& stream) const {
  const OpName name("record_stream");
  EBB_CHECK(device() == stream.device(), "the tensor is on ", device(), ", the stream on ",
            stream.device());
  memory::record_stream(storage().block(), stream.id());
}

Tensor& Tensor::copy_(const Tensor& src, bool non_blocking) const {
  const auto& self = const_cast<Tensor&>(*this);
  if (is_same(src)) return const_cast<Tensor&>(*this);
  if (!is_floating_point()) {  // nothing to record, also if src requires grad
    const OpName name("copy_");
    autograd::check_inplace(*this);
    ops::copy_(*this, src, non_blocking);
    return const_cast<Tensor&>(*this);
  }
  differentiable_(
      "copy_", "CopyBackwards", self, {self, src}, [&] { ops::copy_(self, src, non_blocking); },
      [&](Recorder&) {
        return [origin = src.device()](Backward& b) {
          if (b.needs(0)) b.set(0, zero(b.grad()));
          if (b.needs(1)) b.set(1, b.grad().to(origin));
        };
      });
  return const_cast<Tensor&>(*this);
}

Scalar Tensor::item() const {
  const OpName name("item");
  return ops::item(*this);
}

}  // namespace ebb
