#include <ebb/autograd/tensor.h>
#include <ebb/core/thread_state.h>

namespace ebb {

namespace {

/// The rows that an integer tensor names, its sizes in place of the first dimension.
Tensor rows(const Tensor& self, const Tensor& index) {
  EBB_CHECK(self.dim() > 0, "cannot index a tensor without dimensions");
  DimVector sizes = index.sizes();
  for (int64_t i = 1; i < self.dim(); ++i) sizes.push_back(self.size(i));
  return self.index_select(0, index.reshape({-1}).to(kLong)).reshape(sizes);
}

}  // namespace

Tensor Tensor::operator[](int64_t index) const {
  EBB_CHECK_AS(IndexError, dim() > 0,
               "invalid index of a 0-dim tensor. Use `tensor.item<T>()` to convert a 0-dim tensor "
               "to a number");
  return select(0, index);
}

Tensor Tensor::operator[](const Tensor& index) const {
  const OpName name("index");
  EBB_CHECK_AS(IndexError, index.defined(), "can only index with tensors that are defined");
  if (index.scalar_type() == kBool) {
    EBB_CHECK_AS(IndexError, index.sizes() == sizes(), "a mask of sizes ", index.sizes(),
                 " does not fit a tensor of sizes ", sizes());
    return masked_select(index);
  }
  EBB_CHECK_AS(IndexError, is_integral(index.scalar_type(), false),
               "tensors used as indices must be of an integer dtype or bool, got ",
               to_string(index.scalar_type()));
  return index.dim() == 0 ? select(0, index.item<int64_t>()) : rows(*this, index);
}

}  // namespace ebb
