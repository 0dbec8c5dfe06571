#include <ebb/core/ops/embedding.h>

#include <ebb/core/error.h>
#include <ebb/core/ops/elementwise.h>
#include <ebb/core/ops/factory.h>
#include <ebb/core/ops/fill.h>
#include <ebb/core/ops/index.h>
#include <ebb/core/ops/row_major.h>
#include <ebb/core/ops/same_device.h>

namespace ebb::ops {
namespace {

/// The same elements under other sizes; `tensor` is contiguous.
TensorBase viewed(const TensorBase& tensor, IntArrayRef sizes) {
  return TensorBase(make_intrusive<TensorImpl>(tensor.storage(), tensor.scalar_type(),
                                               tensor.device(), sizes, contiguous_strides(sizes),
                                               tensor.storage_offset()));
}

TensorBase flat(const TensorBase& tensor) {
  const TensorBase dense = row_major(tensor);
  return viewed(dense, dense.numel());
}

/// How often each of `size` indices occurs, as [size, 1] of float32.
TensorBase frequencies(const TensorBase& indices, int64_t size) {
  const TensorBase ones = empty(indices.sizes(), kFloat, indices.device());
  fill_fresh(ones, 1);
  const TensorBase counts = empty(size, kFloat, indices.device());
  fill_fresh(counts, 0);
  index_add_(counts, 0, indices, ones, 1);
  const Scalar least[] = {1};
  elementwise_(ElementwiseOp::ClampMin, counts, {counts}, least);
  return viewed(counts, {size, 1});
}

}  // namespace

TensorBase embedding(const TensorBase& weight, const TensorBase& indices) {
  EBB_CHECK(weight.dim() == 2, "the weight must be a matrix, got sizes ", weight.sizes());
  check_same_device("weight", weight, "indices", indices);
  DimVector sizes(indices.sizes());
  sizes.push_back(weight.size(1));
  return viewed(index_select(weight, 0, flat(indices)), sizes);
}

TensorBase embedding_backward(const TensorBase& grad_output, const TensorBase& indices,
                              int64_t num_weights, int64_t padding_idx, bool scale_grad_by_freq) {
  DimVector expected(indices.sizes());
  const int64_t width = grad_output.dim() == 0 ? 1 : grad_output.sizes().back();
  expected.push_back(width);
  EBB_CHECK(grad_output.sizes() == IntArrayRef(expected), "grad_output of sizes ",
            grad_output.sizes(), " does not fit indices of sizes ", indices.sizes());
  check_same_device("grad_output", grad_output, "indices", indices);
  EBB_CHECK(padding_idx < num_weights, "padding_idx ", padding_idx, " is out of range: there are ",
            num_weights, " rows");
  const TensorBase rows = checked_indices(flat(indices), 0, num_weights);
  const TensorBase grads = viewed(row_major(grad_output), {rows.numel(), width});
  TensorBase result = empty({num_weights, width}, grad_output.scalar_type(), grad_output.device());
  fill_fresh(result, 0);
  index_add_(result, 0, rows, grads, 1);
  if (scale_grad_by_freq) {
    elementwise_(ElementwiseOp::Div, result, {result, frequencies(rows, num_weights)});
  }
  if (padding_idx >= 0) {
    const TensorBase padding(make_intrusive<TensorImpl>(
        result.storage(), result.scalar_type(), result.device(), IntArrayRef(width),
        IntArrayRef(int64_t{1}), padding_idx * width));
    fill_fresh(padding, 0);
  }
  return viewed(result, {num_weights, width});
}

}  // namespace ebb::ops
