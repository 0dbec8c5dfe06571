#include <ebb/core/ops/index.h>

#include <optional>
#include <vector>

#include <ebb/core/error.h>
#include <ebb/core/memory/block.h>
#include <ebb/core/ops/elementwise.h>
#include <ebb/core/ops/factory.h>
#include <ebb/core/ops/fill.h>
#include <ebb/core/ops/index_kernels.h>
#include <ebb/core/ops/kernels.h>
#include <ebb/core/ops/reduce.h>
#include <ebb/core/ops/row_major.h>
#include <ebb/core/ops/same_device.h>

namespace ebb::ops {
namespace {

/// What takes part in an indexing loop: memory with a stride for each dimension of the loop.
struct Operand {
  void* data;
  ScalarType dtype;
  DimVector strides;
};

/// A 0-dim tensor takes part as a vector of one element.
DimVector sizes_of(const TensorBase& tensor) {
  return tensor.dim() == 0 ? DimVector{1} : DimVector(tensor.sizes());
}

Operand operand_of(const TensorBase& tensor) {
  return {tensor.data_ptr(), tensor.scalar_type(),
          tensor.dim() == 0 ? DimVector{1} : DimVector(tensor.strides())};
}

/// A vector of indices along `dim`, the same for all lines.
Operand along_dim(const TensorBase& index, size_t ndim, int64_t dim) {
  Operand operand{index.data_ptr(), index.scalar_type(), DimVector(ndim)};
  operand.strides[static_cast<size_t>(dim)] = index.dim() == 0 ? 1 : index.strides()[0];
  return operand;
}

/// Calls f(iterator over the lines, indexed dimension) for a loop over `sizes`, of which `dim` is
/// the dimension of the indices; `size` is that of what they index.
template <typename F>
void for_lines(IntArrayRef sizes, int64_t dim, int64_t size, const Operand& written,
               const Operand& index, const Operand& read, F&& f) {
  const auto d = static_cast<size_t>(dim);
  DimVector lines(sizes);
  lines[d] = 1;
  TensorIterator it(lines);
  const Operand* operands[] = {&written, &index, &read};
  int64_t strides[3];
  for (int i = 0; i < 3; ++i) {
    it.add(operands[i]->data, operands[i]->dtype, lines, operands[i]->strides);
    strides[i] = operands[i]->strides[d] * static_cast<int64_t>(element_size(operands[i]->dtype));
  }
  it.build();
  if (it.numel() == 0 || sizes[d] == 0) return;
  f(it, IndexedDim{sizes[d], size, strides[0], strides[1], strides[2]});
}

const IndexKernels& index_kernels(const TensorBase& tensor) {
  return *kernels(tensor.device()).index;
}

int64_t dim_size(const TensorBase& tensor, int64_t dim) {
  return tensor.dim() == 0 ? 1 : tensor.size(dim);
}

void check_in_range(const TensorBase& index, int64_t dim, int64_t size) {
  const auto find_out_of_range = index_kernels(index).find_out_of_range;
  if (index.numel() == 0 || find_out_of_range == nullptr) return;
  TensorIterator it(index.sizes());
  it.add(index);
  it.build();
  int64_t found = 0;
  const bool outside = find_out_of_range(it, size, &found);
  EBB_CHECK_AS(IndexError, !outside, "index ", found, " is out of range for dimension ", dim,
               " with size ", size);
}

void check_vector(const TensorBase& index) {
  EBB_CHECK(index.dim() <= 1, "the index must be a vector, got sizes ", index.sizes());
}

/// The checks of gather and scatter: `other` names the tensor whose sizes must hold the index's.
void check_index(const TensorBase& self, int64_t dim, const TensorBase& index) {
  check_same_device("self", self, "index", index);
  EBB_CHECK(index.scalar_type() == kLong, "the index must be of dtype Long, got ",
            index.scalar_type(), "; convert it with .to(kLong)");
  const DimVector self_sizes = sizes_of(self);
  const DimVector index_sizes = sizes_of(index);
  EBB_CHECK(self_sizes.size() == index_sizes.size(), "the index must have as many dimensions as ",
            "the tensor, got sizes ", index.sizes(), " and ", self.sizes());
  if (index.numel() == 0) return;
  for (size_t d = 0; d < self_sizes.size(); ++d) {
    EBB_CHECK(static_cast<int64_t>(d) == dim || index_sizes[d] <= self_sizes[d], "index of sizes ",
              index.sizes(), " does not fit a tensor of sizes ", self.sizes(),
              " apart from dimension ", dim);
  }
  check_in_range(index, dim, dim_size(self, dim));
}

void check_source(const TensorBase& self, const TensorBase& index, const TensorBase& src) {
  check_same_device("self", self, "src", src);
  EBB_CHECK(self.scalar_type() == src.scalar_type(), "the source must have the tensor's dtype ",
            self.scalar_type(), ", got ", src.scalar_type(), "; convert it with .to(dtype)");
  const DimVector src_sizes = sizes_of(src);
  const DimVector index_sizes = sizes_of(index);
  EBB_CHECK(src_sizes.size() == index_sizes.size(), "the index and the source must have as many ",
            "dimensions, got sizes ", index.sizes(), " and ", src.sizes());
  for (size_t d = 0; d < src_sizes.size(); ++d) {
    EBB_CHECK(index.numel() == 0 || index_sizes[d] <= src_sizes[d], "index of sizes ",
              index.sizes(), " does not fit a source of sizes ", src.sizes());
  }
}

void check_target(const TensorBase& self, const TensorBase& index, const TensorBase* src) {
  check_writable(self);
  check_no_partial_overlap(self, index);
  if (src != nullptr) check_no_partial_overlap(self, *src);
}

enum class Write { replace, add };

void write_source(Write write, const TensorBase& self, int64_t dim, const TensorBase& index,
                  const TensorBase& src) {
  for_lines(sizes_of(index), dim, dim_size(self, dim), operand_of(self), operand_of(index),
            operand_of(src), [&](const TensorIterator& it, const IndexedDim& along) {
              if (write == Write::add)
                index_kernels(self).scatter_add(it, along, 1);
              else
                index_kernels(self).scatter(it, along);
            });
}

void write_value(const TensorBase& self, int64_t dim, const TensorBase& index,
                 const Scalar& value) {
  // One element on the device, repeated.
  const TensorBase element = empty({}, self.scalar_type(), self.device());
  fill_fresh(element, value);
  const DimVector sizes = sizes_of(index);
  const Operand read{element.data_ptr(), element.scalar_type(), DimVector(sizes.size())};
  for_lines(sizes, dim, dim_size(self, dim), operand_of(self), operand_of(index), read,
            [&](const TensorIterator& it, const IndexedDim& along) {
              index_kernels(self).scatter(it, along);
            });
}

/// The index of index_add, checked, as int64.
TensorBase check_index_add(const TensorBase& self, int64_t dim, const TensorBase& index,
                           const TensorBase& source, const Scalar& alpha) {
  check_same_device("self", self, "index", index);
  check_same_device("self", self, "source", source);
  check_vector(index);
  EBB_CHECK(self.scalar_type() == source.scalar_type(), "the source must have the tensor's dtype ",
            self.scalar_type(), ", got ", source.scalar_type(), "; convert it with .to(dtype)");
  EBB_CHECK(is_floating_point(self.scalar_type()) || !alpha.is_floating_point(),
            "alpha must be an integer for a tensor of dtype ", self.scalar_type());
  DimVector expected = sizes_of(self);
  expected[static_cast<size_t>(dim)] = index.numel();
  EBB_CHECK(IntArrayRef(sizes_of(source)) == IntArrayRef(expected), "a source of sizes ",
            source.sizes(), " does not fit: a tensor of sizes ", self.sizes(), " and ",
            index.numel(), " indices along dimension ", dim, " need ", IntArrayRef(expected));
  return checked_indices(index, dim, dim_size(self, dim));
}

void write_index_add(const TensorBase& self, int64_t dim, const TensorBase& index,
                     const TensorBase& source, const Scalar& alpha) {
  const DimVector sizes = sizes_of(source);
  for_lines(sizes, dim, dim_size(self, dim), operand_of(self), along_dim(index, sizes.size(), dim),
            operand_of(source), [&](const TensorIterator& it, const IndexedDim& along) {
              index_kernels(self).scatter_add(it, along, alpha);
            });
}

/// Where the elements of an iterator's operand 0 that are set begin, in each piece of its
/// positions.
class Starts {
 public:
  Starts(const TensorIterator& it, Device device) : piece(device.is_cpu() ? 16384 : 2048) {
    if (it.numel() == 0) return;
    const auto size = static_cast<size_t>((it.numel() + piece - 1) / piece) + 1;
    if (device.is_cpu()) {
      on_host_.resize(size);
    } else {
      on_device_.emplace(size * sizeof(int64_t), device);
    }
    count = kernels(device).index->start_nonzero(it, piece, data());
  }
  [[nodiscard]] int64_t* data() { return on_device_ ? on_device_->as<int64_t>() : on_host_.data(); }

  const int64_t piece;
  int64_t count = 0;

 private:
  std::vector<int64_t> on_host_;
  std::optional<memory::Workspace> on_device_;
};

}  // namespace

TensorBase checked_indices(const TensorBase& index, int64_t dim, int64_t size) {
  EBB_CHECK(index.scalar_type() == kLong || index.scalar_type() == kInt,
            "indices must be of dtype Long or Int, got ", index.scalar_type());
  TensorBase indices = index.scalar_type() == kLong ? index : to(index, kLong, index.device());
  check_in_range(indices, dim, size);
  return indices;
}

TensorBase index_select(const TensorBase& self, int64_t dim, const TensorBase& index) {
  check_same_device("self", self, "index", index);
  dim = wrap_dim(dim, self.dim());
  check_vector(index);
  const TensorBase indices = checked_indices(index, dim, dim_size(self, dim));
  DimVector sizes = sizes_of(self);
  sizes[static_cast<size_t>(dim)] = index.numel();
  EBB_CHECK(self.dim() > 0 || index.numel() == 1, "a tensor without dimensions takes one index, ",
            "got ", index.numel());
  TensorBase result = empty(self.dim() == 0 ? IntArrayRef() : IntArrayRef(sizes),
                            self.scalar_type(), self.device());
  for_lines(sizes, dim, dim_size(self, dim), operand_of(result),
            along_dim(indices, sizes.size(), dim), operand_of(self),
            [&](const TensorIterator& it, const IndexedDim& along) {
              index_kernels(self).gather(it, along);
            });
  return result;
}

TensorBase gather(const TensorBase& self, int64_t dim, const TensorBase& index) {
  dim = wrap_dim(dim, self.dim());
  check_index(self, dim, index);
  TensorBase result = empty(index.sizes(), self.scalar_type(), self.device());
  for_lines(sizes_of(index), dim, dim_size(self, dim), operand_of(result), operand_of(index),
            operand_of(self), [&](const TensorIterator& it, const IndexedDim& along) {
              index_kernels(self).gather(it, along);
            });
  return result;
}

TensorBase scatter(const TensorBase& self, int64_t dim, const TensorBase& index,
                   const TensorBase& src) {
  dim = wrap_dim(dim, self.dim());
  check_index(self, dim, index);
  check_source(self, index, src);
  TensorBase result = clone(self);
  write_source(Write::replace, result, dim, index, src);
  return result;
}

void scatter_(const TensorBase& self, int64_t dim, const TensorBase& index, const TensorBase& src) {
  dim = wrap_dim(dim, self.dim());
  check_index(self, dim, index);
  check_source(self, index, src);
  check_target(self, index, &src);
  write_source(Write::replace, self, dim, index, src);
  self.impl()->bump_version();
}

TensorBase scatter(const TensorBase& self, int64_t dim, const TensorBase& index,
                   const Scalar& value) {
  dim = wrap_dim(dim, self.dim());
  check_index(self, dim, index);
  TensorBase result = clone(self);
  write_value(result, dim, index, value);
  return result;
}

void scatter_(const TensorBase& self, int64_t dim, const TensorBase& index, const Scalar& value) {
  dim = wrap_dim(dim, self.dim());
  check_index(self, dim, index);
  check_target(self, index, nullptr);
  write_value(self, dim, index, value);
  self.impl()->bump_version();
}

TensorBase scatter_add(const TensorBase& self, int64_t dim, const TensorBase& index,
                       const TensorBase& src) {
  dim = wrap_dim(dim, self.dim());
  check_index(self, dim, index);
  check_source(self, index, src);
  TensorBase result = clone(self);
  write_source(Write::add, result, dim, index, src);
  return result;
}

void scatter_add_(const TensorBase& self, int64_t dim, const TensorBase& index,
                  const TensorBase& src) {
  dim = wrap_dim(dim, self.dim());
  check_index(self, dim, index);
  check_source(self, index, src);
  check_target(self, index, &src);
  write_source(Write::add, self, dim, index, src);
  self.impl()->bump_version();
}

TensorBase index_add(const TensorBase& self, int64_t dim, const TensorBase& index,
                     const TensorBase& source, const Scalar& alpha) {
  dim = wrap_dim(dim, self.dim());
  const TensorBase indices = check_index_add(self, dim, index, source, alpha);
  TensorBase result = clone(self);
  write_index_add(result, dim, indices, source, alpha);
  return result;
}

void index_add_(const TensorBase& self, int64_t dim, const TensorBase& index,
                const TensorBase& source, const Scalar& alpha) {
  dim = wrap_dim(dim, self.dim());
  const TensorBase indices = check_index_add(self, dim, index, source, alpha);
  check_target(self, index, &source);
  write_index_add(self, dim, indices, source, alpha);
  self.impl()->bump_version();
}

TensorBase masked_select(const TensorBase& self, const TensorBase& mask) {
  EBB_CHECK(mask.scalar_type() == kBool, "the mask must be of dtype Bool, got ",
            mask.scalar_type());
  check_same_device("self", self, "mask", mask);
  TensorIterator it(broadcast_shapes(self.sizes(), mask.sizes()));
  it.add(mask);
  it.add(self);
  it.build(TensorIterator::Order::row_major);
  Starts starts(it, self.device());
  TensorBase result = empty(starts.count, self.scalar_type(), self.device());
  if (starts.count > 0) {
    index_kernels(self).masked_select(it, starts.piece, starts.data(), result.data_ptr());
  }
  return result;
}

TensorBase nonzero(const TensorBase& self) {
  TensorIterator it(self.sizes());
  it.add(self);
  it.build(TensorIterator::Order::row_major);
  Starts starts(it, self.device());
  TensorBase result = empty({starts.count, self.dim()}, kLong, self.device());
  if (starts.count > 0) {
    index_kernels(self).nonzero(it, starts.piece, starts.data(), self.sizes(),
                                result.data_ptr<int64_t>());
  }
  return result;
}

TensorBase one_hot(const TensorBase& self, int64_t num_classes) {
  EBB_CHECK(self.scalar_type() == kLong, "expected indices of dtype Long, got ",
            self.scalar_type());
  EBB_CHECK(num_classes >= -1, "num_classes must be positive, or -1 to take the largest index, ",
            "got ", num_classes);
  if (num_classes == -1) {
    EBB_CHECK(self.numel() > 0, "num_classes must be given for a tensor without elements");
    num_classes = item(amax(self)).toLong() + 1;
  }
  check_in_range(self, self.dim(), num_classes);
  DimVector sizes(self.sizes());
  sizes.push_back(num_classes);
  TensorBase result = empty(sizes, kLong, self.device());
  fill_fresh(result, 0);
  const TensorBase one = empty({}, kLong, self.device());
  fill_fresh(one, 1);
  DimVector loop(self.sizes());
  loop.push_back(1);
  Operand index = operand_of(self);
  if (self.dim() > 0) index.strides.push_back(0);
  for_lines(loop, self.dim(), num_classes, operand_of(result), index,
            {one.data_ptr(), kLong, DimVector(loop.size())},
            [&](const TensorIterator& it, const IndexedDim& along) {
              index_kernels(self).scatter(it, along);
            });
  return result;
}

}  // namespace ebb::ops
