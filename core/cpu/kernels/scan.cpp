#include <ebb/core/ops/scan_kernels.h>

#include <algorithm>

#include <ebb/core/cpu/capability.h>
#include <ebb/core/cpu/loops.h>
#include <ebb/core/ops/functors/reduce.h>
#include <ebb/core/parallel.h>

namespace ebb::cpu::EBB_CPU_CAPABILITY {
namespace {

constexpr int64_t kBlock = 1024;

/// Lines that are neighbours in memory, `columns` of them, scanned row by row.
template <typename Fold, typename T>
void scan_columns(const ScanArguments& a, int64_t outer, int64_t column, int64_t columns) {
  using State = typename Fold::State;
  const Load load = loads(a.compute)[static_cast<int>(a.input_dtype)];
  const Store store = stores(a.compute)[static_cast<int>(a.output_dtype)];
  const auto in_size = static_cast<int64_t>(element_size(a.input_dtype));
  const auto out_size = static_cast<int64_t>(element_size(a.output_dtype));
  State states[kBlock];
  T values[kBlock];
  for (int64_t c = 0; c < columns; ++c) states[c] = static_cast<State>(Fold::identity());
  for (int64_t r = 0; r < a.shape.n; ++r) {
    const int64_t at = (outer * a.shape.n + r) * a.shape.inner + column;
    load(values, static_cast<const char*>(a.input) + at * in_size, {columns, 1, in_size, 0});
    for (int64_t c = 0; c < columns; ++c) {
      states[c] = Fold::merge(states[c], static_cast<State>(values[c]));
      values[c] = static_cast<T>(states[c]);
    }
    store(static_cast<char*>(a.output) + at * out_size, values, {columns, 1, out_size, 0});
  }
}

/// A line of adjacent elements.
template <typename Fold, typename T>
void scan_row(const ScanArguments& a, int64_t outer) {
  using State = typename Fold::State;
  const Load load = loads(a.compute)[static_cast<int>(a.input_dtype)];
  const Store store = stores(a.compute)[static_cast<int>(a.output_dtype)];
  const auto in_size = static_cast<int64_t>(element_size(a.input_dtype));
  const auto out_size = static_cast<int64_t>(element_size(a.output_dtype));
  T values[kBlock];
  auto state = static_cast<State>(Fold::identity());
  for (int64_t i = 0; i < a.shape.n; i += kBlock) {
    const int64_t count = std::min(kBlock, a.shape.n - i);
    const int64_t at = outer * a.shape.n + i;
    load(values, static_cast<const char*>(a.input) + at * in_size, {count, 1, in_size, 0});
    for (int64_t k = 0; k < count; ++k) {
      state = Fold::merge(state, static_cast<State>(values[k]));
      values[k] = static_cast<T>(state);
    }
    store(static_cast<char*>(a.output) + at * out_size, values, {count, 1, out_size, 0});
  }
}

template <typename Fold, typename T>
void scan_lines(const ScanArguments& a) {
  constexpr int64_t kGroup = 64;
  const int64_t groups = (a.shape.inner + kGroup - 1) / kGroup;
  const int64_t work = std::max<int64_t>(1, std::min(a.shape.inner, kGroup) * a.shape.n);
  const int64_t grain = std::max<int64_t>(1, kGrain / work);
  parallel_for(0, a.shape.outer * groups, grain, [&](int64_t begin, int64_t end) {
    while (begin < end) {
      const int64_t outer = begin / groups;
      const int64_t group = begin % groups;
      const int64_t taken = std::min({groups - group, end - begin, kBlock / kGroup});
      const int64_t column = group * kGroup;
      if (a.shape.inner == 1) {
        scan_row<Fold, T>(a, outer);
      } else {
        scan_columns<Fold, T>(a, outer, column, std::min(taken * kGroup, a.shape.inner - column));
      }
      begin += taken;
    }
  });
}

template <template <typename> typename Fold>
void scan(const ScanArguments& a) {
  dispatch_compute(a.compute, [&](auto zero) {
    using T = decltype(zero);
    scan_lines<Fold<T>, T>(a);
  });
}

}  // namespace

extern const ScanKernels scan_kernels = {&scan<functors::SumFold>, &scan<functors::ProdFold>};

}  // namespace ebb::cpu::EBB_CPU_CAPABILITY
