#include <ebb/core/ops/factory.h>

#include <cmath>
#include <limits>
#include <utility>

#include <ebb/core/cpu/convert.h>
#include <ebb/core/device_setup.h>
#include <ebb/core/memory/pinned.h>
#include <ebb/core/ops/copy.h>
#include <ebb/core/ops/kernels.h>
#include <ebb/core/ops/shape_kernels.h>
#include <ebb/core/random/distributions.h>

namespace ebb::ops {

TensorBase empty(IntArrayRef sizes, ScalarType dtype, Device device) {
  device = resolve(device);
  const auto bytes =
      static_cast<size_t>(checked_numel(sizes, element_size(dtype))) * element_size(dtype);
  return TensorBase(
      make_intrusive<TensorImpl>(Storage::allocate(bytes, device), dtype, device, sizes));
}

int64_t checked_storage_numel(IntArrayRef sizes, IntArrayRef strides, size_t element_bytes) {
  EBB_CHECK(sizes.size() == strides.size(), "sizes ", sizes, " and strides ", strides,
            " must have the same length");
  const bool is_empty = checked_numel(sizes, element_bytes) == 0;
  int64_t numel = 1;
  bool overflow = false;
  for (size_t i = 0; i < sizes.size(); ++i) {
    EBB_CHECK(strides[i] >= 0, "strides must not be negative, got ", strides);
    int64_t run = 0;
    overflow = overflow || __builtin_mul_overflow(sizes[i] - 1, strides[i], &run) ||
               __builtin_add_overflow(numel, run, &numel);
  }
  if (is_empty) return 0;
  int64_t bytes = 0;
  overflow = overflow || __builtin_mul_overflow(numel, static_cast<int64_t>(element_bytes), &bytes);
  EBB_CHECK(!overflow, "sizes ", sizes, " and strides ", strides, " reach beyond 2^63 bytes");
  return numel;
}

TensorBase empty_strided(IntArrayRef sizes, IntArrayRef strides, ScalarType dtype, Device device) {
  device = resolve(device);
  const size_t bytes =
      static_cast<size_t>(checked_storage_numel(sizes, strides, element_size(dtype))) *
      element_size(dtype);
  return TensorBase(make_intrusive<TensorImpl>(Storage::allocate(bytes, device), dtype, device,
                                               sizes, strides, 0));
}

TensorBase empty_pinned(IntArrayRef sizes, IntArrayRef strides, ScalarType dtype) {
  const size_t bytes =
      static_cast<size_t>(checked_storage_numel(sizes, strides, element_size(dtype))) *
      element_size(dtype);
  return TensorBase(make_intrusive<TensorImpl>(Storage(memory::pinned_allocator().allocate(bytes)),
                                               dtype, Device(kCPU), sizes, strides, 0));
}

TensorBase empty_like(const TensorBase& self, ScalarType dtype) {
  if (dtype == ScalarType::Undefined) dtype = self.scalar_type();
  if (!self.is_contiguous() && self.is_non_overlapping_and_dense()) {
    return empty_strided(self.sizes(), self.strides(), dtype, self.device());
  }
  return empty(self.sizes(), dtype, self.device());
}

namespace {

/// How many steps there are from start to before end.
template <typename T>
int64_t count_steps(T start, T end, T step) {
  EBB_CHECK(step > 0 || step < 0, "step must be nonzero");
  EBB_CHECK(std::isfinite(static_cast<double>(start)) && std::isfinite(static_cast<double>(end)),
            "unsupported range: ", start, " -> ", end);
  EBB_CHECK((step > 0 && end >= start) || (step < 0 && end <= start),
            "upper bound and lower bound inconsistent with step sign: from ", start, " to ", end,
            " by ", step);
  if constexpr (std::is_integral_v<T>) {
    // The distance of two int64 fits in a uint64.
    const auto up = step > 0;
    const uint64_t distance = up ? static_cast<uint64_t>(end) - static_cast<uint64_t>(start)
                                 : static_cast<uint64_t>(start) - static_cast<uint64_t>(end);
    const uint64_t by = up ? static_cast<uint64_t>(step) : -static_cast<uint64_t>(step);
    const uint64_t count = distance / by + (distance % by != 0 ? 1 : 0);
    EBB_CHECK(count <= static_cast<uint64_t>(std::numeric_limits<int64_t>::max()), "the range ",
              start, " -> ", end, " has too many elements");
    return static_cast<int64_t>(count);
  } else {
    const double count = std::ceil((end - start) / step);
    EBB_CHECK(count < 9223372036854775808.0, "the range ", start, " -> ", end,
              " has too many elements");
    return static_cast<int64_t>(count);
  }
}

/// Runs a kernel on a fresh contiguous tensor of `numel` elements.
template <typename Kernel>
TensorBase generate(int64_t numel, ScalarType dtype, Device device, Kernel kernel) {
  TensorBase result = empty({numel}, dtype, device);
  TensorIterator it(TensorIterator::Contiguous{}, numel);
  it.add_contiguous(result.data_ptr(), dtype);
  if (numel > 0) kernel(*kernels(result.device()).shape, it);
  return result;
}

}  // namespace

TensorBase arange(const Scalar& start, const Scalar& end, const Scalar& step, ScalarType dtype,
                  Device device) {
  EBB_CHECK(dtype != kBool, "not implemented for Bool");
  if (is_integral(dtype, false)) {
    const int64_t from = start.toLong(), by = step.toLong();
    return generate(count_steps(from, end.toLong(), by), dtype, device,
                    [&](const ShapeKernels& table, const TensorIterator& it) {
                      table.arange(it, Scalar(from), Scalar(by));
                    });
  }
  const double from = start.toDouble(), by = step.toDouble();
  return generate(count_steps(from, end.toDouble(), by), dtype, device,
                  [&](const ShapeKernels& table, const TensorIterator& it) {
                    table.arange(it, Scalar(from), Scalar(by));
                  });
}

TensorBase linspace(const Scalar& start, const Scalar& end, int64_t steps, ScalarType dtype,
                    Device device) {
  EBB_CHECK(steps >= 0, "number of steps must be non-negative, got ", steps);
  return generate(steps, dtype, device, [&](const ShapeKernels& table, const TensorIterator& it) {
    table.linspace(it, start.toDouble(), end.toDouble());
  });
}

namespace {

/// Up to which number the dtype holds all integers from 0.
int64_t largest_exact_integer(ScalarType dtype) {
  switch (dtype) {
    case ScalarType::Half:
      return int64_t{1} << 11;
    case ScalarType::BFloat16:
      return int64_t{1} << 8;
    case ScalarType::Float:
      return int64_t{1} << 24;
    case ScalarType::Double:
      return int64_t{1} << 53;
    case ScalarType::Byte:
      return 255;
    default:
      return std::numeric_limits<int64_t>::max() >> (64 - 8 * element_size(dtype));
  }
}

}  // namespace

TensorBase randperm(int64_t n, ScalarType dtype, Device device,
                    const std::optional<Generator>& generator) {
  EBB_CHECK(n >= 0, "n must be non-negative, got ", n);
  EBB_CHECK(dtype != kBool, "not implemented for Bool");
  EBB_CHECK(n - 1 <= largest_exact_integer(dtype), to_string(dtype),
            " does not hold all integers below n = ", n);
  if (!device.is_cpu()) {
    const Generator source = generator ? *generator : current_generator(device);
    return to(randperm(n, dtype, kCPU, source), dtype, device);
  }
  TensorBase result = arange(0, n, 1, dtype, device);
  const auto draw =
      (generator ? *generator : current_generator(device)).reserve(random::counters_for_64bit(n));
  dispatch(dtype, [&](auto zero) {
    using T = cpu::Stored<decltype(zero)>;
    auto* values = static_cast<T*>(result.data_ptr());
    for (int64_t i = n - 1; i > 0; --i) {
      const int64_t j = random::integer(draw.seed, draw.offset, static_cast<uint64_t>(i), 0, i + 1);
      std::swap(values[i], values[j]);
    }
  });
  return result;
}

}  // namespace ebb::ops
