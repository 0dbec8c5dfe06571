#include <algorithm>
#include <cstring>

#include <ebb/core/cpu/convert.h>
#include <ebb/core/cpu/loops.h>

namespace ebb::cpu::EBB_CPU_CAPABILITY {

namespace {

/// Elements of a block: small enough for a few of them in the first-level cache.
constexpr int64_t kBlock = 512;

template <typename To, typename From>
void convert_row(To* to, const From* from, int64_t n) {
  EBB_INDEPENDENT
  for (int64_t i = 0; i < n; ++i) to[i] = convert<To, From>(from[i]);
}
inline void convert_row(float* to, const Half* from, int64_t n) {
  convert_half_to_float(from, to, n);
}
inline void convert_row(Half* to, const float* from, int64_t n) {
  convert_float_to_half(from, to, n);
}

template <typename T, typename From>
void load(void* to, const char* from, const Tile& tile) {
  using S = Stored<From>;
  T* out = static_cast<T*>(to);
  const int64_t columns = tile.columns;
  const int64_t stride = tile.column_stride;
  if (stride == static_cast<int64_t>(sizeof(S))) {
    for (int64_t row = 0; row < tile.rows; ++row, out += columns) {
      const S* in = reinterpret_cast<const S*>(from + row * tile.row_stride);
      if constexpr (std::is_same_v<From, bool>) {
        EBB_INDEPENDENT
        for (int64_t i = 0; i < columns; ++i) out[i] = convert<T, bool>(in[i]);
      } else {
        convert_row(out, in, columns);
      }
    }
  } else if (stride == 0) {
    for (int64_t row = 0; row < tile.rows; ++row, out += columns) {
      const T value = convert<T, From>(*reinterpret_cast<const S*>(from + row * tile.row_stride));
      for (int64_t i = 0; i < columns; ++i) out[i] = value;
    }
  } else {
    for (int64_t row = 0; row < tile.rows; ++row, out += columns) {
      const char* in = from + row * tile.row_stride;
      for (int64_t i = 0; i < columns; ++i) {
        out[i] = convert<T, From>(*reinterpret_cast<const S*>(in + i * stride));
      }
    }
  }
}

template <typename To, typename T>
void store(char* to, const void* from, const Tile& tile) {
  using D = Stored<To>;
  const Stored<T>* in = static_cast<const Stored<T>*>(from);
  const int64_t columns = tile.columns;
  const int64_t stride = tile.column_stride;
  for (int64_t row = 0; row < tile.rows; ++row, in += columns) {
    char* out = to + row * tile.row_stride;
    if (stride == static_cast<int64_t>(sizeof(D))) {
      D* adjacent = reinterpret_cast<D*>(out);
      if constexpr (std::is_same_v<To, Half> && std::is_same_v<T, float>) {
        convert_row(adjacent, in, columns);
      } else {
        EBB_INDEPENDENT
        for (int64_t i = 0; i < columns; ++i) adjacent[i] = convert<To, T>(in[i]);
      }
    } else {
      for (int64_t i = 0; i < columns; ++i) {
        *reinterpret_cast<D*>(out + i * stride) = convert<To, T>(in[i]);
      }
    }
  }
}

// In the order of ScalarType.
template <typename T>
constexpr Load kLoads[] = {
    &load<T, uint8_t>, &load<T, int8_t>, &load<T, int16_t>, &load<T, int32_t>, &load<T, int64_t>,
    &load<T, Half>,    &load<T, float>,  &load<T, double>,  &load<T, bool>,    &load<T, BFloat16>};
template <typename T>
constexpr Store kStores[] = {&store<uint8_t, T>, &store<int8_t, T>,  &store<int16_t, T>,
                             &store<int32_t, T>, &store<int64_t, T>, &store<Half, T>,
                             &store<float, T>,   &store<double, T>,  &store<bool, T>,
                             &store<BFloat16, T>};
static_assert(std::size(kLoads<float>) == kScalarTypes);
static_assert(std::size(kStores<float>) == kScalarTypes);

/// One thread's share of a loop over any operands.
class Blocks {
 public:
  Blocks(const TensorIterator& iterator, const ElementwiseLoop& loop)
      : it_(iterator),
        loop_(loop),
        load_(loads(iterator.compute_type())),
        store_(stores(loop.result)[static_cast<int>(iterator.dtype(0))]) {
    const auto size = static_cast<int64_t>(element_size(it_.compute_type()));
    bool direct = it_.is_contiguous(0) && it_.dtype(0) == loop.result;
    for (int i = 1; i <= loop.arity; ++i) {
      constant_[i] = is_constant(i);
      direct = direct && it_.is_contiguous(i) && it_.dtype(i) == it_.compute_type();
      buffers_[i] = memory_ + i * kBlock * size;
    }
    buffers_[0] = memory_;
    longest_ = direct ? INT64_MAX : kBlock;
  }

  void run(int64_t begin, int64_t end) {
    fill_constants(std::min(kBlock, end - begin));
    IteratorPosition position(it_, begin);
    const int64_t columns = it_.size(0);
    const int64_t rows = it_.ndim() > 1 ? it_.size(1) : 1;
    while (begin < end) {
      const int64_t rest = end - begin;
      if (position.index(0) == 0 && columns < kBlock && columns <= rest && it_.ndim() > 1) {
        const int64_t n = std::min({rows - position.index(1), rest / columns, kBlock / columns});
        run_tile(position.pointers(), columns, n);
        position.advance(1, n);
        begin += n * columns;
      } else {
        const int64_t n = std::min({columns - position.index(0), rest, longest_});
        run_tile(position.pointers(), n, 1);
        position.advance(0, n);
        begin += n;
      }
    }
  }

 private:
  [[nodiscard]] bool is_constant(int i) const {
    for (int dim = 0; dim < it_.ndim(); ++dim) {
      if (it_.stride(i, dim) != 0) return false;
    }
    return true;
  }

  void fill_constants(int64_t n) {
    for (int i = 1; i <= loop_.arity; ++i) {
      if (constant_[i]) load(i, buffers_[i], it_.data(i), {n, 1, 0, 0});
    }
  }
  void load(int i, char* to, const char* from, const Tile& tile) const {
    load_[static_cast<int>(it_.dtype(i))](to, from, tile);
  }

  [[nodiscard]] Tile tile(int i, int64_t columns, int64_t rows) const {
    return {columns, rows, it_.stride(i, 0), rows > 1 ? it_.stride(i, 1) : 0};
  }
  /// Whether the tile is a run of adjacent elements of that type.
  [[nodiscard]] bool is_adjacent(int i, ScalarType type, const Tile& tile) const {
    return it_.dtype(i) == type && tile.column_stride == static_cast<int64_t>(element_size(type)) &&
           (tile.rows == 1 || tile.row_stride == tile.columns * tile.column_stride);
  }

  /// Whether the buffer still holds the tile: that of an operand whose rows are all the same, read
  /// again.
  bool is_loaded(int i, const char* from, const Tile& tile) {
    Loaded& last = loaded_[i];
    if (tile.rows > 1 && tile.row_stride == 0 && last.from == from &&
        last.columns == tile.columns && last.rows >= tile.rows) {
      return true;
    }
    last = {from, tile.columns, tile.row_stride == 0 ? tile.rows : 0};
    return false;
  }

  void run_tile(char* const* pointers, int64_t columns, int64_t rows) {
    const void* in[TensorIterator::kMaxOperands];
    for (int i = 1; i <= loop_.arity; ++i) {
      const Tile from = tile(i, columns, rows);
      if (constant_[i]) {
        in[i - 1] = buffers_[i];
      } else if (is_adjacent(i, it_.compute_type(), from)) {
        in[i - 1] = pointers[i];
      } else {
        if (!is_loaded(i, pointers[i], from)) load(i, buffers_[i], pointers[i], from);
        in[i - 1] = buffers_[i];
      }
    }
    const Tile to = tile(0, columns, rows);
    if (is_adjacent(0, loop_.result, to)) {
      loop_.function(loop_.op, pointers[0], in, columns * rows);
    } else {
      loop_.function(loop_.op, buffers_[0], in, columns * rows);
      store_(pointers[0], buffers_[0], to);
    }
  }

  static constexpr int kBuffers = 4;  // the result and up to three inputs

  /// What a buffer holds: rows of columns from there on.
  struct Loaded {
    const char* from = nullptr;
    int64_t columns = 0;
    int64_t rows = 0;
  };

  const TensorIterator& it_;
  const ElementwiseLoop& loop_;
  const Load* load_;
  Store store_;
  int64_t longest_;
  bool constant_[TensorIterator::kMaxOperands];
  char* buffers_[TensorIterator::kMaxOperands];
  Loaded loaded_[TensorIterator::kMaxOperands];
  alignas(64) char memory_[kBuffers * kBlock * 8];
};

/// Up to that many elements a number among the operands is repeated on the stack.
constexpr int64_t kFewElements = 32;

/// Whether all operands are adjacent, or numbers beside few elements, and of the types that the
/// loop works on: what needs no blocks.
bool is_direct(const TensorIterator& it, const ElementwiseLoop& loop) {
  if (it.dtype(0) != loop.result || !it.is_contiguous(0)) return false;
  const ScalarType type = it.compute_type();
  const int64_t size = type == kFloat ? 4 : 8;
  const bool few = it.numel() <= kFewElements;
  for (int i = 1; i <= loop.arity; ++i) {
    if (it.dtype(i) != type) return false;
    if (it.stride(i, 0) != size && !(few && it.operand(i).is_scalar)) return false;
  }
  return true;
}

template <typename T>
void repeat(void* to, const void* number, int64_t n) {
  T value;
  std::memcpy(&value, number, sizeof value);
  for (int64_t i = 0; i < n; ++i) {
    std::memcpy(static_cast<T*>(to) + i, &value, sizeof value);
  }
}

void run_directly(const TensorIterator& it, const ElementwiseLoop& loop) {
  constexpr int kMostInputs = 3;
  const void* in[kMostInputs];
  alignas(16) unsigned char repeated[kMostInputs][kFewElements * sizeof(int64_t)];
  for (int i = 0; i < loop.arity; ++i) {
    in[i] = it.data(i + 1);
    if (!it.operand(i + 1).is_scalar) continue;
    if (it.compute_type() == kFloat) {
      repeat<float>(repeated[i], in[i], it.numel());
    } else {
      repeat<int64_t>(repeated[i], in[i], it.numel());
    }
    in[i] = repeated[i];
  }
  loop.function(loop.op, it.data(0), in, it.numel());
}

}  // namespace

const Load* loads(ScalarType compute_type) {
  return compute_type == kFloat    ? kLoads<float>
         : compute_type == kDouble ? kLoads<double>
                                   : kLoads<int64_t>;
}

const Store* stores(ScalarType from) {
  return from == kFloat    ? kStores<float>
         : from == kDouble ? kStores<double>
         : from == kBool   ? kStores<bool>
                           : kStores<int64_t>;
}

void run(const TensorIterator& iterator, const ElementwiseLoop& loop) {
  parallel_for(0, iterator.numel(), kGrain,
               [&](int64_t begin, int64_t end) { Blocks(iterator, loop).run(begin, end); });
}

void run(const TensorIterator& iterator, const ElementwiseFunctor& functor,
         const Scalar* parameters) {
  const ScalarType type = iterator.compute_type();
  const auto& [function, make] = functor.in_type[type == kFloat ? 0 : type == kDouble ? 1 : 2];
  if (function == nullptr) ebb::detail::raise_unsupported(iterator.dtype(1));
  alignas(16) char op[kMostOpBytes];
  if (make != nullptr) make(op, parameters);
  const ElementwiseLoop loop{function, op, functor.arity, functor.boolean ? kBool : type};
  if (iterator.numel() <= kGrain && is_direct(iterator, loop)) return run_directly(iterator, loop);
  run(iterator, loop);
}

}  // namespace ebb::cpu::EBB_CPU_CAPABILITY
