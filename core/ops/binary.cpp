#include <ebb/core/ops/binary.h>

#include <limits>

#include <ebb/core/cpu/convert.h>
#include <ebb/core/ops/copy.h>
#include <ebb/core/ops/tensor_iterator.h>

namespace ebb::ops {

namespace {

/// As `elementwise` with a form, computed in `common`.
TensorBase run(ElementwiseOp op, Form form, ScalarType common, Arguments inputs,
               const Scalar* parameters = nullptr) {
  if (form == Form::fresh) return elementwise(op, common, inputs, parameters);
  const TensorBase& self = inputs.begin()->tensor();
  elementwise_(op, common, self, inputs, parameters);
  return self;
}

bool is_bool(const Argument& argument) {
  return argument.is_tensor() ? argument.tensor().scalar_type() == kBool
                              : argument.scalar().is_boolean();
}

void check_alpha(const Argument& self, const Argument& other, const Scalar& alpha) {
  if (alpha.is_integral(false)) return;
  const ScalarType common = result_type({self, other});
  EBB_CHECK(!alpha.is_boolean() || common == kBool,
            "a bool alpha is only for bool tensors, the result is ", common);
  EBB_CHECK(!alpha.is_floating_point() || is_floating_point(common),
            "for integer tensors alpha must not be a floating-point number, the result is ",
            common);
}

void check_subtraction(const Argument& self, const Argument& other) {
  EBB_CHECK(!is_bool(self) || !is_bool(other),
            "subtraction, the `-` operator, with two bool tensors is not supported; use "
            "bitwise_xor or logical_xor, or convert one with .to(dtype)");
  EBB_CHECK(!is_bool(self) && !is_bool(other),
            "subtraction, the `-` operator, with a bool tensor is not supported; to turn a mask "
            "round use ~ or logical_not, or convert it with .to(dtype)");
}

/// Whether some element of an integer tensor or number fulfils `f(int64_t)`.
template <typename F>
bool any_integer(const Argument& argument, F&& f) {
  if (!argument.is_tensor()) return f(argument.scalar().to<int64_t>());
  const TensorBase on_cpu = argument.tensor().is_cpu()
                                ? argument.tensor()
                                : to(argument.tensor(), argument.tensor().scalar_type(), kCPU);
  TensorIterator it(on_cpu.sizes());
  it.add(on_cpu);
  it.build();
  bool found = false;
  dispatch(on_cpu.scalar_type(), [&](auto zero) {
    using T = decltype(zero);
    for_each_run(it, 0, it.numel(), [&](char* const* pointers, int64_t n) {
      for (int64_t i = 0; i < n; ++i) {
        const char* element = pointers[0] + i * it.stride(0, 0);
        const auto value = *reinterpret_cast<const cpu::Stored<T>*>(element);
        found = found || f(cpu::convert<int64_t, T>(value));
      }
    });
  });
  return found;
}

void check_integer_divisor(ScalarType common, const Argument& divisor) {
  if (is_floating_point(common)) return;
  EBB_CHECK(!any_integer(divisor, [](int64_t value) { return value == 0; }),
            "ZeroDivisionError: an element of the integer divisor is zero");
}

/// An op whose integer divisor must not be zero.
TensorBase divide(ElementwiseOp op, Form form, const Argument& self, const Argument& other) {
  const ScalarType common = result_type({self, other});
  check_integer_divisor(common, other);
  return run(op, form, common, {self, other});
}

}  // namespace

TensorBase elementwise(ElementwiseOp op, Form form, Arguments inputs, const Scalar* parameters) {
  if (form == Form::fresh) return elementwise(op, inputs, parameters);
  const TensorBase& self = inputs.begin()->tensor();
  elementwise_(op, self, inputs, parameters);
  return self;
}

TensorBase add(Form form, const Argument& self, const Argument& other, const Scalar& alpha) {
  check_alpha(self, other, alpha);
  return elementwise(ElementwiseOp::Add, form, {self, other}, &alpha);
}

TensorBase sub(Form form, const Argument& self, const Argument& other, const Scalar& alpha) {
  check_subtraction(self, other);
  check_alpha(self, other, alpha);
  const Scalar minus = -alpha;
  return elementwise(ElementwiseOp::Add, form, {self, other}, &minus);
}

TensorBase rsub(const Argument& self, const Argument& other, const Scalar& alpha) {
  check_subtraction(self, other);
  check_alpha(self, other, alpha);
  const Scalar minus = -alpha;
  if (other.is_tensor()) return elementwise(ElementwiseOp::Add, {other, self}, &minus);
  return elementwise(ElementwiseOp::Add, result_type({self, other}), {other, self}, &minus);
}

TensorBase div(Form form, const Argument& self, const Argument& other,
               std::optional<std::string_view> rounding_mode) {
  if (!rounding_mode) return elementwise(ElementwiseOp::Div, form, {self, other});
  EBB_CHECK(*rounding_mode == "floor" || *rounding_mode == "trunc",
            "rounding_mode is absent, \"floor\" or \"trunc\", but found \"", *rounding_mode, "\"");
  return divide(*rounding_mode == "floor" ? ElementwiseOp::DivFloor : ElementwiseOp::DivTrunc, form,
                self, other);
}

TensorBase remainder(Form form, const Argument& self, const Argument& other) {
  return divide(ElementwiseOp::Remainder, form, self, other);
}

TensorBase fmod(Form form, const Argument& self, const Argument& other) {
  return divide(ElementwiseOp::Fmod, form, self, other);
}

TensorBase pow(Form form, const Argument& self, const Argument& exponent) {
  const ScalarType common = result_type({self, exponent});
  EBB_CHECK(common != kBool, "not implemented for bool tensors; convert one with .to(dtype)");
  if (!exponent.is_tensor()) {
    const Scalar& number = exponent.scalar();
    EBB_CHECK(is_floating_point(common) || number.to<int64_t>() >= 0,
              "Integers to negative integer powers are not allowed; convert the base to a "
              "floating-point dtype, got ",
              common, " and the exponent ", number);
    // The exponents of everyday formulas have functors of their own, exact and quick.
    if (number.equal(2)) return run(ElementwiseOp::Square, form, common, {self});
    if (is_floating_point(common)) {
      if (number.equal(0.5)) return run(ElementwiseOp::Sqrt, form, common, {self});
      if (number.equal(-0.5)) return run(ElementwiseOp::Rsqrt, form, common, {self});
      if (number.equal(-1)) return run(ElementwiseOp::Reciprocal, form, common, {self});
    }
  }
  return run(ElementwiseOp::Pow, form, common, {self, exponent});
}

TensorBase clamp(Form form, const TensorBase& self, const std::optional<Scalar>& min,
                 const std::optional<Scalar>& max) {
  EBB_CHECK(min || max, "at least one of min and max must not be absent");
  ScalarType common = self.scalar_type();
  EBB_CHECK(common != kBool, "not implemented for bool tensors; convert it with .to(dtype)");
  if (min) common = result_type({self, *min});
  if (max) common = promote_types(common, result_type({self, *max}));
  if (!max) return run(ElementwiseOp::ClampMin, form, common, {self}, &*min);
  if (!min) return run(ElementwiseOp::ClampMax, form, common, {self}, &*max);
  const Scalar bounds[] = {*min, *max};
  return run(ElementwiseOp::Clamp, form, common, {self}, bounds);
}

TensorBase where(const TensorBase& condition, const Argument& self, const Argument& other) {
  EBB_CHECK(condition.scalar_type() == kBool || condition.scalar_type() == kUInt8,
            "expected condition to be a boolean tensor, but got a tensor with dtype ",
            condition.scalar_type());
  return elementwise(ElementwiseOp::Where, result_type({self, other}), {condition, self, other});
}

TensorBase masked_fill(Form form, const TensorBase& self, const TensorBase& mask,
                       const Argument& value) {
  EBB_CHECK(mask.scalar_type() == kBool, "expected the mask to be a bool tensor, got ",
            mask.scalar_type(), " of sizes ", mask.sizes());
  EBB_CHECK(!value.is_tensor() || value.tensor().dim() == 0,
            "only supports a 0-dimensional value tensor, but got a tensor of sizes ",
            value.tensor().sizes());
  const ScalarType common = self.scalar_type();
  const bool loses = value.is_tensor()
                         ? !can_cast(value.tensor().scalar_type(), common)
                         : value.scalar().is_floating_point() && is_integral(common, true);
  EBB_CHECK(!loses, "a floating-point value cannot be written to a tensor of dtype ", common,
            "; convert one of them with .to(dtype)");
  return run(ElementwiseOp::MaskedFill, form, common, {self, mask, value});
}

TensorBase addcdiv(Form form, const TensorBase& self, const TensorBase& tensor1,
                   const TensorBase& tensor2, const Scalar& value) {
  EBB_CHECK(is_floating_point(tensor1.scalar_type()) || is_floating_point(tensor2.scalar_type()),
            "integer division with addcdiv is not supported, got ", tensor1.scalar_type(), " and ",
            tensor2.scalar_type(), "; convert one with .to(dtype)");
  return elementwise(ElementwiseOp::Addcdiv, form, {self, tensor1, tensor2}, &value);
}

TensorBase lerp(Form form, const TensorBase& self, const TensorBase& end, const Argument& weight) {
  EBB_CHECK(self.scalar_type() == end.scalar_type() && is_floating_point(self.scalar_type()),
            "expected self and end of one floating-point dtype, got ", self.scalar_type(), " and ",
            end.scalar_type());
  if (weight.is_tensor()) {
    return run(ElementwiseOp::LerpTensor, form, self.scalar_type(), {self, end, weight});
  }
  return run(ElementwiseOp::Lerp, form, self.scalar_type(), {self, end}, &weight.scalar());
}

TensorBase neg(Form form, const TensorBase& self) {
  EBB_CHECK(self.scalar_type() != kBool,
            "negation, the `-` operator, on a bool tensor is not supported; to turn a mask round "
            "use ~ or logical_not");
  return elementwise(ElementwiseOp::Neg, form, {self});
}

TensorBase bitwise_not(Form form, const TensorBase& self) {
  EBB_CHECK(!is_floating_point(self.scalar_type()), "only for integer and bool tensors, got ",
            self.scalar_type());
  return elementwise(
      self.scalar_type() == kBool ? ElementwiseOp::LogicalNot : ElementwiseOp::BitwiseNot, form,
      {self});
}

TensorBase bitwise(ElementwiseOp op, Form form, const Argument& self, const Argument& other) {
  const ScalarType common = result_type({self, other});
  EBB_CHECK(!is_floating_point(common), "only for integer and bool tensors, got ", common);
  return run(op, form, common, {self, other});
}

}  // namespace ebb::ops
