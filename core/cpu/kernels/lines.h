#pragma once

#include <algorithm>
#include <cstdint>

#include <ebb/core/cpu/capability.h>
#include <ebb/core/cpu/loops.h>
#include <ebb/core/ops/line_shape.h>
#include <ebb/core/parallel.h>

// How softmax and the losses walk along the lines of contiguous tensors [outer, n, inner]. Lines of
// adjacent elements (inner is 1) are taken one by one; others side by side with their neighbours.

namespace ebb::cpu::EBB_CPU_CAPABILITY {
namespace {

constexpr int64_t kBlock = 4096;
constexpr int64_t kColumns = 128;
constexpr int64_t kRows = kBlock / kColumns;

/// One operand: where its elements are, loaded into and stored from T.
template <typename T>
struct Reader {
  const char* data;
  int64_t size;
  Load load;
  bool direct;

  Reader(const void* data, ScalarType dtype, ScalarType compute)
      : data(static_cast<const char*>(data)),
        size(static_cast<int64_t>(element_size(dtype))),
        load(loads(compute)[static_cast<int>(dtype)]),
        direct(dtype == compute) {}

  /// n adjacent elements, in place or in `buffer`.
  const T* run(T* buffer, int64_t at, int64_t n) const {
    if (direct) return reinterpret_cast<const T*>(data + at * size);
    load(buffer, data + at * size, {n, 1, size, 0});
    return buffer;
  }
  /// One element.
  void run_one(T* to, int64_t at) const { load(to, data + at * size, {1, 1, size, 0}); }
  /// rows x columns elements, rows `inner` apart.
  void tile(T* buffer, int64_t at, int64_t rows, int64_t columns, int64_t inner) const {
    load(buffer, data + at * size, {columns, rows, size, inner * size});
  }
};

template <typename T>
struct Writer {
  char* data;
  int64_t size;
  Store store;

  Writer(void* data, ScalarType dtype, ScalarType compute)
      : data(static_cast<char*>(data)),
        size(static_cast<int64_t>(element_size(dtype))),
        store(stores(compute)[static_cast<int>(dtype)]) {}

  void run(const T* values, int64_t at, int64_t n) const {
    store(data + at * size, values, {n, 1, size, 0});
  }
  void tile(const T* values, int64_t at, int64_t rows, int64_t columns, int64_t inner) const {
    store(data + at * size, values, {columns, rows, size, inner * size});
  }
};

/// Calls f(offset in the line, elements) for blocks of a line.
template <typename F>
void for_each_block(int64_t n, F&& f) {
  for (int64_t i = 0; i < n; i += kBlock) f(i, std::min(kBlock, n - i));
}

/// Calls f(position of the first element, rows) for blocks of rows of neighbouring lines.
template <typename F>
void for_each_rows(const LineShape& shape, int64_t outer, int64_t column, F&& f) {
  for (int64_t r = 0; r < shape.n; r += kRows) {
    f((outer * shape.n + r) * shape.inner + column, std::min(kRows, shape.n - r));
  }
}

/// row(line) for lines of adjacent elements, else columns(outer, first, count) for lines side by
/// side.
template <typename Row, typename Columns>
void for_each_line(const LineShape& shape, Row&& row, Columns&& columns) {
  if (shape.inner == 1) {
    parallel_for(0, shape.outer, std::max<int64_t>(1, kGrain / (8 * shape.n)),
                 [&](int64_t begin, int64_t end) {
                   for (; begin < end; ++begin) row(begin);
                 });
    return;
  }
  const int64_t tiles = (shape.inner + kColumns - 1) / kColumns;
  const int64_t work = 8 * std::min(shape.inner, kColumns) * shape.n;
  parallel_for(0, shape.outer * tiles, std::max<int64_t>(1, kGrain / work),
               [&](int64_t begin, int64_t end) {
                 for (; begin < end; ++begin) {
                   const int64_t first = begin % tiles * kColumns;
                   columns(begin / tiles, first, std::min(kColumns, shape.inner - first));
                 }
               });
}

}  // namespace
}  // namespace ebb::cpu::EBB_CPU_CAPABILITY
