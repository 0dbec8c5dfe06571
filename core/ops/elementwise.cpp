#include <ebb/core/ops/elementwise.h>

#include <algorithm>
#include <utility>

#include <ebb/core/ops/copy.h>
#include <ebb/core/ops/factory.h>
#include <ebb/core/ops/functors/table.h>
#include <ebb/core/ops/kernels.h>
#include <ebb/core/ops/same_device.h>

namespace ebb::ops {

namespace {

using functors::Result;

/// The rule for the dtype of each functor's result.
template <typename List>
struct Rules;
template <typename... Functors>
struct Rules<functors::List<Functors...>> {
  static constexpr Result rules[] = {Functors::result...};
};
constexpr const Result* kRules[kElementwiseFamilies] = {
    Rules<functors::UnaryList>::rules, Rules<functors::ActivationList>::rules,
    Rules<functors::BinaryList>::rules, Rules<functors::CompareList>::rules};

Result rule_of(ElementwiseOp op) {
  const auto number = static_cast<unsigned>(op);
  return kRules[number / 256][number % 256];
}

ScalarType dtype_of(const Scalar& scalar) {
  return scalar.is_floating_point() ? get_default_dtype() : scalar.type();
}

// Bool < integer < floating point.
int kind(ScalarType dtype) { return dtype == kBool ? 0 : is_floating_point(dtype) ? 2 : 1; }

ScalarType promote_defined(ScalarType a, ScalarType b) {
  if (a == ScalarType::Undefined) return b;
  return b == ScalarType::Undefined ? a : promote_types(a, b);
}

/// What a class of arguments that ranks higher makes of one that ranks lower.
ScalarType combine(ScalarType higher, ScalarType lower) {
  if (higher == ScalarType::Undefined) return lower;
  if (lower == ScalarType::Undefined || kind(higher) >= kind(lower)) return higher;
  return promote_types(higher, lower);
}

/// The dtype in which the functor computes: integers become floating-point where it demands.
ScalarType compute_dtype(Result rule, ScalarType common) {
  return rule == Result::floating && !is_floating_point(common) ? get_default_dtype() : common;
}

/// Whether the first input is a tensor, and all tensors are contiguous and like it in sizes and
/// device: nothing to broadcast or reorder.
bool is_plain(Arguments inputs) {
  const Argument& first = *inputs.begin();
  if (!first.is_tensor()) return false;
  const TensorBase& like = first.tensor();
  if (!like.is_contiguous()) return false;
  for (const Argument* input = &first + 1; input != inputs.end(); ++input) {
    if (!input->is_tensor()) continue;
    const TensorBase& tensor = input->tensor();
    if (!tensor.is_contiguous() || tensor.sizes() != like.sizes() ||
        !(tensor.device() == like.device())) {
      return false;
    }
  }
  return true;
}

/// result_type, in short where all tensors have one dtype and numbers do not change it.
ScalarType common_type(Arguments inputs) {
  const Argument& first = *inputs.begin();
  if (!first.is_tensor()) return result_type(inputs);
  const ScalarType dtype = first.tensor().scalar_type();
  for (const Argument* input = &first + 1; input != inputs.end(); ++input) {
    const bool same = input->is_tensor() ? input->tensor().scalar_type() == dtype
                                         : kind(input->scalar().type()) <= kind(dtype);
    if (!same) return result_type(inputs);
  }
  return dtype;
}

void run_plain(ElementwiseOp op, ScalarType compute, const TensorBase& out, Arguments inputs,
               const Scalar* parameters) {
  TensorIterator it(TensorIterator::Contiguous{}, out.numel());
  it.set_compute_type(compute);
  it.add_contiguous(out.data_ptr(), out.scalar_type());
  for (const Argument& input : inputs) {
    if (input.is_tensor()) {
      it.add_contiguous(input.tensor().data_ptr(), input.tensor().scalar_type());
    } else {
      it.add(input.scalar());
    }
  }
  kernels(out.device())[op](it, parameters);
}

void run(ElementwiseOp op, ScalarType compute, const TensorBase& out, Arguments inputs,
         const Scalar* parameters) {
  TensorIterator it(out.sizes());
  it.set_compute_type(compute);
  it.add(out);
  for (const Argument& input : inputs) {
    if (!input.is_tensor()) {
      it.add(input.scalar());
    } else if (input.tensor().device() == out.device()) {
      it.add(input.tensor());
    } else {
      const TensorBase& number = input.tensor();
      if (!number.is_cpu() || number.dim() > 0) check_same_device("self", out, "other", number);
      it.add(item(number));
    }
  }
  it.build();
  kernels(out.device())[op](it, parameters);
}

/// The device of the result. Tensors without dimensions may come from the CPU, as numbers.
Device common_device(Arguments inputs) {
  const TensorBase* leading = nullptr;
  for (const Argument& input : inputs) {
    if (!input.is_tensor()) continue;
    const TensorBase& tensor = input.tensor();
    const bool is_number = tensor.is_cpu() && tensor.dim() == 0;
    if (leading == nullptr || (leading->is_cpu() && leading->dim() == 0 && !is_number)) {
      leading = &tensor;
    } else if (!is_number) {
      check_same_device("one operand", *leading, "another one", tensor);
    }
  }
  return leading->device();
}

DimVector common_sizes(Arguments inputs) {
  DimVector sizes;
  for (const Argument& input : inputs) {
    if (!input.is_tensor() || input.tensor().sizes() == IntArrayRef(sizes)) continue;
    sizes = broadcast_shapes(sizes, input.tensor().sizes());
  }
  return sizes;
}

void check_in_place(const TensorBase& self, ScalarType result, Arguments inputs) {
  EBB_CHECK(can_cast(result, self.scalar_type()), "result type ", result,
            " can't be cast to the desired output type ", self.scalar_type(),
            ", that of the tensor of sizes ", self.sizes(), " which is written in place");
  const DimVector sizes =
      is_plain(inputs) ? DimVector(inputs.begin()->tensor().sizes()) : common_sizes(inputs);
  EBB_CHECK(IntArrayRef(sizes) == self.sizes(), "output with shape ", self.sizes(),
            " doesn't match the broadcast shape ", IntArrayRef(sizes),
            "; use the form that is not in place");
  check_writable(self);
  for (const Argument& input : inputs) {
    if (input.is_tensor()) check_no_partial_overlap(self, input.tensor());
  }
}

}  // namespace

ScalarType result_type(Arguments arguments) {
  ScalarType with_dims = ScalarType::Undefined;
  ScalarType without_dims = ScalarType::Undefined;
  ScalarType numbers = ScalarType::Undefined;
  for (const Argument& argument : arguments) {
    if (!argument.is_tensor()) {
      numbers = promote_defined(numbers, dtype_of(argument.scalar()));
      continue;
    }
    const TensorBase& tensor = argument.tensor();
    if (tensor.dim() > 0) {
      with_dims = promote_defined(with_dims, tensor.scalar_type());
    } else if (tensor.impl()->is_wrapped_number()) {
      const ScalarType dtype = tensor.scalar_type();
      numbers = promote_defined(numbers, is_floating_point(dtype) ? get_default_dtype() : dtype);
    } else {
      without_dims = promote_defined(without_dims, tensor.scalar_type());
    }
  }
  return combine(with_dims, combine(without_dims, numbers));
}

DimVector dense_strides(IntArrayRef sizes, std::initializer_list<const TensorBase*> like) {
  const size_t ndim = sizes.size();
  // Stride of dimension dim, counted from the end, of a tensor expanded to sizes.
  auto stride_of = [&](const TensorBase& tensor, size_t dim) -> int64_t {
    const size_t own = tensor.sizes().size();
    const size_t from_end = ndim - dim;
    if (from_end > own || (tensor.sizes()[own - from_end] == 1 && sizes[dim] != 1)) return 0;
    return tensor.strides()[own - from_end];
  };
  // Above zero if dim0 should lie further out than dim1, below if further in; 0: all the same.
  auto compare = [&](size_t dim0, size_t dim1) {
    for (const TensorBase* tensor : like) {
      const int64_t a = stride_of(*tensor, dim0);
      const int64_t b = stride_of(*tensor, dim1);
      if (a == 0 || b == 0) continue;
      if (a != b) return a < b ? -1 : 1;
      if (sizes[dim0] > sizes[dim1]) return 1;
    }
    return 0;
  };
  DimVector order(ndim);  // innermost first
  for (size_t i = 0; i < ndim; ++i) order[i] = static_cast<int64_t>(ndim - 1 - i);
  for (size_t i = 1; i < ndim; ++i) {
    size_t moving = i;
    for (size_t other = i; other-- > 0;) {
      const int result =
          compare(static_cast<size_t>(order[other]), static_cast<size_t>(order[moving]));
      if (result < 0) break;
      if (result == 0) continue;
      std::swap(order[other], order[moving]);
      moving = other;
    }
  }
  DimVector strides(ndim);
  int64_t stride = 1;
  for (const int64_t dim : order) {
    strides[static_cast<size_t>(dim)] = stride;
    stride *= std::max<int64_t>(sizes[static_cast<size_t>(dim)], 1);
  }
  return strides;
}

namespace {

TensorBase allocate_result(Arguments inputs, ScalarType dtype) {
  const Device device = common_device(inputs);
  const DimVector sizes = common_sizes(inputs);
  const TensorBase* like[TensorIterator::kMaxOperands];
  size_t count = 0;
  bool contiguous = true;
  for (const Argument& input : inputs) {
    if (!input.is_tensor()) continue;
    contiguous = contiguous && input.tensor().is_contiguous();
    like[count++] = &input.tensor();
  }
  if (contiguous) return empty(sizes, dtype, device);
  for (size_t i = count; i < 3; ++i) like[i] = like[0];
  return empty_strided(sizes, dense_strides(sizes, {like[0], like[1], like[2]}), dtype, device);
}

TensorBase elementwise_in(ElementwiseOp op, ScalarType common, Arguments inputs,
                          const Scalar* parameters) {
  const Result rule = rule_of(op);
  const ScalarType compute = compute_dtype(rule, common);
  const ScalarType result = rule == Result::boolean ? kBool : compute;
  if (is_plain(inputs)) {
    const TensorBase& like = inputs.begin()->tensor();
    TensorBase out = empty(like.sizes(), result, like.device());
    run_plain(op, compute, out, inputs, parameters);
    return out;
  }
  TensorBase out = allocate_result(inputs, result);
  run(op, compute, out, inputs, parameters);
  return out;
}

void write(ElementwiseOp op, ScalarType common, const TensorBase& self, Arguments inputs,
           const Scalar* parameters) {
  const Result rule = rule_of(op);
  const ScalarType compute = compute_dtype(rule, common);
  const ScalarType result = rule == Result::boolean ? kBool : compute;
  check_in_place(self, result, inputs);
  if (is_plain(inputs) && self.is_contiguous()) {
    run_plain(op, compute, self, inputs, parameters);
  } else {
    run(op, compute, self, inputs, parameters);
  }
  self.impl()->bump_version();
}

}  // namespace

TensorBase elementwise(ElementwiseOp op, Arguments inputs, const Scalar* parameters) {
  return elementwise_in(op, common_type(inputs), inputs, parameters);
}

TensorBase elementwise(ElementwiseOp op, ScalarType common, Arguments inputs,
                       const Scalar* parameters) {
  return elementwise_in(op, common, inputs, parameters);
}

void elementwise_(ElementwiseOp op, const TensorBase& self, Arguments inputs,
                  const Scalar* parameters) {
  write(op, common_type(inputs), self, inputs, parameters);
}

void elementwise_(ElementwiseOp op, ScalarType common, const TensorBase& self, Arguments inputs,
                  const Scalar* parameters) {
  write(op, common, self, inputs, parameters);
}

void check_writable(const TensorBase& self) {
  EBB_CHECK(self.is_contiguous() || !has_internal_overlap(self.sizes(), self.strides()),
            "cannot write in place to a tensor of sizes ", self.sizes(), " and strides ",
            self.strides(),
            " since several of its elements are one memory location; .clone() it first");
}

void check_no_partial_overlap(const TensorBase& written, const TensorBase& read) {
  if (!written.is_alias_of(read) || written.numel() == 0 || read.numel() == 0) return;
  const auto* a = static_cast<const char*>(written.data_ptr());
  const auto* b = static_cast<const char*>(read.data_ptr());
  const bool same = a == b && written.sizes() == read.sizes() &&
                    written.strides() == read.strides() &&
                    written.scalar_type() == read.scalar_type();
  if (same) return;
  // Strided tensors may interleave: only dense ones are known to overlap where their ranges do.
  if (!written.is_non_overlapping_and_dense() || !read.is_non_overlapping_and_dense()) return;
  EBB_CHECK(a + written.nbytes() <= b || b + read.nbytes() <= a,
            "unsupported operation: some elements of the input tensor of sizes ", read.sizes(),
            " and the written-to tensor of sizes ", written.sizes(),
            " refer to a single memory location; .clone() the input before the operation");
}

}  // namespace ebb::ops
