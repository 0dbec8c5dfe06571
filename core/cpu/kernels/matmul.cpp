#include <ebb/core/ops/matmul_kernels.h>

#include <ebb/core/cpu/kernels/gemm.h>
#include <ebb/core/cpu/kernels/gemv.h>
#include <ebb/core/cpu/kernels/storage_types.h>

namespace ebb::cpu::EBB_CPU_CAPABILITY {
namespace {

/// Where matrix i of the batch starts.
int64_t batch_offset(const MatmulArguments& a, const MatrixView& view, int64_t i) {
  int64_t offset = 0;
  for (size_t d = a.batch.size(); d-- > 0;) {
    offset += i % a.batch[d] * view.batch_strides[d];
    i /= a.batch[d];
  }
  return offset;
}

/// The arguments as they are, or with all matrices transposed: c^T = b^T a^T.
struct Sides {
  const MatmulArguments& arguments;
  bool turned;

  [[nodiscard]] int64_t m() const { return turned ? arguments.n : arguments.m; }
  [[nodiscard]] int64_t n() const { return turned ? arguments.m : arguments.n; }
  [[nodiscard]] const MatrixView& left() const { return turned ? arguments.b : arguments.a; }
  [[nodiscard]] const MatrixView& right() const { return turned ? arguments.a : arguments.b; }
  [[nodiscard]] int64_t row_stride(const MatrixView& view) const {
    return turned ? view.column_stride : view.row_stride;
  }
  [[nodiscard]] int64_t column_stride(const MatrixView& view) const {
    return turned ? view.row_stride : view.column_stride;
  }
};

/// Matrix i of the batch.
template <typename S>
struct Product {
  using T = Accumulator<S>;

  MatrixSource<S> left;
  MatrixSource<S> right;
  Destination<S, T> out;

  Product(const Sides& s, int64_t i)
      : left{start(s, s.left(), i), s.row_stride(s.left()), s.column_stride(s.left())},
        right{start(s, s.right(), i), s.column_stride(s.right()), s.row_stride(s.right())},
        out{.data = start(s, s.arguments.c, i),
            .row_stride = s.row_stride(s.arguments.c),
            .column_stride = s.column_stride(s.arguments.c),
            .alpha = number(s.arguments.alpha),
            .beta = number(s.arguments.beta)} {
    if (out.beta == T{0}) return;
    const MatrixView& addend = s.arguments.addend;
    out.addend = start(s, addend, i);
    out.addend_row_stride = s.row_stride(addend);
    out.addend_column_stride = s.column_stride(addend);
  }

  static S* start(const Sides& s, const MatrixView& view, int64_t i) {
    return static_cast<S*>(view.data) + batch_offset(s.arguments, view, i);
  }

  static T number(const Scalar& scalar) {
    if constexpr (std::is_integral_v<T>) {
      return static_cast<T>(scalar.to<int64_t>());
    } else {
      return scalar.to<T>();
    }
  }
};

int64_t batch_count(const MatmulArguments& a) {
  int64_t count = 1;
  for (const int64_t size : a.batch) count *= size;
  return count;
}

template <typename S>
void multiply_all(const Sides& s) {
  using T = Accumulator<S>;
  const int64_t k = s.arguments.k;
  const int64_t count = batch_count(s.arguments);
  const Blocks blocks = cut<T>(s.m(), s.n(), k, count);
  parallel_for(0, count * blocks.count(), block_grain(blocks.rows, blocks.columns, k),
               [&](int64_t begin, int64_t end) {
                 for (; begin < end; ++begin) {
                   const Product<S> product(s, begin / blocks.count());
                   multiply(product.left, product.right, k, blocks[begin % blocks.count()],
                            product.out);
                 }
               });
}

/// Products with one column, which read each element of the left side once.
template <typename S>
void multiply_vectors(const Sides& s) {
  const int64_t k = s.arguments.k;
  const int64_t chunks = (s.m() + kVectorRows - 1) / kVectorRows;
  parallel_for(0, batch_count(s.arguments) * chunks,
               block_grain(std::min(s.m(), kVectorRows), 8, k), [&](int64_t begin, int64_t end) {
                 for (; begin < end; ++begin) {
                   const Product<S> product(s, begin / chunks);
                   const int64_t row = begin % chunks * kVectorRows;
                   multiply_vector(product.left, product.right, k, row,
                                   std::min(kVectorRows, s.m() - row), product.out);
                 }
               });
}

bool suits_vectors(const Sides& s) {
  return s.n() == 1 &&
         (s.column_stride(s.left()) == 1 || s.row_stride(s.left()) == 1 || s.m() == 1);
}

/// Whether rows are short where columns are the vectors: few columns, or elements of the result
/// that are adjacent along its columns.
template <typename T>
bool is_better_transposed(const MatmulArguments& a) {
  if (a.m == 1) return a.n > 1;
  if (a.n == 1) return false;
  if (a.n < kTileColumns<T> && a.m > a.n) return true;
  return a.c.column_stride != 1 && a.c.row_stride == 1 && a.m >= kTileColumns<T>;
}

void product(const MatmulArguments& arguments) {
  dispatch_storage(arguments.dtype, [&](auto zero) {
    using S = decltype(zero);
    const Sides sides{arguments, is_better_transposed<Accumulator<S>>(arguments)};
    if constexpr (std::is_floating_point_v<S>) {
      if (suits_vectors(sides)) return multiply_vectors<S>(sides);
    }
    multiply_all<S>(sides);
  });
}

}  // namespace

extern const MatmulKernels matmul_kernels = {&product};

}  // namespace ebb::cpu::EBB_CPU_CAPABILITY
