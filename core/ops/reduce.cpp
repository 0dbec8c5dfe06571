#include <ebb/core/ops/reduce.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <limits>

#include <ebb/core/error.h>
#include <ebb/core/memory/block.h>
#include <ebb/core/ops/factory.h>
#include <ebb/core/ops/kernels.h>

namespace ebb::ops {
namespace {

bool is_reduced(uint64_t mask, size_t dim) { return (mask >> dim & 1) != 0; }

DimVector kept_sizes(IntArrayRef sizes, uint64_t mask, bool keepdim) {
  DimVector result;
  for (size_t d = 0; d < sizes.size(); ++d) {
    if (!is_reduced(mask, d))
      result.push_back(sizes[d]);
    else if (keepdim)
      result.push_back(1);
  }
  return result;
}

/// Adds a dimension inside those there are, as one with the innermost if both are one run.
void add_dim(ReduceDims& dims, int64_t size, int64_t stride) {
  if (size == 1) return;
  if (!dims.sizes.empty() && dims.strides.back() == size * stride) {
    dims.sizes.back() *= size;
    dims.strides.back() = stride;
    return;
  }
  dims.sizes.push_back(size);
  dims.strides.push_back(stride);
}

/// The kept dimension to reduce side by side, or -1: where a long run of neighbours in memory
/// belongs to one output, outputs are better reduced one by one.
int column_dim(const ReduceDims& kept, const ReduceDims& reduced) {
  if (kept.sizes.empty() || reduced.sizes.empty()) return -1;
  size_t best = 0;
  for (size_t d = 1; d < kept.sizes.size(); ++d) {
    if (std::abs(kept.strides[d]) < std::abs(kept.strides[best])) best = d;
  }
  const int64_t run = reduced.sizes.back();
  const bool run_is_inner = std::abs(reduced.strides.back()) <= std::abs(kept.strides[best]);
  constexpr int64_t kShortRun = 32;
  const bool by_rows = run_is_inner ? run >= kShortRun || kept.sizes[best] < run
                                    : kept.sizes[best] < 4 && run > kept.sizes[best];
  return by_rows ? -1 : static_cast<int>(best);
}

int64_t pieces_of(const ReducePlan& plan) {
  constexpr int64_t kManyOutputs = 512;
  constexpr int64_t kMaxPieces = 32;
  const int64_t independent = plan.columns == 1 ? plan.outputs * 16 : plan.outputs;
  if (independent >= kManyOutputs) return 1;
  const int64_t by_size = plan.outputs * plan.count / kGrain;
  return std::clamp<int64_t>(std::min(by_size, plan.count / 256), 1, kMaxPieces);
}

/// `ordered`: elements keep their order, so that their numbers are positions (argmax).
ReducePlan plan_reduction(const TensorBase& self, uint64_t mask, bool ordered) {
  ReducePlan plan;
  const IntArrayRef sizes = self.sizes();
  const IntArrayRef strides = self.strides();
  for (size_t d = 0; d < sizes.size(); ++d) {
    add_dim(is_reduced(mask, d) ? plan.reduced : plan.kept, sizes[d], strides[d]);
  }
  plan.count = plan.reduced.numel();
  plan.outputs = plan.kept.numel();
  if (plan.count == 0 || plan.outputs == 0) {
    plan.reduced = {};
    plan.kept = {};
    plan.kept.sizes.push_back(plan.outputs);
    plan.kept.strides.push_back(0);
    plan.kept_out_strides.push_back(1);
    return plan;
  }
  // The shortest stride innermost.
  for (size_t d = 0; !ordered && d + 1 < plan.reduced.sizes.size(); ++d) {
    if (std::abs(plan.reduced.strides[d]) >= std::abs(plan.reduced.strides.back())) continue;
    std::swap(plan.reduced.strides[d], plan.reduced.strides.back());
    std::swap(plan.reduced.sizes[d], plan.reduced.sizes.back());
  }
  plan.kept_out_strides = contiguous_strides(plan.kept.sizes);
  const int column = column_dim(plan.kept, plan.reduced);
  if (column >= 0) {
    const auto d = static_cast<size_t>(column);
    plan.columns = plan.kept.sizes[d];
    plan.column_stride = plan.kept.strides[d];
    plan.column_out_stride = plan.kept_out_strides[d];
    plan.kept.sizes.erase(d);
    plan.kept.strides.erase(d);
    plan.kept_out_strides.erase(d);
  }
  if (self.is_cpu()) plan.pieces = pieces_of(plan);
  return plan;
}

uint64_t mask_of_dim(const TensorBase& self, std::optional<int64_t> dim) {
  return dim ? dims_to_mask(*dim, self.dim(), false) : dims_to_mask({}, self.dim());
}

uint64_t mask_of(const TensorBase& self, OptionalIntArrayRef dim) {
  return dims_to_mask(dim ? *dim : IntArrayRef(), self.dim());
}

/// Throws if there is an output that no element falls on.
void check_not_empty(const TensorBase& self, uint64_t mask) {
  if (self.numel() > 0) return;
  for (size_t d = 0; d < self.sizes().size(); ++d) {
    EBB_CHECK_AS(IndexError, !is_reduced(mask, d) || self.sizes()[d] != 0, "dimension ", d,
                 " of a tensor of sizes ", self.sizes(),
                 " has no elements to reduce, and the result has no identity");
  }
}

void check_floating(const TensorBase& self, ScalarType dtype) {
  EBB_CHECK(is_floating_point(dtype), "expected a floating-point tensor, got dtype ", dtype,
            " and sizes ", self.sizes(), "; convert it with .to(kFloat) first");
}

std::tuple<TensorBase, TensorBase> with_indices(ReduceOp op, const TensorBase& self, int64_t dim,
                                                bool keepdim) {
  const uint64_t mask = mask_of_dim(self, dim);
  check_not_empty(self, mask);
  TensorBase indices;
  TensorBase values =
      reduce(op, self, mask, keepdim, self.scalar_type(), self.scalar_type(), 0, &indices);
  return {std::move(values), std::move(indices)};
}

TensorBase index_of(ReduceOp op, const TensorBase& self, std::optional<int64_t> dim, bool keepdim) {
  const uint64_t mask = mask_of_dim(self, dim);
  check_not_empty(self, mask);
  TensorBase indices;
  reduce(op, self, mask, keepdim, ScalarType::Undefined, self.scalar_type(), 0, &indices);
  return indices;
}

TensorBase truth(ReduceOp op, const TensorBase& self, std::optional<int64_t> dim, bool keepdim) {
  const ScalarType dtype = self.scalar_type() == kUInt8 ? kUInt8 : kBool;
  return reduce(op, self, mask_of_dim(self, dim), keepdim, dtype, self.scalar_type());
}

TensorBase extreme(ReduceOp op, const TensorBase& self, IntArrayRef dim, bool keepdim) {
  const uint64_t mask = dims_to_mask(dim, self.dim());
  check_not_empty(self, mask);
  return reduce(op, self, mask, keepdim, self.scalar_type(), self.scalar_type());
}

}  // namespace

TensorBase reduce(ReduceOp op, const TensorBase& self, uint64_t mask, bool keepdim,
                  ScalarType dtype, ScalarType compute, double parameter, TensorBase* indices) {
  const DimVector sizes = kept_sizes(self.sizes(), mask, keepdim);
  const bool has_values = dtype != ScalarType::Undefined;
  TensorBase result;
  if (has_values) result = empty(sizes, dtype, self.device());
  if (indices != nullptr) *indices = empty(sizes, kLong, self.device());
  const ReducePlan plan =
      plan_reduction(self, mask, op == ReduceOp::argmax || op == ReduceOp::argmin);
  if (plan.outputs == 0) return result;
  ReduceArguments arguments{.op = op,
                            .parameter = parameter,
                            .compute = compute_type(compute),
                            .input = self.data_ptr(),
                            .input_dtype = self.scalar_type(),
                            .output = has_values ? result.data_ptr() : nullptr,
                            .output_dtype = has_values ? dtype : self.scalar_type()};
  if (indices != nullptr) arguments.indices = indices->data_ptr<int64_t>();
  const auto& reduce_kernel = kernels(self.device()).reduce->reduce;
  if (plan.pieces == 1) {
    reduce_kernel(plan, arguments);
    return result;
  }
  const memory::Workspace workspace(
      static_cast<size_t>(plan.outputs * plan.pieces) * kReduceStateBytes, self.device());
  arguments.workspace = workspace.data();
  reduce_kernel(plan, arguments);
  return result;
}

TensorBase sum(const TensorBase& self, OptionalIntArrayRef dim, bool keepdim,
               std::optional<ScalarType> dtype) {
  const ScalarType type =
      dtype.value_or(is_integral(self.scalar_type(), true) ? kLong : self.scalar_type());
  return reduce(ReduceOp::sum, self, mask_of(self, dim), keepdim, type, type);
}

TensorBase mean(const TensorBase& self, OptionalIntArrayRef dim, bool keepdim,
                std::optional<ScalarType> dtype) {
  const ScalarType type = dtype.value_or(self.scalar_type());
  EBB_CHECK(is_floating_point(type), "the mean needs a floating-point dtype, got ", type,
            " for a tensor of sizes ", self.sizes(), "; pass dtype, for example kFloat");
  return reduce(ReduceOp::mean, self, mask_of(self, dim), keepdim, type, type);
}

TensorBase prod(const TensorBase& self, std::optional<int64_t> dim, bool keepdim,
                std::optional<ScalarType> dtype) {
  const ScalarType type =
      dtype.value_or(is_integral(self.scalar_type(), true) ? kLong : self.scalar_type());
  return reduce(ReduceOp::prod, self, mask_of_dim(self, dim), keepdim, type, type);
}

TensorBase amax(const TensorBase& self, IntArrayRef dim, bool keepdim) {
  return extreme(ReduceOp::max, self, dim, keepdim);
}

TensorBase amin(const TensorBase& self, IntArrayRef dim, bool keepdim) {
  return extreme(ReduceOp::min, self, dim, keepdim);
}

std::tuple<TensorBase, TensorBase> max(const TensorBase& self, int64_t dim, bool keepdim) {
  return with_indices(ReduceOp::argmax, self, dim, keepdim);
}

std::tuple<TensorBase, TensorBase> min(const TensorBase& self, int64_t dim, bool keepdim) {
  return with_indices(ReduceOp::argmin, self, dim, keepdim);
}

TensorBase argmax(const TensorBase& self, std::optional<int64_t> dim, bool keepdim) {
  return index_of(ReduceOp::argmax, self, dim, keepdim);
}

TensorBase argmin(const TensorBase& self, std::optional<int64_t> dim, bool keepdim) {
  return index_of(ReduceOp::argmin, self, dim, keepdim);
}

TensorBase all(const TensorBase& self, std::optional<int64_t> dim, bool keepdim) {
  return truth(ReduceOp::all, self, dim, keepdim);
}

TensorBase any(const TensorBase& self, std::optional<int64_t> dim, bool keepdim) {
  return truth(ReduceOp::any, self, dim, keepdim);
}

TensorBase var(const TensorBase& self, OptionalIntArrayRef dim, double correction, bool keepdim) {
  check_floating(self, self.scalar_type());
  return reduce(ReduceOp::var, self, mask_of(self, dim), keepdim, self.scalar_type(),
                self.scalar_type(), correction);
}

TensorBase std(const TensorBase& self, OptionalIntArrayRef dim, double correction, bool keepdim) {
  check_floating(self, self.scalar_type());
  return reduce(ReduceOp::std, self, mask_of(self, dim), keepdim, self.scalar_type(),
                self.scalar_type(), correction);
}

TensorBase norm(const TensorBase& self, double p, IntArrayRef dim, bool keepdim) {
  check_floating(self, self.scalar_type());
  const uint64_t mask = dims_to_mask(dim, self.dim());
  constexpr double inf = std::numeric_limits<double>::infinity();
  ReduceOp op = ReduceOp::norm_p;
  if (p == 0) op = ReduceOp::count_nonzero;
  if (p == 1) op = ReduceOp::sum_abs;
  if (p == 2) op = ReduceOp::norm2;
  if (p == inf) op = ReduceOp::max_abs;
  if (p == -inf) op = ReduceOp::min_abs;
  if (p < 0 || p == inf) check_not_empty(self, mask);
  EBB_CHECK(!std::isnan(p), "p must not be NaN");
  return reduce(op, self, mask, keepdim, self.scalar_type(), self.scalar_type(), p);
}

TensorBase logsumexp(const TensorBase& self, IntArrayRef dim, bool keepdim) {
  const ScalarType dtype =
      is_floating_point(self.scalar_type()) ? self.scalar_type() : get_default_dtype();
  return reduce(ReduceOp::logsumexp, self, dims_to_mask(dim, self.dim()), keepdim, dtype, dtype);
}

}  // namespace ebb::ops
