#include <ebb/core/ops/sort.h>

#include <algorithm>

#include <ebb/core/error.h>
#include <ebb/core/memory/block.h>
#include <ebb/core/ops/factory.h>
#include <ebb/core/ops/kernels.h>
#include <ebb/core/ops/row_major.h>
#include <ebb/core/ops/sort_kernels.h>

namespace ebb::ops {
namespace {

std::tuple<TensorBase, TensorBase> first_of(const TensorBase& self, int64_t k, int64_t dim,
                                            bool descending, bool with_values) {
  const TensorBase input = row_major(self);
  DimVector sizes(self.sizes());
  if (!sizes.empty()) sizes[static_cast<size_t>(dim)] = k;
  TensorBase values;
  if (with_values) values = empty(sizes, self.scalar_type(), self.device());
  TensorBase indices = empty(sizes, kLong, self.device());
  if (indices.numel() == 0) return {std::move(values), std::move(indices)};
  SortArguments arguments{.shape = line_shape(self.sizes(), dim),
                          .k = k,
                          .descending = descending,
                          .input = input.data_ptr(),
                          .dtype = self.scalar_type(),
                          .values = with_values ? values.data_ptr() : nullptr,
                          .indices = indices.data_ptr<int64_t>(),
                          .workspace = nullptr,
                          .workers = 1};
  if (!self.is_cpu()) {
    kernels(self.device()).sort->sort(arguments);
    return {std::move(values), std::move(indices)};
  }
  constexpr int64_t kMaxWorkers = 16;
  arguments.workers =
      std::clamp<int64_t>(self.numel() / 4096, 1, std::min(kMaxWorkers, arguments.shape.lines()));
  const memory::Workspace workspace(
      static_cast<size_t>(arguments.workers * arguments.shape.n * kSortPairBytes), self.device());
  arguments.workspace = workspace.data();
  kernels(self.device()).sort->sort(arguments);
  return {std::move(values), std::move(indices)};
}

int64_t line_length(const TensorBase& self, int64_t dim) {
  return self.dim() == 0 ? 1 : self.size(dim);
}

}  // namespace

std::tuple<TensorBase, TensorBase> sort(const TensorBase& self, int64_t dim, bool descending) {
  dim = wrap_dim(dim, self.dim());
  return first_of(self, line_length(self, dim), dim, descending, true);
}

TensorBase argsort(const TensorBase& self, int64_t dim, bool descending) {
  dim = wrap_dim(dim, self.dim());
  return std::get<1>(first_of(self, line_length(self, dim), dim, descending, false));
}

std::tuple<TensorBase, TensorBase> topk(const TensorBase& self, int64_t k, int64_t dim,
                                        bool largest) {
  dim = wrap_dim(dim, self.dim());
  const int64_t n = line_length(self, dim);
  EBB_CHECK(k >= 0 && k <= n, "k = ", k, " is out of range: dimension ", dim,
            " of a tensor of sizes ", self.sizes(), " has ", n, " elements");
  return first_of(self, k, dim, largest, true);
}

}  // namespace ebb::ops
