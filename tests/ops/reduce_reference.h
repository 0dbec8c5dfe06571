#pragma once

#include <cmath>
#include <cstdint>
#include <cstring>
#include <functional>
#include <vector>

#include <ebb/autograd/factories.h>
#include <ebb/core/parallel.h>
#include <ebb/testing/gradcheck.h>

#include "catch.h"

// What the tests of reductions, scans, sorts, indexing and losses share: elements as doubles, read
// and written with plain loops.

namespace ebb::testing {

using Values = std::vector<double>;

inline int64_t offset_of(const Tensor& tensor, int64_t position) {
  int64_t offset = 0;
  for (int64_t d = tensor.dim() - 1; d >= 0; --d) {
    offset += position % tensor.size(d) * tensor.stride(d);
    position /= tensor.size(d);
  }
  return offset;
}

/// The elements in row-major order.
inline Values values(const Tensor& given) {
  const Tensor tensor = given.detach().cpu();
  Values result;
  dispatch(tensor.scalar_type(), [&](auto zero) {
    using T = decltype(zero);
    const T* data = tensor.const_data_ptr<T>();
    for (int64_t i = 0; i < tensor.numel(); ++i) {
      result.push_back(static_cast<double>(data[offset_of(tensor, i)]));
    }
  });
  return result;
}

/// A contiguous tensor of these elements.
inline Tensor made_of(const Values& elements, IntArrayRef sizes, ScalarType dtype = kDouble) {
  Tensor tensor = empty(sizes, TensorOptions(dtype).device(kCPU));
  dispatch(dtype, [&](auto zero) {
    using T = decltype(zero);
    T* data = tensor.data_ptr<T>();
    for (size_t i = 0; i < elements.size(); ++i) {
      data[i] = static_cast<T>(
          static_cast<
              std::conditional_t<std::is_same_v<T, Half> || std::is_same_v<T, BFloat16>, float,
                                 std::conditional_t<std::is_same_v<T, uint8_t>, int, double>>>(
              elements[i]));
    }
  });
  return tensor.to(get_default_device());
}

/// Numbers in [low, high) that look random, the same on each run.
inline Values numbers(int64_t n, double low = -1, double high = 1, uint32_t seed = 1) {
  Values result;
  uint32_t state = seed * 2654435761u + 12345u;
  for (int64_t i = 0; i < n; ++i) {
    state = state * 1664525u + 1013904223u;
    result.push_back(low + (high - low) * (state >> 8) / 16777216.0);
  }
  return result;
}

inline int64_t product(IntArrayRef sizes) {
  int64_t n = 1;
  for (const int64_t size : sizes) n *= size;
  return n;
}

inline Tensor random_tensor(IntArrayRef sizes, ScalarType dtype = kDouble, double low = -1,
                            double high = 1, uint32_t seed = 1) {
  return made_of(numbers(product(sizes), low, high, seed), sizes, dtype);
}

/// Integers in [0, high).
inline Tensor random_indices(IntArrayRef sizes, int64_t high, uint32_t seed = 1) {
  return random_tensor(sizes, kLong, 0, static_cast<double>(high), seed);
}

/// The same elements in memory of several kinds: row-major, dimensions turned round, every second
/// element of something larger, and reversed order of two dimensions.
inline std::vector<Tensor> layouts(const Tensor& tensor) {
  std::vector<Tensor> result = {tensor};
  if (tensor.dim() == 0) return result;
  std::vector<int64_t> reversed;
  for (int64_t d = tensor.dim() - 1; d >= 0; --d) reversed.push_back(d);
  result.push_back(tensor.permute(reversed).contiguous().permute(reversed));
  std::vector<int64_t> wide(tensor.sizes().begin(), tensor.sizes().end());
  wide.back() *= 2;
  Tensor every_second = zeros(wide, tensor.options()).slice(-1, 0, std::nullopt, 2);
  every_second.copy_(tensor);
  result.push_back(every_second);
  const Tensor swapped = tensor.transpose(0, -1).contiguous().transpose(0, -1);
  result.push_back(swapped);
  return result;
}

inline bool same(double a, double b, double tolerance) {
  if (std::isnan(a) || std::isnan(b)) return std::isnan(a) && std::isnan(b);
  return a == b || std::fabs(a - b) <= tolerance * (1 + std::fabs(b));
}

/// Checks elements one by one and names the first that is off.
inline void check_close(const Tensor& tensor, const Values& expected, double tolerance = 1e-12) {
  const Values actual = values(tensor);
  REQUIRE(actual.size() == expected.size());
  for (size_t i = 0; i < actual.size(); ++i) {
    if (same(actual[i], expected[i], tolerance)) continue;
    INFO("element " << i << " is " << actual[i] << ", expected " << expected[i]);
    FAIL_CHECK();
    return;
  }
  SUCCEED();
}

/// The elements that a reduction over `dims` brings together, for each output in row-major order.
inline std::vector<Values> groups(const Tensor& tensor, const std::vector<int64_t>& dims) {
  std::vector<bool> reduced(static_cast<size_t>(tensor.dim()), dims.empty());
  for (const int64_t d : dims) reduced[static_cast<size_t>(d < 0 ? d + tensor.dim() : d)] = true;
  int64_t outputs = 1;
  for (int64_t d = 0; d < tensor.dim(); ++d) {
    if (!reduced[static_cast<size_t>(d)]) outputs *= tensor.size(d);
  }
  std::vector<Values> result(static_cast<size_t>(outputs));
  const Values all = values(tensor);
  for (int64_t i = 0; i < tensor.numel(); ++i) {
    int64_t rest = i;
    int64_t output = 0;
    int64_t scale = 1;
    for (int64_t d = tensor.dim() - 1; d >= 0; --d) {
      if (!reduced[static_cast<size_t>(d)]) {
        output += rest % tensor.size(d) * scale;
        scale *= tensor.size(d);
      }
      rest /= tensor.size(d);
    }
    result[static_cast<size_t>(output)].push_back(all[static_cast<size_t>(i)]);
  }
  return result;
}

/// f applied to each group.
template <typename F>
Values reduced(const Tensor& tensor, const std::vector<int64_t>& dims, F&& f) {
  Values result;
  for (const Values& group : groups(tensor, dims)) result.push_back(f(group));
  return result;
}

/// Runs f with 1, 2 and 8 threads and checks that it gives the same bytes.
inline void check_same_for_any_threads(const std::function<Tensor()>& f) {
  const int before = get_num_threads();
  std::vector<Tensor> results;
  for (const int threads : {1, 2, 8}) {
    set_num_threads(threads);
    results.push_back(f().contiguous().cpu());
  }
  set_num_threads(before);
  for (const Tensor& result : results) {
    REQUIRE(result.nbytes() == results[0].nbytes());
    CHECK(std::memcmp(result.data_ptr(), results[0].data_ptr(), result.nbytes()) == 0);
  }
}

/// First and second derivatives of a function of tensors that gives one.
template <typename F>
bool check_gradients(F f, const std::vector<Tensor>& inputs) {
  return gradcheck(f, inputs) && gradgradcheck(f, inputs);
}

}  // namespace ebb::testing
