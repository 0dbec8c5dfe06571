#include <ebb/core/ops/matmul_kernels.h>

#include <utility>

#include <ebb/core/cpu/kernels/gemm.h>
#include <ebb/core/cpu/kernels/gemv.h>
#include <ebb/core/ops/kernels.h>

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

template <typename S>
struct Product {
  using T = Accumulator<S>;

  MatrixSource<S> left;
  MatrixSource<S> right;
  Destination<S, T> out;

  Product(const MatmulArguments& a, int64_t i)
      : left{static_cast<const S*>(a.a.data) + batch_offset(a, a.a, i), a.a.row_stride,
             a.a.column_stride},
        right{static_cast<const S*>(a.b.data) + batch_offset(a, a.b, i), a.b.column_stride,
              a.b.row_stride},
        out{.data = static_cast<S*>(a.c.data) + batch_offset(a, a.c, i),
            .row_stride = a.c.row_stride,
            .column_stride = a.c.column_stride,
            .alpha = number(a.alpha),
            .beta = number(a.beta)} {
    if (out.beta == T{0}) return;
    out.addend = static_cast<const S*>(a.addend.data) + batch_offset(a, a.addend, i);
    out.addend_row_stride = a.addend.row_stride;
    out.addend_column_stride = a.addend.column_stride;
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
void multiply_all(const MatmulArguments& a) {
  using T = Accumulator<S>;
  const int64_t count = batch_count(a);
  const Blocks blocks = cut<T>(a.m, a.n, a.k, count);
  parallel_for(0, count * blocks.count(), block_grain(blocks.rows, blocks.columns, a.k),
               [&](int64_t begin, int64_t end) {
                 for (; begin < end; ++begin) {
                   const Product<S> product(a, begin / blocks.count());
                   multiply(product.left, product.right, a.k, blocks[begin % blocks.count()],
                            product.out);
                 }
               });
}

/// Products with one column, which read each element of `a` once.
template <typename S>
void multiply_vectors(const MatmulArguments& a) {
  const int64_t chunks = (a.m + kVectorRows - 1) / kVectorRows;
  parallel_for(0, batch_count(a) * chunks, block_grain(std::min(a.m, kVectorRows), 8, a.k),
               [&](int64_t begin, int64_t end) {
                 for (; begin < end; ++begin) {
                   const Product<S> product(a, begin / chunks);
                   const int64_t row = begin % chunks * kVectorRows;
                   multiply_vector(product.left, product.right, a.k, row,
                                   std::min(kVectorRows, a.m - row), product.out);
                 }
               });
}

template <typename S>
bool suits_vectors(const MatmulArguments& a) {
  return std::is_floating_point_v<S> && a.n == 1 &&
         (a.a.column_stride == 1 || a.a.row_stride == 1 || a.m == 1);
}

void exchange(MatrixView& view) { std::swap(view.row_stride, view.column_stride); }

/// The same product with all matrices transposed: b^T a^T.
MatmulArguments transposed(const MatmulArguments& arguments) {
  MatmulArguments a = arguments;
  std::swap(a.m, a.n);
  std::swap(a.a, a.b);
  for (MatrixView* view : {&a.a, &a.b, &a.addend, &a.c}) exchange(*view);
  return a;
}

/// Rows are short where columns are the vectors: few columns, or adjacent elements along rows.
template <typename T>
bool is_better_transposed(const MatmulArguments& a) {
  if (a.m == 1) return a.n > 1;
  if (a.n == 1) return false;
  if (a.n < kTileColumns<T> && a.m > a.n) return true;
  return a.c.column_stride != 1 && a.c.row_stride == 1 && a.m >= kTileColumns<T>;
}

template <typename S>
void product_of(const MatmulArguments& arguments) {
  const bool turn = is_better_transposed<Accumulator<S>>(arguments);
  const MatmulArguments& a = turn ? transposed(arguments) : arguments;
  if constexpr (std::is_floating_point_v<S>) {
    if (suits_vectors<S>(a)) return multiply_vectors<S>(a);
  }
  multiply_all<S>(a);
}

void product(const MatmulArguments& arguments) {
  dispatch(arguments.dtype, [&](auto zero) {
    using S = decltype(zero);
    if constexpr (std::is_same_v<S, bool>) {
      ebb::detail::raise_unsupported(kBool);
    } else {
      product_of<S>(arguments);
    }
  });
}

}  // namespace

extern const MatmulKernels matmul_kernels = {&product};

}  // namespace ebb::cpu::EBB_CPU_CAPABILITY
