#include <ebb/core/ops/attention.h>

#include <ebb/core/error.h>
#include <ebb/core/memory/block.h>
#include <ebb/core/ops/attention_kernels.h>
#include <ebb/core/ops/factory.h>
#include <ebb/core/ops/kernels.h>
#include <ebb/core/random/generator.h>
#include <ebb/core/tensor/shape.h>

namespace ebb::ops {
namespace {

IntArrayRef batch_of(const TensorBase& tensor) {
  return tensor.sizes().slice(0, tensor.sizes().size() - 2);
}

void check_same(const TensorBase& query, const TensorBase& other, const char* name) {
  EBB_CHECK(other.dim() >= 2, name, " needs at least two dimensions, got sizes ", other.sizes());
  EBB_CHECK(other.scalar_type() == query.scalar_type(), "query has dtype ", query.scalar_type(),
            ", ", name, " ", other.scalar_type(), "; convert one with .to()");
  EBB_CHECK(other.device() == query.device(), "query is on ", query.device(), ", ", name, " on ",
            other.device());
}

/// The last two dimensions as a matrix, those before broadcast to `batch`; dimensions of size one
/// repeat.
MatrixView view_of(const TensorBase& tensor, IntArrayRef batch, int64_t rows, int64_t columns) {
  const IntArrayRef sizes = tensor.sizes();
  const IntArrayRef strides = tensor.strides();
  const auto stride = [&](size_t from_end, int64_t size) {
    if (from_end > sizes.size()) return int64_t{0};
    const size_t d = sizes.size() - from_end;
    return sizes[d] == 1 && size != 1 ? int64_t{0} : strides[d];
  };
  MatrixView view{.data = tensor.data_ptr(),
                  .row_stride = stride(2, rows),
                  .column_stride = stride(1, columns),
                  .batch_strides = {}};
  for (size_t d = 0; d < batch.size(); ++d) {
    view.batch_strides.push_back(stride(batch.size() - d + 2, batch[d]));
  }
  return view;
}

/// Drops batch dimensions of size one and merges those that are one run for all tensors.
void merge_batch(AttentionArguments& a) {
  MatrixView* const views[] = {&a.query, &a.key, &a.value, &a.mask, &a.grad_output};
  const auto erase = [&](size_t d) {
    a.batch.erase(d);
    for (MatrixView* view : views) {
      if (!view->batch_strides.empty()) view->batch_strides.erase(d);
    }
  };
  const auto is_run = [&](size_t d) {
    for (const MatrixView* view : views) {
      if (!view->batch_strides.empty() &&
          view->batch_strides[d] != view->batch_strides[d + 1] * a.batch[d + 1]) {
        return false;
      }
    }
    return true;
  };
  for (size_t d = a.batch.size(); d-- > 0;) {
    if (a.batch[d] == 1) {
      erase(d);
    } else if (d + 1 < a.batch.size() && is_run(d)) {
      a.batch[d + 1] *= a.batch[d];
      erase(d);
    }
  }
  EBB_CHECK(a.batch.size() <= AttentionArguments::kMaxBatchDims, "more than ",
            AttentionArguments::kMaxBatchDims,
            " batch dimensions do not merge; make query, key and value contiguous");
}

AttentionArguments arguments_of(const TensorBase& query, const TensorBase& key,
                                const TensorBase& value, const AttentionParameters& parameters,
                                const DimVector& batch) {
  const TensorBase& mask = parameters.mask;
  AttentionArguments a{.queries = query.size(-2),
                       .keys = key.size(-2),
                       .width = query.size(-1),
                       .value_width = value.size(-1),
                       .batch = batch,
                       .dtype = query.scalar_type(),
                       .scale = parameters.scale,
                       .is_causal = parameters.is_causal,
                       .dropout_p = parameters.dropout_p,
                       .draw = parameters.draw,
                       .query = {},
                       .key = {},
                       .value = {},
                       .mask = {},
                       .output = nullptr,
                       .log_sum_exp = nullptr,
                       .grad_output = {}};
  a.query = view_of(query, batch, a.queries, a.width);
  a.key = view_of(key, batch, a.keys, a.width);
  a.value = view_of(value, batch, a.keys, a.value_width);
  if (mask.defined() && mask.numel() > 0) {
    a.mask = view_of(mask, batch, a.queries, a.keys);
    a.mask_is_bool = mask.scalar_type() == kBool;
  }
  return a;
}

ScalarType statistics_type(const TensorBase& tensor) {
  return tensor.scalar_type() == kDouble ? kDouble : kFloat;
}

}  // namespace

bool has_attention_kernel(const TensorBase& query, const TensorBase& value) {
  return query.size(-1) <= AttentionArguments::kMaxWidth &&
         value.size(-1) <= AttentionArguments::kMaxWidth;
}

DimVector check_attention(const TensorBase& query, const TensorBase& key, const TensorBase& value,
                          const TensorBase& mask) {
  EBB_CHECK(query.dim() >= 2, "query needs at least two dimensions, got sizes ", query.sizes());
  EBB_CHECK(is_floating_point(query.scalar_type()), "expected floating-point tensors, got ",
            query.scalar_type());
  check_same(query, key, "key");
  check_same(query, value, "value");
  EBB_CHECK(query.size(-1) == key.size(-1) && query.size(-1) > 0, "query has sizes ", query.sizes(),
            ", key ", key.sizes(), ": their last dimensions must be equal");
  EBB_CHECK(key.size(-2) == value.size(-2), "key has sizes ", key.sizes(), ", value ",
            value.sizes(), ": each key needs a value");
  const DimVector batch =
      broadcast_shapes(broadcast_shapes(batch_of(query), batch_of(key)), batch_of(value));
  if (!mask.defined()) return batch;
  EBB_CHECK(mask.scalar_type() == kBool || mask.scalar_type() == query.scalar_type(),
            "attn_mask has dtype ", mask.scalar_type(), "; it must be Bool or that of query, ",
            query.scalar_type());
  EBB_CHECK(mask.device() == query.device(), "query is on ", query.device(), ", attn_mask on ",
            mask.device());
  DimVector scores = batch;
  scores.push_back(query.size(-2));
  scores.push_back(key.size(-2));
  EBB_CHECK(is_expandable_to(mask.sizes(), scores), "attn_mask of sizes ", mask.sizes(),
            " does not broadcast to the sizes ", scores, " of the scores");
  return batch;
}

random::Reservation reserve_attention_dropout(const TensorBase& query, const TensorBase& key,
                                              IntArrayRef batch) {
  int64_t weights = query.size(-2) * key.size(-2);
  for (const int64_t size : batch) weights *= size;
  return current_generator(query.device()).reserve(random::counters_for_32bit(weights));
}

Attention scaled_dot_product_attention(const TensorBase& query, const TensorBase& key,
                                       const TensorBase& value,
                                       const AttentionParameters& parameters) {
  const DimVector batch = check_attention(query, key, value, parameters.mask);
  DimVector sizes = batch;
  sizes.push_back(query.size(-2));
  TensorBase log_sum_exp = empty(sizes, statistics_type(query), query.device());
  sizes.push_back(value.size(-1));
  TensorBase output = empty(sizes, query.scalar_type(), query.device());
  if (log_sum_exp.numel() > 0) {
    AttentionArguments a = arguments_of(query, key, value, parameters, batch);
    a.output = output.data_ptr();
    a.log_sum_exp = log_sum_exp.data_ptr();
    merge_batch(a);
    kernels(query.device()).attention->forward(a);
  }
  return {std::move(output), std::move(log_sum_exp)};
}

std::array<TensorBase, 3> scaled_dot_product_attention_backward(
    const TensorBase& grad_output, const TensorBase& query, const TensorBase& key,
    const TensorBase& value, const Attention& forward, const AttentionParameters& parameters,
    const std::array<bool, 3>& wanted) {
  const DimVector batch = check_attention(query, key, value, parameters.mask);
  check_same(query, grad_output, "grad_output");
  EBB_CHECK(grad_output.sizes() == forward.output.sizes(), "grad_output has sizes ",
            grad_output.sizes(), ", the output ", forward.output.sizes());
  const auto gradient = [&](bool is_wanted, const TensorBase& of) {
    if (!is_wanted) return TensorBase();
    DimVector sizes = batch;
    sizes.push_back(of.size(-2));
    sizes.push_back(of.size(-1));
    return empty(sizes, of.scalar_type(), of.device());
  };
  std::array<TensorBase, 3> result = {gradient(wanted[0], query), gradient(wanted[1], key),
                                      gradient(wanted[2], value)};
  const int64_t rows = forward.log_sum_exp.numel();
  const memory::Workspace products(static_cast<size_t>(rows) * element_size(statistics_type(query)),
                                   query.device());
  AttentionArguments a = arguments_of(query, key, value, parameters, batch);
  a.output = forward.output.data_ptr();
  a.log_sum_exp = forward.log_sum_exp.data_ptr();
  a.grad_output = view_of(grad_output, batch, a.queries, a.value_width);
  a.products = products.data();
  void** const targets[] = {&a.grad_query, &a.grad_key, &a.grad_value};
  bool is_empty = true;
  for (size_t i = 0; i < 3; ++i) {
    if (!result[i].defined() || result[i].numel() == 0) continue;
    *targets[i] = result[i].data_ptr();
    is_empty = false;
  }
  if (is_empty) return result;
  merge_batch(a);
  kernels(query.device()).attention->backward(a);
  return result;
}

}  // namespace ebb::ops
