#pragma once

#include <concepts>
#include <cstdint>
#include <functional>
#include <optional>

#include <ebb/autograd/tensor.h>
#include <ebb/core/random/generator.h>

// Tensors from sizes, ranges, random numbers and foreign memory. `options` gives dtype, device and
// requires_grad; what it leaves out takes the defaults (for `*_like` and `new_*`: those of the
// tensor). Sizes that are negative or overflow are an Error; memory that is short is an
// OutOfMemoryError.

namespace ebb {

/// Values not set.
[[nodiscard]] EBB_API Tensor empty(IntArrayRef size, const TensorOptions& options = {});
/// Values not set; strides in elements.
[[nodiscard]] EBB_API Tensor empty_strided(IntArrayRef size, IntArrayRef stride,
                                           const TensorOptions& options = {});
[[nodiscard]] EBB_API Tensor zeros(IntArrayRef size, const TensorOptions& options = {});
[[nodiscard]] EBB_API Tensor ones(IntArrayRef size, const TensorOptions& options = {});
/// Full of `fill_value`, whose kind gives the dtype unless `options` does: bool, int64, or the
/// default floating-point type.
[[nodiscard]] EBB_API Tensor full(IntArrayRef size, const Scalar& fill_value,
                                  const TensorOptions& options = {});
/// A tensor without dimensions.
[[nodiscard]] EBB_API Tensor scalar_tensor(const Scalar& value, const TensorOptions& options = {});

/// With the sizes of `self`; dense strides are kept.
[[nodiscard]] EBB_API Tensor empty_like(const Tensor& self, const TensorOptions& options = {});
[[nodiscard]] EBB_API Tensor zeros_like(const Tensor& self, const TensorOptions& options = {});
[[nodiscard]] EBB_API Tensor ones_like(const Tensor& self, const TensorOptions& options = {});
[[nodiscard]] EBB_API Tensor full_like(const Tensor& self, const Scalar& fill_value,
                                       const TensorOptions& options = {});
[[nodiscard]] EBB_API Tensor rand_like(const Tensor& self, const TensorOptions& options = {});
[[nodiscard]] EBB_API Tensor randn_like(const Tensor& self, const TensorOptions& options = {});
[[nodiscard]] EBB_API Tensor randint_like(const Tensor& self, int64_t high,
                                          const TensorOptions& options = {});
[[nodiscard]] EBB_API Tensor randint_like(const Tensor& self, int64_t low, int64_t high,
                                          const TensorOptions& options = {});

/// start, start + step, ... below `end` (above it for negative steps): ceil((end - start) / step)
/// elements. int64 if all numbers are integers, else the default floating-point type.
[[nodiscard]] EBB_API Tensor arange(const Scalar& end, const TensorOptions& options = {});
[[nodiscard]] EBB_API Tensor arange(const Scalar& start, const Scalar& end,
                                    const TensorOptions& options = {});
[[nodiscard]] EBB_API Tensor arange(const Scalar& start, const Scalar& end, const Scalar& step,
                                    const TensorOptions& options = {});
/// `steps` numbers evenly spaced from start to end, both included.
[[nodiscard]] EBB_API Tensor linspace(const Scalar& start, const Scalar& end, int64_t steps,
                                      const TensorOptions& options = {});
/// Ones on the diagonal of an n x m matrix (m absent: n), else zeros.
[[nodiscard]] EBB_API Tensor eye(int64_t n, const TensorOptions& options = {});
[[nodiscard]] EBB_API Tensor eye(int64_t n, int64_t m, const TensorOptions& options = {});

/// Uniform in [0, 1). The random streams are those of core/random: the same on every device and at
/// any number of threads. Without `generator` that of the thread for the device.
[[nodiscard]] EBB_API Tensor rand(IntArrayRef size, const TensorOptions& options = {});
[[nodiscard]] EBB_API Tensor rand(IntArrayRef size, const std::optional<Generator>& generator,
                                  const TensorOptions& options = {});
/// Normal with mean 0 and variance 1.
[[nodiscard]] EBB_API Tensor randn(IntArrayRef size, const TensorOptions& options = {});
[[nodiscard]] EBB_API Tensor randn(IntArrayRef size, const std::optional<Generator>& generator,
                                   const TensorOptions& options = {});
/// Integers in [low, high); int64 unless `options` says otherwise.
[[nodiscard]] EBB_API Tensor randint(int64_t high, IntArrayRef size,
                                     const TensorOptions& options = {});
[[nodiscard]] EBB_API Tensor randint(int64_t low, int64_t high, IntArrayRef size,
                                     const TensorOptions& options = {});
[[nodiscard]] EBB_API Tensor randint(int64_t high, IntArrayRef size,
                                     const std::optional<Generator>& generator,
                                     const TensorOptions& options = {});
[[nodiscard]] EBB_API Tensor randint(int64_t low, int64_t high, IntArrayRef size,
                                     const std::optional<Generator>& generator,
                                     const TensorOptions& options = {});
/// Each of 0 .. n - 1 once, in random order; int64 unless `options` says otherwise.
[[nodiscard]] EBB_API Tensor randperm(int64_t n, const TensorOptions& options = {});
[[nodiscard]] EBB_API Tensor randperm(int64_t n, const std::optional<Generator>& generator,
                                      const TensorOptions& options = {});

/// A tensor over memory that the caller owns and keeps alive, or that `deleter(data)` frees when
/// the last tensor over it is gone. It counts in no statistics. Strides in elements.
[[nodiscard]] EBB_API Tensor from_blob(void* data, IntArrayRef sizes,
                                       const TensorOptions& options = {});
[[nodiscard]] EBB_API Tensor from_blob(void* data, IntArrayRef sizes, IntArrayRef strides,
                                       const TensorOptions& options = {});
[[nodiscard]] EBB_API Tensor from_blob(void* data, IntArrayRef sizes,
                                       const std::function<void(void*)>& deleter,
                                       const TensorOptions& options = {});
[[nodiscard]] EBB_API Tensor from_blob(void* data, IntArrayRef sizes, IntArrayRef strides,
                                       const std::function<void(void*)>& deleter,
                                       const TensorOptions& options = {});

}  // namespace ebb

#include <ebb/autograd/tensor_literal.h>
