#include <ebb/core/ops/matmul_kernels.h>

#include <optional>
#include <type_traits>
#include <utility>

#include <ebb/core/ops/copy_kernels.h>
#include <ebb/core/ops/tensor_iterator.h>
#include <ebb/core/tensor/shape.h>
#include <ebb/cuda/kernels/batch_index.h>
#include <ebb/cuda/kernels/gemm.h>
#include <ebb/cuda/kernels/storage_types.h>
#include <ebb/cuda/kernels/strided.h>
#include <ebb/cuda/kernels/tables.h>
#include <ebb/cuda/runtime/blas.h>
#include <ebb/cuda/runtime/blas_settings.h>
#include <ebb/cuda/runtime/device_code.h>
#include <ebb/cuda/runtime/launch.h>
#include <ebb/cuda/runtime/workspace.h>

// Matrix products. Floating-point ones are cuBLAS's: one call for a matrix, a batch with one
// stride, or a batch with a list of pointers that a kernel writes. Integers, which cuBLAS does not
// multiply, and results that lie so that cuBLAS cannot write them have a kernel of their own.

namespace ebb::cuda {

namespace {

int64_t batch_count(const MatmulArguments& a) {
  int64_t count = 1;
  for (const int64_t size : a.batch) count *= size;
  return count;
}

// ---- The kernel of our own ----

constexpr int kTile = 16;

/// What a product of elements S is summed in. Unsigned: integers wrap around.
template <typename S>
using Accumulator =
    std::conditional_t<std::is_integral_v<S>,
                       std::conditional_t<sizeof(S) == 8, uint64_t, uint32_t>, Sum<S>>;

/// A strided matrix on the device.
template <typename S>
struct Strided {
  S* data;
  int64_t row_stride;
  int64_t column_stride;

  explicit Strided(const MatrixView& view)
      : data(static_cast<S*>(view.data)),
        row_stride(view.row_stride),
        column_stride(view.column_stride) {}
  EBB_INLINE S& at(int64_t start, int64_t row, int64_t column) const {
    return data[start + row * row_stride + column * column_stride];
  }
};

template <typename S, typename R>
struct TiledProduct {
  using T = Accumulator<S>;

  int64_t m;
  int64_t n;
  int64_t k;
  T alpha;
  T beta;
  Strided<S> a;
  Strided<S> b;
  Strided<R> addend;
  Strided<R> c;
  BatchIndex batch;
  int64_t tiles_down;
  int64_t tiles_across;
  int64_t tiles;

  explicit TiledProduct(const MatmulArguments& p)
      : m(p.m),
        n(p.n),
        k(p.k),
        alpha(number(p.alpha)),
        beta(number(p.beta)),
        a(p.a),
        b(p.b),
        addend(p.addend),
        c(p.c),
        batch(p),
        tiles_down((p.m + kTile - 1) / kTile),
        tiles_across((p.n + kTile - 1) / kTile),
        tiles(tiles_down * tiles_across * batch_count(p)) {}

  static T number(const Scalar& scalar) {
    if constexpr (std::is_integral_v<T>) {
      return static_cast<T>(scalar.to<int64_t>());
    } else {
      return scalar.to<T>();
    }
  }
};

/// One tile of C a block at a time, one element a thread.
template <typename S, typename R>
__global__ void multiply_tiles(TiledProduct<S, R> p) {
  using T = typename TiledProduct<S, R>::T;
  EBB_SHARED(left, T[kTile][kTile + 1]);
  EBB_SHARED(right, T[kTile][kTile + 1]);
  const int x = static_cast<int>(threadIdx.x) % kTile;
  const int y = static_cast<int>(threadIdx.x) / kTile;
  for (int64_t tile = blockIdx.x; tile < p.tiles; tile += gridDim.x) {
    const auto start = p.batch(tile / (p.tiles_down * p.tiles_across));
    const int64_t first_row = tile / p.tiles_across % p.tiles_down * kTile;
    const int64_t first_column = tile % p.tiles_across * kTile;
    T sum = 0;
    for (int64_t depth = 0; depth < p.k; depth += kTile) {
      const bool has_left = first_row + y < p.m && depth + x < p.k;
      const bool has_right = depth + y < p.k && first_column + x < p.n;
      left[y][x] =
          has_left ? static_cast<T>(p.a.at(start.a, first_row + y, depth + x)) : static_cast<T>(0);
      right[y][x] = has_right ? static_cast<T>(p.b.at(start.b, depth + y, first_column + x))
                              : static_cast<T>(0);
      __syncthreads();
      for (int i = 0; i < kTile; ++i) sum += left[y][i] * right[i][x];
      __syncthreads();
    }
    const int64_t row = first_row + y;
    const int64_t column = first_column + x;
    if (row >= p.m || column >= p.n) continue;
    T result = p.alpha * sum;
    if (p.beta != T{0}) {
      result += p.beta * static_cast<T>(p.addend.at(start.addend, row, column));
    }
    p.c.at(start.c, row, column) = static_cast<R>(result);
  }
}

template <typename S, typename R>
void launch_tiles(const KernelDevice& device, const MatmulArguments& arguments) {
  const TiledProduct<S, R> product(arguments);
  launch(&multiply_tiles<S, R>, blocks_for(product.tiles, 1), kTile * kTile, 0, device.stream(),
         product);
}

/// Calls f(product) for products with at most BatchIndex::kMaxDims batch dimensions that make up
/// this one.
template <typename F>
void for_few_batch_dims(MatmulArguments a, ScalarType result_dtype, F&& f) {
  if (a.batch.size() <= static_cast<size_t>(BatchIndex::kMaxDims)) return f(a);
  const int64_t count = a.batch[0];
  const auto element = static_cast<int64_t>(element_size(a.dtype));
  const auto result = static_cast<int64_t>(element_size(result_dtype));
  const std::pair<MatrixView*, int64_t> views[] = {
      {&a.a, element}, {&a.b, element}, {&a.addend, result}, {&a.c, result}};
  a.batch.erase(0);
  int64_t steps[4] = {};
  for (int v = 0; v < 4; ++v) {
    if (views[v].first->data == nullptr) continue;
    steps[v] = views[v].first->batch_strides[0] * views[v].second;
    views[v].first->batch_strides.erase(0);
  }
  for (int64_t i = 0; i < count; ++i) {
    for_few_batch_dims(a, result_dtype, f);
    for (int v = 0; v < 4; ++v) {
      if (steps[v] != 0) views[v].first->data = static_cast<char*>(views[v].first->data) + steps[v];
    }
  }
}

void multiply_in_tiles(const KernelDevice& device, const MatmulArguments& arguments,
                       ScalarType result_dtype) {
  for_few_batch_dims(arguments, result_dtype, [&](const MatmulArguments& a) {
    dispatch_storage(a.dtype, [&](auto zero) {
      using S = decltype(zero);
      if (result_dtype == a.dtype) return launch_tiles<S, S>(device, a);
      if constexpr (ReducedFloat<S>) launch_tiles<S, float>(device, a);
    });
  });
}

// ---- cuBLAS ----

/// A matrix as cuBLAS takes it: columns of adjacent elements `ld` apart, or their transpose.
struct BlasLayout {
  cublasOperation_t op;
  int64_t ld;
};

std::optional<BlasLayout> layout_of(const MatrixView& view, int64_t rows, int64_t columns) {
  if ((rows == 1 || view.row_stride == 1) && (columns == 1 || view.column_stride >= rows)) {
    return BlasLayout{CUBLAS_OP_N, columns == 1 ? rows : view.column_stride};
  }
  if ((columns == 1 || view.column_stride == 1) && (rows == 1 || view.row_stride >= columns)) {
    return BlasLayout{CUBLAS_OP_T, rows == 1 ? columns : view.row_stride};
  }
  return std::nullopt;
}

/// Copies a batch of matrices to another layout, on the device.
void copy_matrices(const DimVector& sizes, const MatrixView& to, const MatrixView& from,
                   ScalarType dtype) {
  TensorIterator it(sizes);
  for (const MatrixView* view : {&to, &from}) {
    DimVector strides = view->batch_strides;
    strides.push_back(view->row_stride);
    strides.push_back(view->column_stride);
    it.add(view->data, dtype, sizes, strides);
  }
  it.set_compute_type(dtype);
  it.build();
  copy_kernels.copy(it);
}

DimVector sizes_of(const DimVector& batch, int64_t rows, int64_t columns) {
  DimVector sizes = batch;
  sizes.push_back(rows);
  sizes.push_back(columns);
  return sizes;
}

/// A factor in a layout that cuBLAS can read: as it is, or a copy in scratch memory. What is
/// repeated along the batch is copied once.
class Factor {
 public:
  Factor(const MatrixView& view, int64_t rows, int64_t columns, const DimVector& batch,
         ScalarType dtype)
      : view_(view) {
    if (layout_of(view, rows, columns)) return;
    MatrixView from = view;
    DimVector sizes = sizes_of(batch, rows, columns);
    for (size_t d = 0; d < batch.size(); ++d) {
      if (view.batch_strides[d] == 0) sizes[d] = 1;
    }
    const DimVector strides = contiguous_strides(sizes);
    int64_t numel = 1;
    for (const int64_t size : sizes) numel *= size;
    copy_.emplace(static_cast<size_t>(numel) * element_size(dtype));
    view_.data = copy_->data();
    view_.row_stride = columns;
    view_.column_stride = 1;
    for (size_t d = 0; d < batch.size(); ++d) {
      view_.batch_strides[d] = sizes[d] == 1 ? 0 : strides[d];
    }
    copy_matrices(sizes, view_, from, dtype);
  }
  [[nodiscard]] const MatrixView& view() const { return view_; }

 private:
  MatrixView view_;
  std::optional<Workspace> copy_;
};

/// Merges batch dimensions that are one run for a, b and c, and drops those of size one.
void merge_batch(MatmulArguments& a) {
  const auto erase = [&](size_t d) {
    a.batch.erase(d);
    for (MatrixView* view : {&a.a, &a.b, &a.c}) view->batch_strides.erase(d);
  };
  for (size_t d = a.batch.size(); d-- > 0;) {
    if (a.batch[d] == 1) {
      erase(d);
      continue;
    }
    if (d + 1 == a.batch.size()) continue;
    bool is_run = true;
    for (const MatrixView* view : {&a.a, &a.b, &a.c}) {
      is_run &= view->batch_strides[d] == view->batch_strides[d + 1] * a.batch[d + 1];
    }
    if (!is_run) continue;
    a.batch[d + 1] *= a.batch[d];
    erase(d);
  }
}

/// The same product with all matrices transposed: c^T = b^T a^T.
void turn(MatmulArguments& a) {
  std::swap(a.m, a.n);
  std::swap(a.a, a.b);
  for (MatrixView* view : {&a.a, &a.b, &a.addend, &a.c}) {
    std::swap(view->row_stride, view->column_stride);
  }
}

cudaDataType_t data_type(ScalarType dtype) {
  return dtype == kDouble     ? CUDA_R_64F
         : dtype == kHalf     ? CUDA_R_16F
         : dtype == kBFloat16 ? CUDA_R_16BF
                              : CUDA_R_32F;
}

cublasComputeType_t compute_type_of(ScalarType dtype) {
  if (dtype == kDouble) return CUBLAS_COMPUTE_64F;
  return dtype == kFloat && allow_tf32_matmul() ? CUBLAS_COMPUTE_32F_FAST_TF32 : CUBLAS_COMPUTE_32F;
}

/// alpha and beta in the type that cuBLAS computes in.
union BlasScalar {
  float single;
  double twice;

  BlasScalar(const Scalar& scalar, ScalarType dtype) {
    if (dtype == kDouble)
      twice = scalar.to<double>();
    else
      single = scalar.to<float>();
  }
};

/// Writes where the matrices of each product of a batch start.
__global__ void write_pointers(BatchIndex batch, const char* a, const char* b, char* c,
                               int64_t element, int64_t result, int64_t count,
                               const void** pointers) {
  for (int64_t i = static_cast<int64_t>(blockIdx.x) * blockDim.x + threadIdx.x; i < count;
       i += static_cast<int64_t>(gridDim.x) * blockDim.x) {
    const auto start = batch(i);
    pointers[i] = a + start.a * element;
    pointers[count + i] = b + start.b * element;
    pointers[2 * count + i] = c + start.c * result;
  }
}

/// A product that is ready for cuBLAS: `c` has adjacent columns, beta applies to it.
class BlasProduct {
 public:
  BlasProduct(const MatmulArguments& arguments, ScalarType result_dtype)
      : p_(arguments),
        alpha_(arguments.alpha, arguments.dtype),
        beta_(arguments.beta, arguments.dtype),
        type_(data_type(arguments.dtype)),
        result_dtype_(result_dtype),
        compute_(compute_type_of(arguments.dtype)),
        a_(*layout_of(arguments.a, arguments.m, arguments.k)),
        b_(*layout_of(arguments.b, arguments.k, arguments.n)),
        c_(*layout_of(arguments.c, arguments.m, arguments.n)) {}

  void run(const KernelDevice& device) const {
    if (p_.batch.empty()) return run_single(device);
    if (p_.batch.size() == 1) return run_strided(device);
    for_few_batch_dims(p_, result_dtype_, [&](const MatmulArguments& few) {
      BlasProduct part = *this;
      part.p_ = few;
      part.run_pointers(device);
    });
  }

 private:
  void run_single(const KernelDevice& device) const {
    EBB_CUBLAS_CHECK(cublasGemmEx_64(blas_handle(device), a_.op, b_.op, p_.m, p_.n, p_.k, &alpha_,
                                     p_.a.data, type_, a_.ld, p_.b.data, type_, b_.ld, &beta_,
                                     p_.c.data, data_type(result_dtype_), c_.ld, compute_,
                                     CUBLAS_GEMM_DEFAULT));
  }

  void run_strided(const KernelDevice& device) const {
    EBB_CUBLAS_CHECK(cublasGemmStridedBatchedEx_64(
        blas_handle(device), a_.op, b_.op, p_.m, p_.n, p_.k, &alpha_, p_.a.data, type_, a_.ld,
        p_.a.batch_strides[0], p_.b.data, type_, b_.ld, p_.b.batch_strides[0], &beta_, p_.c.data,
        data_type(result_dtype_), c_.ld, p_.c.batch_strides[0], p_.batch[0], compute_,
        CUBLAS_GEMM_DEFAULT));
  }

  void run_pointers(const KernelDevice& device) const {
    const int64_t count = batch_count(p_);
    const Workspace scratch(3 * static_cast<size_t>(count) * sizeof(void*));
    auto** pointers = scratch.as<const void*>();
    launch(&write_pointers, blocks_for(count), kBlockThreads, 0, device.stream(), BatchIndex(p_),
           static_cast<const char*>(p_.a.data), static_cast<const char*>(p_.b.data),
           static_cast<char*>(p_.c.data), static_cast<int64_t>(element_size(p_.dtype)),
           static_cast<int64_t>(element_size(result_dtype_)), count, pointers);
    EBB_CUBLAS_CHECK(cublasGemmBatchedEx_64(
        blas_handle(device), a_.op, b_.op, p_.m, p_.n, p_.k, &alpha_, pointers, type_, a_.ld,
        pointers + count, type_, b_.ld, &beta_, const_cast<void**>(pointers + 2 * count),
        data_type(result_dtype_), c_.ld, count, compute_, CUBLAS_GEMM_DEFAULT));
  }

  MatmulArguments p_;
  BlasScalar alpha_;
  BlasScalar beta_;
  cudaDataType_t type_;
  ScalarType result_dtype_;
  cublasComputeType_t compute_;
  BlasLayout a_;
  BlasLayout b_;
  BlasLayout c_;
};

bool is_same(const MatrixView& x, const MatrixView& y) {
  return x.data == y.data && x.row_stride == y.row_stride && x.column_stride == y.column_stride &&
         IntArrayRef(x.batch_strides) == IntArrayRef(y.batch_strides);
}

void multiply_by_blas(const KernelDevice& device, MatmulArguments a, ScalarType result_dtype) {
  if (a.beta.to<double>() != 0 && !is_same(a.addend, a.c)) {
    copy_matrices(sizes_of(a.batch, a.m, a.n), a.c, a.addend, result_dtype);
  }
  const Factor left(a.a, a.m, a.k, a.batch, a.dtype);
  const Factor right(a.b, a.k, a.n, a.batch, a.dtype);
  a.a = left.view();
  a.b = right.view();
  a.addend = {};
  merge_batch(a);
  if (layout_of(a.c, a.m, a.n)->op == CUBLAS_OP_T) turn(a);
  BlasProduct(a, result_dtype).run(device);
}

void product(const MatmulArguments& arguments) {
  const KernelDevice device;
  multiply(device, arguments, arguments.dtype);
}

}  // namespace

void multiply(const KernelDevice& device, const MatmulArguments& arguments,
              ScalarType result_dtype) {
  const bool suits_blas = is_floating_point(arguments.dtype) && arguments.k > 0 &&
                          layout_of(arguments.c, arguments.m, arguments.n).has_value();
  if (suits_blas) return multiply_by_blas(device, arguments, result_dtype);
  multiply_in_tiles(device, arguments, result_dtype);
}

extern const MatmulKernels matmul_kernels = {&product};

}  // namespace ebb::cuda
