#include <ebb/core/ops/matmul.h>

#include <ebb/core/error.h>
#include <ebb/core/ops/copy.h>
#include <ebb/core/ops/elementwise.h>
#include <ebb/core/ops/factory.h>
#include <ebb/core/ops/kernels.h>
#include <ebb/core/ops/matmul_kernels.h>
#include <ebb/core/ops/same_device.h>

namespace ebb::ops {
namespace {

void check_pair(const char* a_name, const TensorBase& a, const char* b_name, const TensorBase& b) {
  EBB_CHECK(a.scalar_type() == b.scalar_type(),
            "expected both tensors to have the same dtype, got ", a.scalar_type(), " of sizes ",
            a.sizes(), " and ", b.scalar_type(), " of sizes ", b.sizes(),
            "; convert one with .to()");
  check_same_device(a_name, a, b_name, b);
}

void check_dim(const TensorBase& tensor, const char* name, int64_t dim) {
  EBB_CHECK(tensor.dim() == dim, "expected ", name, " to have ", dim, " dimension",
            dim == 1 ? "" : "s", ", got sizes ", tensor.sizes());
}

[[noreturn]] void raise_shapes(const TensorBase& a, const TensorBase& b) {
  ebb::detail::raise<Error>(ebb::detail::concat("shapes cannot be multiplied: sizes ", a.sizes(),
                                                " and ", b.sizes(),
                                                " (the inner dimensions must be equal)"));
}

/// The last two dimensions of a tensor as a matrix, those before as a batch of `batch_dims`
/// dimensions: what is missing or of size one repeats.
MatrixView view_of(const TensorBase& tensor, IntArrayRef batch) {
  MatrixView view{.data = tensor.data_ptr(), .batch_strides = {}};
  const IntArrayRef sizes = tensor.sizes();
  const IntArrayRef strides = tensor.strides();
  view.row_stride = strides[strides.size() - 2];
  view.column_stride = strides[strides.size() - 1];
  const size_t missing = batch.size() + 2 - sizes.size();
  for (size_t d = 0; d < batch.size(); ++d) {
    const bool repeats = d < missing || (sizes[d - missing] == 1 && batch[d] != 1);
    view.batch_strides.push_back(repeats ? 0 : strides[d - missing]);
  }
  return view;
}

/// A vector as a row or as a column, for any batch.
MatrixView vector_view(const TensorBase& vector, bool is_row, size_t batch_dims) {
  MatrixView view{.data = vector.data_ptr(), .batch_strides = DimVector(batch_dims)};
  (is_row ? view.column_stride : view.row_stride) = vector.strides()[0];
  return view;
}

void drop_batch_dim(MatmulArguments& a, size_t d) {
  a.batch.erase(d);
  for (MatrixView* view : {&a.a, &a.b, &a.addend, &a.c}) {
    if (!view->batch_strides.empty()) view->batch_strides.erase(d);
  }
}

/// Whether rows and batch dimension d are one run of rows in this matrix.
bool is_one_run(const MatrixView& view, size_t d, int64_t rows) {
  return view.data == nullptr || rows == 1 || view.batch_strides[d] == view.row_stride * rows;
}

/// Makes batch dimensions rows where b is the same for all of them: one large product instead of
/// many small ones.
void fold_batch(MatmulArguments& a) {
  for (size_t d = a.batch.size(); d-- > 0;) {
    if (a.batch[d] == 1) drop_batch_dim(a, d);
  }
  while (!a.batch.empty()) {
    const size_t d = a.batch.size() - 1;
    if (a.b.batch_strides[d] != 0) return;
    for (const MatrixView* view : {&a.a, &a.addend, &a.c}) {
      if (!is_one_run(*view, d, a.m)) return;
    }
    if (a.m == 1) {
      for (MatrixView* view : {&a.a, &a.addend, &a.c}) {
        if (view->data != nullptr) view->row_stride = view->batch_strides[d];
      }
    }
    a.m *= a.batch[d];
    drop_batch_dim(a, d);
  }
}

void run(MatmulArguments& arguments, const TensorBase& result) {
  if (result.numel() == 0) return;
  fold_batch(arguments);
  kernels(result.device()).matmul->product(arguments);
}

/// addmm to a result that is there.
void product(const TensorBase& a, const TensorBase& b, const TensorBase& addend,
             const TensorBase& result, const Scalar& beta, const Scalar& alpha) {
  MatmulArguments arguments{.m = a.size(-2),
                            .n = b.size(-1),
                            .k = a.size(-1),
                            .batch = result.sizes().slice(0, result.sizes().size() - 2),
                            .dtype = a.scalar_type(),
                            .alpha = alpha,
                            .beta = beta,
                            .a = {},
                            .b = {},
                            .addend = {},
                            .c = {}};
  arguments.a = view_of(a, arguments.batch);
  arguments.b = view_of(b, arguments.batch);
  arguments.c = view_of(result, arguments.batch);
  if (addend.defined()) arguments.addend = view_of(addend, arguments.batch);
  run(arguments, result);
}

TensorBase plain_product(const TensorBase& a, const TensorBase& b, IntArrayRef sizes) {
  TensorBase result = empty(sizes, a.scalar_type(), a.device());
  product(a, b, TensorBase(), result, 0, 1);
  return result;
}

void check_mm(const TensorBase& self, const TensorBase& mat2, const char* first,
              const char* second) {
  check_dim(self, first, 2);
  check_dim(mat2, second, 2);
  check_pair("self", self, "mat2", mat2);
  if (self.size(1) != mat2.size(0)) raise_shapes(self, mat2);
}

void check_addend(const TensorBase& self, const TensorBase& mat1, const TensorBase& mat2) {
  check_mm(mat1, mat2, "mat1", "mat2");
  check_pair("self", self, "mat1", mat1);
}

/// `self` seen as a matrix of `sizes`, to which it broadcasts.
MatrixView broadcast_view(const TensorBase& self, IntArrayRef sizes) {
  MatrixView view{.data = self.data_ptr(), .batch_strides = {}};
  const auto stride = [&](int64_t from_end) {
    if (self.dim() < from_end) return int64_t{0};
    const int64_t size = self.size(-from_end);
    return size == 1 && sizes[sizes.size() - static_cast<size_t>(from_end)] != 1
               ? int64_t{0}
               : self.stride(-from_end);
  };
  view.row_stride = stride(2);
  view.column_stride = stride(1);
  return view;
}

void add_product(const TensorBase& self, const TensorBase& mat1, const TensorBase& mat2,
                 const TensorBase& result, const Scalar& beta, const Scalar& alpha) {
  EBB_CHECK(is_floating_point(self.scalar_type()) ||
                (!alpha.is_floating_point() && !beta.is_floating_point()),
            "for integer tensors alpha and beta must be integers; self is ", self.scalar_type());
  MatmulArguments arguments{.m = mat1.size(0),
                            .n = mat2.size(1),
                            .k = mat1.size(1),
                            .batch = {},
                            .dtype = mat1.scalar_type(),
                            .alpha = alpha,
                            .beta = beta,
                            .a = view_of(mat1, {}),
                            .b = view_of(mat2, {}),
                            .addend = {},
                            .c = view_of(result, {})};
  if (beta.to<double>() != 0) arguments.addend = broadcast_view(self, result.sizes());
  run(arguments, result);
}

/// The sizes of a batch product without the last two; throws if they do not broadcast.
DimVector batch_sizes(const TensorBase& a, const TensorBase& b) {
  const auto batch = [](const TensorBase& t) {
    return t.sizes().slice(0, t.sizes().size() < 2 ? 0 : t.sizes().size() - 2);
  };
  return broadcast_shapes(batch(a), batch(b));
}

}  // namespace

TensorBase mm(const TensorBase& self, const TensorBase& mat2) {
  check_mm(self, mat2, "self", "mat2");
  return plain_product(self, mat2, {self.size(0), mat2.size(1)});
}

TensorBase bmm(const TensorBase& self, const TensorBase& mat2) {
  check_dim(self, "self", 3);
  check_dim(mat2, "mat2", 3);
  check_pair("self", self, "mat2", mat2);
  EBB_CHECK(self.size(0) == mat2.size(0), "the batches have different sizes: ", self.sizes(),
            " and ", mat2.sizes());
  if (self.size(2) != mat2.size(1)) raise_shapes(self, mat2);
  return plain_product(self, mat2, {self.size(0), self.size(1), mat2.size(2)});
}

TensorBase mv(const TensorBase& self, const TensorBase& vec) {
  check_dim(self, "self", 2);
  check_dim(vec, "vec", 1);
  return matmul(self, vec);
}

TensorBase dot(const TensorBase& self, const TensorBase& tensor) {
  check_dim(self, "self", 1);
  check_dim(tensor, "tensor", 1);
  return matmul(self, tensor);
}

TensorBase matmul(const TensorBase& self, const TensorBase& other) {
  EBB_CHECK(self.dim() > 0 && other.dim() > 0,
            "both arguments need at least one dimension, got sizes ", self.sizes(), " and ",
            other.sizes());
  check_pair("self", self, "other", other);
  const bool row = self.dim() == 1;
  const bool column = other.dim() == 1;
  const int64_t k = self.size(-1);
  if (k != other.size(column ? 0 : -2)) raise_shapes(self, other);
  const int64_t m = row ? 1 : self.size(-2);
  const int64_t n = column ? 1 : other.size(-1);
  const DimVector batch = batch_sizes(self, other);
  DimVector sizes = batch;
  if (!row) sizes.push_back(m);
  if (!column) sizes.push_back(n);
  TensorBase result = empty(sizes, self.scalar_type(), self.device());
  MatmulArguments arguments{
      .m = m,
      .n = n,
      .k = k,
      .batch = batch,
      .dtype = self.scalar_type(),
      .a = row ? vector_view(self, true, batch.size()) : view_of(self, batch),
      .b = column ? vector_view(other, false, batch.size()) : view_of(other, batch),
      .addend = {},
      .c = {.data = result.data_ptr(),
            .row_stride = n,
            .column_stride = 1,
            .batch_strides = contiguous_strides(batch)}};
  for (int64_t& stride : arguments.c.batch_strides) stride *= m * n;
  run(arguments, result);
  return result;
}

TensorBase addmm(const TensorBase& self, const TensorBase& mat1, const TensorBase& mat2,
                 const Scalar& beta, const Scalar& alpha) {
  check_addend(self, mat1, mat2);
  const DimVector sizes{mat1.size(0), mat2.size(1)};
  EBB_CHECK(is_expandable_to(self.sizes(), sizes), "self of sizes ", self.sizes(),
            " does not broadcast to the sizes ", sizes, " of the product");
  TensorBase result = empty(sizes, self.scalar_type(), self.device());
  add_product(self, mat1, mat2, result, beta, alpha);
  return result;
}

void addmm_(const TensorBase& self, const TensorBase& mat1, const TensorBase& mat2,
            const Scalar& beta, const Scalar& alpha) {
  check_addend(self, mat1, mat2);
  const DimVector sizes{mat1.size(0), mat2.size(1)};
  EBB_CHECK(self.sizes() == IntArrayRef(sizes), "self has sizes ", self.sizes(),
            ", but the product has ", sizes, "; in place they must be equal");
  check_writable(self);
  if (self.is_alias_of(mat1) || self.is_alias_of(mat2)) {
    return copy_(self, addmm(self, mat1, mat2, beta, alpha));
  }
  add_product(self, mat1, mat2, self, beta, alpha);
  self.impl()->bump_version();
}

TensorBase linear(const TensorBase& input, const TensorBase& weight,
                  const std::optional<TensorBase>& bias) {
  EBB_CHECK(input.dim() > 0 && (weight.dim() == 2 || weight.dim() == 1),
            "expected input [..., in] and weight [out, in] or [in], got sizes ", input.sizes(),
            " and ", weight.sizes());
  check_pair("input", input, "weight", weight);
  const int64_t k = input.size(-1);
  if (k != weight.size(-1)) raise_shapes(input, weight);
  const bool is_vector = weight.dim() == 1;
  const int64_t n = is_vector ? 1 : weight.size(0);
  DimVector sizes(input.sizes());
  sizes.pop_back();
  const DimVector batch = sizes;
  if (!is_vector) sizes.push_back(n);
  MatmulArguments arguments{.m = 1,
                            .n = n,
                            .k = k,
                            .batch = batch,
                            .dtype = input.scalar_type(),
                            .a = {.data = input.data_ptr(),
                                  .row_stride = 0,
                                  .column_stride = input.stride(-1),
                                  .batch_strides = input.strides().slice(0, batch.size())},
                            .b = {.data = weight.data_ptr(),
                                  .row_stride = weight.stride(-1),
                                  .column_stride = is_vector ? 0 : weight.stride(0),
                                  .batch_strides = DimVector(batch.size())},
                            .addend = {},
                            .c = {}};
  if (bias && bias->defined()) {
    check_pair("input", input, "bias", *bias);
    EBB_CHECK(is_expandable_to(bias->sizes(), is_vector ? IntArrayRef() : IntArrayRef(n)),
              "bias of sizes ", bias->sizes(), " does not fit weight of sizes ", weight.sizes());
    arguments.beta = 1;
    arguments.addend = {.data = bias->data_ptr(),
                        .row_stride = 0,
                        .column_stride = bias->numel() == 1 ? 0 : bias->stride(-1),
                        .batch_strides = DimVector(batch.size())};
  }
  TensorBase result = empty(sizes, input.scalar_type(), input.device());
  arguments.c = {.data = result.data_ptr(),
                 .row_stride = 0,
                 .column_stride = 1,
                 .batch_strides = contiguous_strides(batch)};
  for (int64_t& stride : arguments.c.batch_strides) stride *= n;
  run(arguments, result);
  return result;
}

}  // namespace ebb::ops
