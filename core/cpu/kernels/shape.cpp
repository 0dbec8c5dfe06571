#include <cstring>

#include <ebb/core/cpu/capability.h>
#include <ebb/core/cpu/convert.h>
#include <ebb/core/ops/shape_kernels.h>

namespace ebb::cpu::EBB_CPU_CAPABILITY {

namespace {

/// The columns [begin, end) of a row, moved from one stride to another.
template <typename T>
void copy_columns(char* to, const char* from, int64_t begin, int64_t end, const int64_t* strides) {
  constexpr auto size = static_cast<int64_t>(sizeof(T));
  if (begin >= end || to == from) return;
  if (strides[0] == size && strides[1] == size) {
    std::memcpy(to + begin * size, from + begin * size, static_cast<size_t>((end - begin) * size));
    return;
  }
  for (int64_t i = begin; i < end; ++i) {
    std::memcpy(to + i * strides[0], from + i * strides[1], sizeof(T));
  }
}

template <typename T>
void clear_columns(char* to, int64_t begin, int64_t end, int64_t stride) {
  constexpr auto size = static_cast<int64_t>(sizeof(T));
  if (begin >= end) return;
  if (stride == size) {
    std::memset(to + begin * size, 0, static_cast<size_t>((end - begin) * size));
    return;
  }
  for (int64_t i = begin; i < end; ++i) std::memset(to + i * stride, 0, sizeof(T));
}

int64_t clip(int64_t value, int64_t limit) { return value < 0 ? 0 : value > limit ? limit : value; }

template <typename T>
void triangle_as(const TriangleArguments& args) {
  const TensorIterator& it = args.rows_iterator;
  const int64_t grain = kGrain / (args.columns + 1) + 1;
  parallel_for(0, it.numel(), grain, [&](int64_t first, int64_t last) {
    int64_t row = first % args.rows;
    for_each_run(it, first, last, [&](char* const* pointers, int64_t n) {
      for (int64_t k = 0; k < n; ++k) {
        char* to = pointers[0] + k * it.stride(0, 0);
        const char* from = pointers[1] + k * it.stride(1, 0);
        const bool lower = args.part == ops::Triangle::lower;
        const int64_t edge = clip(row + args.diagonal + (lower ? 1 : 0), args.columns);
        const int64_t begin = lower ? 0 : edge, end = lower ? edge : args.columns;
        clear_columns<T>(to, 0, begin, args.column_strides[0]);
        copy_columns<T>(to, from, begin, end, args.column_strides);
        clear_columns<T>(to, end, args.columns, args.column_strides[0]);
        row = row + 1 == args.rows ? 0 : row + 1;
      }
    });
  });
}

void triangle(const TriangleArguments& args) {
  switch (element_size(args.rows_iterator.dtype(0))) {
    case 1:
      return triangle_as<uint8_t>(args);
    case 2:
      return triangle_as<uint16_t>(args);
    case 4:
      return triangle_as<uint32_t>(args);
    default:
      return triangle_as<uint64_t>(args);
  }
}

/// Element i of the contiguous operand 0 becomes value(i), a number of type From.
template <typename From, typename F>
void generate(const TensorIterator& it, F value) {
  dispatch(it.dtype(0), [&](auto zero) {
    using T = decltype(zero);
    auto* out = reinterpret_cast<Stored<T>*>(it.data(0));
    parallel_for(0, it.numel(), kGrain, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) out[i] = convert<T, From>(value(i));
    });
  });
}

void arange(const TensorIterator& it, const Scalar& start, const Scalar& step) {
  if (start.is_floating_point() || step.is_floating_point()) {
    const double from = start.toDouble(), by = step.toDouble();
    generate<double>(it, [=](int64_t i) { return from + static_cast<double>(i) * by; });
  } else {
    // Unsigned: i * step may pass 2^63 where the sum does not.
    const auto from = static_cast<uint64_t>(start.toLong());
    const auto by = static_cast<uint64_t>(step.toLong());
    generate<int64_t>(
        it, [=](int64_t i) { return static_cast<int64_t>(from + static_cast<uint64_t>(i) * by); });
  }
}

void linspace(const TensorIterator& it, double start, double end) {
  const int64_t last = it.numel() - 1;
  const double step = last > 0 ? (end - start) / static_cast<double>(last) : 0;
  generate<double>(it, [=](int64_t i) {
    return i < (last + 1) / 2 || last == 0 ? start + step * static_cast<double>(i)
                                           : end - step * static_cast<double>(last - i);
  });
}

}  // namespace

extern const ShapeKernels shape_kernels = {&triangle, &arange, &linspace};

}  // namespace ebb::cpu::EBB_CPU_CAPABILITY
