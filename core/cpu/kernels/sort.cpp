#include <ebb/core/ops/sort_kernels.h>

#include <algorithm>

#include <ebb/core/cpu/capability.h>
#include <ebb/core/cpu/loops.h>
#include <ebb/core/parallel.h>

namespace ebb::cpu::EBB_CPU_CAPABILITY {
namespace {

template <typename T>
struct Pair {
  T value;
  int64_t index;
};
static_assert(sizeof(Pair<double>) == kSortPairBytes && sizeof(Pair<float>) == kSortPairBytes);

/// A total order, so that any sort is stable.
template <typename T, bool kDescending>
struct Before {
  static bool less(T a, T b) { return a < b || (functors::is_nan(b) && !functors::is_nan(a)); }
  bool operator()(const Pair<T>& a, const Pair<T>& b) const {
    const T low = kDescending ? b.value : a.value;
    const T high = kDescending ? a.value : b.value;
    if (less(low, high)) return true;
    if (less(high, low)) return false;
    return a.index < b.index;
  }
};

template <typename T, typename Order>
void order_pairs(Pair<T>* pairs, int64_t n, int64_t k, Order before) {
  if (k == n) {
    std::sort(pairs, pairs + n, before);
  } else if (k < n / 8) {
    std::partial_sort(pairs, pairs + k, pairs + n, before);
  } else {
    std::nth_element(pairs, pairs + k, pairs + n, before);
    std::sort(pairs, pairs + k, before);
  }
}

template <typename T>
void sort_line(const SortArguments& a, int64_t line, Pair<T>* pairs) {
  constexpr int64_t kBlock = 512;
  const ScalarType compute = compute_type(a.dtype);
  const Load load = loads(compute)[static_cast<int>(a.dtype)];
  const Store store = stores(compute)[static_cast<int>(a.dtype)];
  const auto size = static_cast<int64_t>(element_size(a.dtype));
  const int64_t outer = line / a.shape.inner;
  const int64_t inner = line % a.shape.inner;
  const auto* in =
      static_cast<const char*>(a.input) + (outer * a.shape.n * a.shape.inner + inner) * size;
  const int64_t step = a.shape.inner * size;
  T block[kBlock];
  for (int64_t i = 0; i < a.shape.n; i += kBlock) {
    const int64_t count = std::min(kBlock, a.shape.n - i);
    load(block, in + i * step, {count, 1, step, 0});
    for (int64_t j = 0; j < count; ++j) pairs[i + j] = {block[j], i + j};
  }
  if (a.descending)
    order_pairs(pairs, a.shape.n, a.k, Before<T, true>());
  else
    order_pairs(pairs, a.shape.n, a.k, Before<T, false>());
  const int64_t start = outer * a.k * a.shape.inner + inner;
  for (int64_t i = 0; i < a.k; ++i) a.indices[start + i * a.shape.inner] = pairs[i].index;
  if (a.values == nullptr) return;
  auto* out = static_cast<char*>(a.values) + start * size;
  for (int64_t i = 0; i < a.k; i += kBlock) {
    const int64_t count = std::min(kBlock, a.k - i);
    for (int64_t j = 0; j < count; ++j) block[j] = pairs[i + j].value;
    store(out + i * step, block, {count, 1, step, 0});
  }
}

void sort(const SortArguments& a) {
  const int64_t lines = a.shape.lines();
  dispatch_compute(a.dtype, [&](auto zero) {
    using T = decltype(zero);
    parallel_for(0, a.workers, 1, [&](int64_t begin, int64_t end) {
      for (; begin < end; ++begin) {
        auto* pairs = reinterpret_cast<Pair<T>*>(static_cast<char*>(a.workspace) +
                                                 begin * a.shape.n * kSortPairBytes);
        for (int64_t line = begin; line < lines; line += a.workers) sort_line<T>(a, line, pairs);
      }
    });
  });
}

}  // namespace

extern const SortKernels sort_kernels = {&sort};

}  // namespace ebb::cpu::EBB_CPU_CAPABILITY
