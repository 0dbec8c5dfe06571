#include <ebb/core/ops/index_kernels.h>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <limits>

#include <ebb/core/cpu/capability.h>
#include <ebb/core/cpu/convert.h>
#include <ebb/core/cpu/loops.h>
#include <ebb/core/parallel.h>

namespace ebb::cpu::EBB_CPU_CAPABILITY {
namespace {

int64_t index_at(const char* pointer) {
  int64_t index;
  std::memcpy(&index, pointer, sizeof(index));
  return index;
}

/// Calls f(written, index pointer, read) of single elements for n lines and the indices [from, to),
/// neighbours in memory one after another.
template <typename F>
void for_each_index(const TensorIterator& it, const IndexedDim& dim, char* const* p, int64_t n,
                    int64_t from, int64_t to, F&& f) {
  const int64_t line_strides[] = {it.stride(0, 0), it.stride(1, 0), it.stride(2, 0)};
  const bool lines_inner = std::abs(line_strides[0]) <= std::abs(dim.written_stride);
  const auto element = [&](int64_t line, int64_t i) {
    f(p[0] + line * line_strides[0], i, p[1] + line * line_strides[1] + i * dim.index_stride,
      p[2] + line * line_strides[2]);
  };
  if (lines_inner) {
    for (int64_t i = from; i < to; ++i) {
      for (int64_t line = 0; line < n; ++line) element(line, i);
    }
  } else {
    for (int64_t line = 0; line < n; ++line) {
      for (int64_t i = from; i < to; ++i) element(line, i);
    }
  }
}

/// Whether all lines of a run share their indices and are adjacent in what is written and read.
bool rows_of(const TensorIterator& it, int64_t bytes) {
  return it.stride(1, 0) == 0 && it.stride(0, 0) == bytes && it.stride(2, 0) == bytes;
}

/// Calls f(word) with an unsigned integer as wide as an element.
template <typename F>
void dispatch_width(ScalarType dtype, F&& f) {
  switch (element_size(dtype)) {
    case 1:
      return f(uint8_t{});
    case 2:
      return f(uint16_t{});
    case 4:
      return f(uint32_t{});
    default:
      return f(uint64_t{});
  }
}

template <typename Word>
void gather_run(const TensorIterator& it, const IndexedDim& dim, char* const* p, int64_t n,
                int64_t from, int64_t to) {
  if (rows_of(it, sizeof(Word)) && n > 1) {
    for (int64_t i = from; i < to; ++i) {
      const int64_t index = index_at(p[1] + i * dim.index_stride);
      std::memcpy(p[0] + i * dim.written_stride, p[2] + index * dim.read_stride,
                  static_cast<size_t>(n) * sizeof(Word));
    }
    return;
  }
  for_each_index(it, dim, p, n, from, to, [&](char* out, int64_t i, char* index, char* in) {
    *reinterpret_cast<Word*>(out + i * dim.written_stride) =
        *reinterpret_cast<const Word*>(in + index_at(index) * dim.read_stride);
  });
}

void gather(const TensorIterator& it, const IndexedDim& dim) {
  dispatch_width(it.dtype(0), [&](auto word) {
    using Word = decltype(word);
    // Nothing is written twice, so the indices may be shared out too.
    if (dim.n >= it.numel()) {
      parallel_for(0, dim.n, std::max<int64_t>(1, kGrain / it.numel()),
                   [&](int64_t from, int64_t to) {
                     for_each_run(it, 0, it.numel(), [&](char* const* p, int64_t n) {
                       gather_run<Word>(it, dim, p, n, from, to);
                     });
                   });
      return;
    }
    parallel_for_each_run(
        it, [&](char* const* p, int64_t n) { gather_run<Word>(it, dim, p, n, 0, dim.n); },
        std::max<int64_t>(1, kGrain / dim.n));
  });
}

void scatter(const TensorIterator& it, const IndexedDim& dim) {
  dispatch_width(it.dtype(0), [&](auto word) {
    using Word = decltype(word);
    parallel_for_each_run(
        it,
        [&](char* const* p, int64_t n) {
          for_each_index(it, dim, p, n, 0, dim.n, [&](char* out, int64_t i, char* index, char* in) {
            *reinterpret_cast<Word*>(out + index_at(index) * dim.written_stride) =
                *reinterpret_cast<const Word*>(in + i * dim.read_stride);
          });
        },
        std::max<int64_t>(1, kGrain / dim.n));
  });
}

/// bool: whether one of both is set.
template <typename T>
Stored<T> accumulate(Stored<T> sum, Stored<T> x, Scalar alpha) {
  if constexpr (std::is_same_v<T, bool>) {
    return sum != 0 || (x != 0 && alpha.to<bool>()) ? 1 : 0;
  } else if constexpr (std::is_integral_v<T>) {
    return static_cast<T>(static_cast<uint64_t>(sum) +
                          static_cast<uint64_t>(x) * static_cast<uint64_t>(alpha.toLong()));
  } else if constexpr (std::is_same_v<T, double>) {
    return sum + x * alpha.toDouble();
  } else {
    return T(static_cast<float>(sum) + static_cast<float>(x) * alpha.toFloat());
  }
}

template <typename T>
void add_run(const TensorIterator& it, const IndexedDim& dim, char* const* p, int64_t n,
             const Scalar& alpha) {
  using S = Stored<T>;
  if (rows_of(it, sizeof(S)) && n > 1) {
    for (int64_t i = 0; i < dim.n; ++i) {
      auto* out =
          reinterpret_cast<S*>(p[0] + index_at(p[1] + i * dim.index_stride) * dim.written_stride);
      const auto* in = reinterpret_cast<const S*>(p[2] + i * dim.read_stride);
      EBB_INDEPENDENT
      for (int64_t k = 0; k < n; ++k) out[k] = accumulate<T>(out[k], in[k], alpha);
    }
    return;
  }
  for_each_index(it, dim, p, n, 0, dim.n, [&](char* out, int64_t i, char* index, char* in) {
    auto& sum = *reinterpret_cast<S*>(out + index_at(index) * dim.written_stride);
    sum = accumulate<T>(sum, *reinterpret_cast<const S*>(in + i * dim.read_stride), alpha);
  });
}

void scatter_add(const TensorIterator& it, const IndexedDim& dim, const Scalar& alpha) {
  dispatch(it.dtype(0), [&](auto zero) {
    using T = decltype(zero);
    parallel_for_each_run(
        it, [&](char* const* p, int64_t n) { add_run<T>(it, dim, p, n, alpha); },
        std::max<int64_t>(1, kGrain / dim.n));
  });
}

bool find_out_of_range(const TensorIterator& it, int64_t size, int64_t* found) {
  std::atomic<bool> any{false};
  std::atomic<int64_t> bad{0};
  parallel_for_each_run(it, [&](char* const* p, int64_t n) {
    const int64_t stride = it.stride(0, 0);
    bool outside = false;
    for (int64_t i = 0; i < n; ++i) {
      outside |= static_cast<uint64_t>(index_at(p[0] + i * stride)) >= static_cast<uint64_t>(size);
    }
    if (!outside) return;
    for (int64_t i = 0; i < n; ++i) {
      const int64_t index = index_at(p[0] + i * stride);
      if (index < 0 || index >= size) bad = index;
    }
    any = true;
  });
  *found = bad;
  return any;
}

/// Calls f(pointers, n, position) for the runs of each piece: f gets the piece's own context.
template <typename F>
void for_each_piece(const TensorIterator& it, int64_t piece, F&& f) {
  const int64_t pieces = (it.numel() + piece - 1) / piece;
  parallel_for(0, pieces, std::max<int64_t>(1, kGrain / piece), [&](int64_t begin, int64_t end) {
    for (; begin < end; ++begin) {
      f(begin, begin * piece, std::min((begin + 1) * piece, it.numel()));
    }
  });
}

template <typename Word>
bool is_set(const char* pointer, Word mask) {
  Word bits;
  std::memcpy(&bits, pointer, sizeof(bits));
  return (bits & mask) != 0;
}

/// Calls f(mask) with the bits that make an element differ from zero: all but the sign of -0.0.
template <typename F>
void dispatch_mask(ScalarType dtype, F&& f) {
  dispatch_width(dtype, [&](auto word) {
    using Word = decltype(word);
    constexpr Word all = std::numeric_limits<Word>::max();
    f(static_cast<Word>(is_floating_point(dtype) ? all >> 1 : all));
  });
}

int64_t start_nonzero(const TensorIterator& it, int64_t piece, int64_t* starts) {
  dispatch_mask(it.dtype(0), [&](auto mask) {
    for_each_piece(it, piece, [&](int64_t number, int64_t begin, int64_t end) {
      int64_t count = 0;
      for_each_run(it, begin, end, [&](char* const* p, int64_t n) {
        for (int64_t i = 0; i < n; ++i) count += is_set(p[0] + i * it.stride(0, 0), mask) ? 1 : 0;
      });
      starts[number] = count;
    });
  });
  const int64_t pieces = (it.numel() + piece - 1) / piece;
  int64_t count = 0;
  for (int64_t number = 0; number < pieces; ++number) {
    const int64_t in_piece = starts[number];
    starts[number] = count;
    count += in_piece;
  }
  starts[pieces] = count;
  return count;
}

void masked_select(const TensorIterator& it, int64_t piece, const int64_t* starts, void* out) {
  dispatch_width(it.dtype(1), [&](auto word) {
    using Word = decltype(word);
    for_each_piece(it, piece, [&](int64_t number, int64_t begin, int64_t end) {
      Word* to = static_cast<Word*>(out) + starts[number];
      for_each_run(it, begin, end, [&](char* const* p, int64_t n) {
        for (int64_t i = 0; i < n; ++i) {
          if (p[0][i * it.stride(0, 0)] != 0) {
            *to++ = *reinterpret_cast<const Word*>(p[1] + i * it.stride(1, 0));
          }
        }
      });
    });
  });
}

void write_indices(int64_t position, IntArrayRef sizes, int64_t* out) {
  for (size_t d = sizes.size(); d-- > 0; position /= sizes[d]) out[d] = position % sizes[d];
}

void nonzero(const TensorIterator& it, int64_t piece, const int64_t* starts, IntArrayRef sizes,
             int64_t* out) {
  const auto ndim = static_cast<int64_t>(sizes.size());
  dispatch_mask(it.dtype(0), [&](auto mask) {
    for_each_piece(it, piece, [&](int64_t number, int64_t begin, int64_t end) {
      int64_t* to = out + starts[number] * ndim;
      int64_t position = begin;
      for_each_run(it, begin, end, [&](char* const* p, int64_t n) {
        for (int64_t i = 0; i < n; ++i) {
          if (!is_set(p[0] + i * it.stride(0, 0), mask)) continue;
          write_indices(position + i, sizes, to);
          to += ndim;
        }
        position += n;
      });
    });
  });
}

}  // namespace

extern const IndexKernels index_kernels = {
    &gather, &scatter, &scatter_add, &find_out_of_range, &start_nonzero, &masked_select, &nonzero};

}  // namespace ebb::cpu::EBB_CPU_CAPABILITY
