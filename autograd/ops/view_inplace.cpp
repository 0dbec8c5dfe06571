#include <ebb/autograd/autograd_meta.h>
#include <ebb/autograd/record.h>
#include <ebb/core/ops/shape.h>

// View ops in place: they change the geometry of the handle at hand and leave the memory alone.

namespace ebb {

using autograd::Backward;
using autograd::Recorder;

namespace {

/// Gives self the geometry that `forward` states; the gradient is `gradient(grad)`.
template <typename Forward, typename Gradient>
const Tensor& view_in_place(const char* node_name, const Tensor& self, Forward&& forward,
                            Gradient gradient) {
  autograd::check_inplace(self);
  const ops::Geometry geometry = forward();
  std::optional<Recorder> recorder;
  if (autograd::needs_recording({self})) recorder.emplace(node_name, autograd::TensorRefs{self});
  self.impl()->set_geometry(geometry.sizes, geometry.strides, geometry.offset);
  self.impl()->bump_version();
  // A view too gets a history of its own: its base holds the same values as before.
  if (recorder) {
    recorder->record({self}, [gradient](Backward& b) { b.set(0, gradient(b.grad())); });
  }
  return self;
}

auto restore_sizes(const Tensor& self) {
  return [sizes = DimVector(self.sizes())](const Tensor& grad) { return grad.reshape(sizes); };
}

}  // namespace

const Tensor& squeeze_(const Tensor& self) {
  const OpName name("squeeze_");
  return view_in_place(
      "SqueezeBackward0", self, [&] { return ops::squeezed(self, ~uint64_t{0}); },
      restore_sizes(self));
}
const Tensor& squeeze_(const Tensor& self, int64_t dim) {
  const OpName name("squeeze_");
  return view_in_place(
      "SqueezeBackward1", self,
      [&] { return ops::squeezed(self, dims_to_mask({dim}, self.dim())); }, restore_sizes(self));
}
const Tensor& unsqueeze_(const Tensor& self, int64_t dim) {
  const OpName name("unsqueeze_");
  return view_in_place(
      "UnsqueezeBackward0", self, [&] { return ops::unsqueezed(self, dim); }, restore_sizes(self));
}
const Tensor& transpose_(const Tensor& self, int64_t dim0, int64_t dim1) {
  const OpName name("transpose_");
  return view_in_place(
      "TransposeBackward0", self, [&] { return ops::transposed(self, dim0, dim1); },
      [dim0, dim1](const Tensor& grad) { return grad.transpose(dim0, dim1); });
}
const Tensor& t_(const Tensor& self) {
  const OpName name("t_");
  return view_in_place(
      "TBackward0", self,
      [&] {
        EBB_CHECK(self.dim() <= 2, "expects a tensor with at most 2 dimensions, got sizes ",
                  self.sizes());
        return ops::transposed(self, 0, self.dim() < 2 ? 0 : 1);
      },
      [](const Tensor& grad) { return grad.t(); });
}

}  // namespace ebb
