#include <ebb/core/ops/tensor_iterator.h>

#include <cstring>
#include <utility>

namespace ebb {

TensorIterator::TensorIterator(IntArrayRef sizes) : ndim_(static_cast<int>(sizes.size())) {
  EBB_CHECK(sizes.size() <= kMaxDims, "tensors may have up to ", kMaxDims, " dimensions, got ",
            sizes.size());
  for (int dim = 0; dim < ndim_; ++dim) {
    sizes_[dim] = sizes[static_cast<size_t>(ndim_ - 1 - dim)];
    numel_ *= sizes_[dim];
  }
}

void TensorIterator::add(void* data, ScalarType dtype, IntArrayRef sizes, IntArrayRef strides) {
  const auto bytes = static_cast<int64_t>(element_size(dtype));
  const int own = static_cast<int>(sizes.size());
  EBB_CHECK(own <= ndim_ && noperands_ < kMaxOperands, "too many operands or dimensions: sizes ",
            sizes, " in an iteration over ", ndim_, " dimensions");
  int64_t* to = strides_[noperands_];
  for (int dim = 0; dim < ndim_; ++dim) {
    const auto from = static_cast<size_t>(own - 1 - dim);
    to[dim] = dim >= own || (sizes[from] == 1 && sizes_[dim] != 1) ? 0 : strides[from] * bytes;
  }
  operands_[noperands_++] = {static_cast<char*>(data), dtype, false};
}

void TensorIterator::add(const Scalar& value) {
  char* to = scalars_[noperands_];
  dispatch_compute(compute_type_, [&](auto zero) {
    const auto number = value.to<decltype(zero)>();
    std::memcpy(to, &number, sizeof(number));
  });
  for (int dim = 0; dim < ndim_; ++dim) strides_[noperands_][dim] = 0;
  operands_[noperands_++] = {to, compute_type_, true};
}

void TensorIterator::build(Order order) {
  drop_ones();
  if (order == Order::by_strides) order_by_strides();
  merge();
  if (ndim_ == 0) {  // one element: a run of one
    ndim_ = 1;
    sizes_[0] = 1;
    for (int i = 0; i < noperands_; ++i) {
      strides_[i][0] = static_cast<int64_t>(element_size(operands_[i].dtype));
    }
  }
}

void TensorIterator::drop_ones() {
  int kept = 0;
  for (int dim = 0; dim < ndim_; ++dim) {
    if (sizes_[dim] == 1) continue;
    sizes_[kept] = sizes_[dim];
    for (int i = 0; i < noperands_; ++i) strides_[i][kept] = strides_[i][dim];
    ++kept;
  }
  ndim_ = kept;
}

int TensorIterator::compare_strides(int dim0, int dim1) const {
  for (int i = 0; i < noperands_; ++i) {
    const int64_t a = std::abs(strides_[i][dim0]);
    const int64_t b = std::abs(strides_[i][dim1]);
    if (a == 0 || b == 0 || a == b) continue;
    return a < b ? -1 : 1;
  }
  return 0;
}

void TensorIterator::swap_dims(int dim0, int dim1) {
  std::swap(sizes_[dim0], sizes_[dim1]);
  for (int i = 0; i < noperands_; ++i) std::swap(strides_[i][dim0], strides_[i][dim1]);
}

// Insertion sort: there are few dimensions, mostly in order, and the comparison leaves some pairs
// open (so that std::sort may not be used).
void TensorIterator::order_by_strides() {
  for (int i = 1; i < ndim_; ++i) {
    int moving = i;
    for (int other = i - 1; other >= 0; --other) {
      const int order = compare_strides(other, moving);
      if (order < 0) break;
      if (order == 0) continue;
      swap_dims(other, moving);
      moving = other;
    }
  }
}

void TensorIterator::merge() {
  int last = 0;
  for (int dim = 1; dim < ndim_; ++dim) {
    bool one_run = true;
    for (int i = 0; i < noperands_; ++i) {
      one_run = one_run && strides_[i][dim] == strides_[i][last] * sizes_[last];
    }
    if (one_run) {
      sizes_[last] *= sizes_[dim];
      continue;
    }
    ++last;
    sizes_[last] = sizes_[dim];
    for (int i = 0; i < noperands_; ++i) strides_[i][last] = strides_[i][dim];
  }
  ndim_ = ndim_ == 0 ? 0 : last + 1;
}

}  // namespace ebb
