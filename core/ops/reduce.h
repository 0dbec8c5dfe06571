#pragma once

#include <optional>
#include <tuple>

#include <ebb/core/export.h>
#include <ebb/core/ops/reduce_kernels.h>
#include <ebb/core/tensor/tensor_base.h>

// What the reductions mean, without gradients. `dim` absent or empty: all dimensions. Kept sizes
// are those of self without the reduced dimensions, or with size 1 there where `keepdim`.

namespace ebb::ops {

/// One reduction over the dimensions in `mask`; the result has `dtype`, elements are computed in
/// `compute_type(compute)`. `indices`, if given, becomes an int64 tensor of the result's sizes.
EBB_API TensorBase reduce(ReduceOp op, const TensorBase& self, uint64_t mask, bool keepdim,
                          ScalarType dtype, ScalarType compute, double parameter = 0,
                          TensorBase* indices = nullptr);

/// Integers and bools give int64 unless `dtype` says otherwise.
EBB_API TensorBase sum(const TensorBase& self, OptionalIntArrayRef dim = {}, bool keepdim = false,
                       std::optional<ScalarType> dtype = {});
/// Throws for integers without a floating-point `dtype`.
EBB_API TensorBase mean(const TensorBase& self, OptionalIntArrayRef dim = {}, bool keepdim = false,
                        std::optional<ScalarType> dtype = {});
EBB_API TensorBase prod(const TensorBase& self, std::optional<int64_t> dim = {},
                        bool keepdim = false, std::optional<ScalarType> dtype = {});
/// The largest (or least) element; throws where there is none.
EBB_API TensorBase amax(const TensorBase& self, IntArrayRef dim = {}, bool keepdim = false);
EBB_API TensorBase amin(const TensorBase& self, IntArrayRef dim = {}, bool keepdim = false);
/// Values and int64 indices, the first of equal ones.
EBB_API std::tuple<TensorBase, TensorBase> max(const TensorBase& self, int64_t dim, bool keepdim);
EBB_API std::tuple<TensorBase, TensorBase> min(const TensorBase& self, int64_t dim, bool keepdim);
EBB_API TensorBase argmax(const TensorBase& self, std::optional<int64_t> dim, bool keepdim);
EBB_API TensorBase argmin(const TensorBase& self, std::optional<int64_t> dim, bool keepdim);
/// bool, or uint8 for uint8.
EBB_API TensorBase all(const TensorBase& self, std::optional<int64_t> dim = {},
                       bool keepdim = false);
EBB_API TensorBase any(const TensorBase& self, std::optional<int64_t> dim = {},
                       bool keepdim = false);
EBB_API TensorBase var(const TensorBase& self, OptionalIntArrayRef dim, double correction,
                       bool keepdim);
EBB_API TensorBase std(const TensorBase& self, OptionalIntArrayRef dim, double correction,
                       bool keepdim);
/// p may be 0 (how many are not zero) and +-infinity (the largest or least magnitude).
EBB_API TensorBase norm(const TensorBase& self, double p, IntArrayRef dim, bool keepdim);
/// Integers give the default floating-point type.
EBB_API TensorBase logsumexp(const TensorBase& self, IntArrayRef dim, bool keepdim);

}  // namespace ebb::ops
