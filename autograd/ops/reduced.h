#pragma once

#include <cstdint>

#include <ebb/autograd/tensor.h>
#include <ebb/core/tensor/array_ref.h>

namespace ebb::autograd {

/// What the gradient of a reduction needs to know of its input.
struct Reduced {
  DimVector sizes;
  uint64_t mask = 0;  ///< the reduced dimensions
  bool keepdim = false;

  Reduced(const Tensor& self, OptionalIntArrayRef dim, bool keepdim)
      : sizes(self.sizes()),
        mask(dims_to_mask(dim ? *dim : IntArrayRef(), self.dim())),
        keepdim(keepdim) {}

  /// How many elements fall on one output.
  [[nodiscard]] int64_t count() const {
    int64_t count = 1;
    for (size_t d = 0; d < sizes.size(); ++d) count *= (mask >> d & 1) != 0 ? sizes[d] : 1;
    return count;
  }
  /// The reduced dimensions as a list; all of none is an empty one.
  [[nodiscard]] DimVector dims() const {
    DimVector dims;
    for (size_t d = 0; d < sizes.size(); ++d) {
      if ((mask >> d & 1) != 0) dims.push_back(static_cast<int64_t>(d));
    }
    return dims;
  }
  /// A tensor of the result's sizes with the reduced dimensions back in it, of size one.
  [[nodiscard]] Tensor restore(Tensor tensor) const {
    if (keepdim) return tensor;
    for (const int64_t dim : dims()) tensor = tensor.unsqueeze(dim);
    return tensor;
  }
  /// The same, repeated to the input's sizes.
  [[nodiscard]] Tensor expand(const Tensor& tensor) const { return restore(tensor).expand(sizes); }
};

/// The gradient of the input of an op that picks elements along `dim`: `grad` at `indices`, zero
/// elsewhere.
inline Tensor scatter_to(const Tensor& grad, int64_t dim, const Tensor& indices,
                         IntArrayRef sizes) {
  Tensor result = grad.new_zeros(sizes);
  result.scatter_(dim, indices, grad);
  return result;
}

}  // namespace ebb::autograd
