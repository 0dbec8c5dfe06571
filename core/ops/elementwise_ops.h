#pragma once

// Made by tools/generate_ops.py from core/ops/ops.def. Edit that, not this.

#include <cstdint>

namespace ebb {

/// The families of elementwise kernels; a device has one table for each.
enum class ElementwiseFamily : uint8_t { unary, activation, binary, compare };
inline constexpr int kElementwiseFamilies = 4;
/// How many kernels each family has.
inline constexpr int kElementwiseKernels[] = {26, 12, 20, 12};

/// The elementwise kernels, named by their functors: family * 256 + place in its table.
enum class ElementwiseOp : uint16_t {
  Neg = 0,
  Abs = 1,
  Exp = 2,
  Expm1 = 3,
  Log = 4,
  Log2 = 5,
  Log10 = 6,
  Log1p = 7,
  Sqrt = 8,
  Rsqrt = 9,
  Square = 10,
  Reciprocal = 11,
  Sin = 12,
  Cos = 13,
  Tan = 14,
  Erf = 15,
  Floor = 16,
  Ceil = 17,
  Round = 18,
  Trunc = 19,
  Sign = 20,
  LogicalNot = 21,
  BitwiseNot = 22,
  IsNan = 23,
  IsInf = 24,
  IsFinite = 25,
  Relu = 256,
  Gelu = 257,
  GeluTanh = 258,
  Tanh = 259,
  Sigmoid = 260,
  Silu = 261,
  ThresholdBackward = 262,
  TanhBackward = 263,
  SigmoidBackward = 264,
  GeluBackward = 265,
  GeluTanhBackward = 266,
  SiluBackward = 267,
  Add = 512,
  AddRelu = 513,
  Mul = 514,
  Div = 515,
  DivFloor = 516,
  DivTrunc = 517,
  Remainder = 518,
  Pow = 519,
  Maximum = 520,
  Minimum = 521,
  Clamp = 522,
  ClampTensor = 523,
  ClampMin = 524,
  ClampMax = 525,
  Where = 526,
  MaskedFill = 527,
  Addcmul = 528,
  Addcdiv = 529,
  Lerp = 530,
  LerpTensor = 531,
  Eq = 768,
  Ne = 769,
  Lt = 770,
  Le = 771,
  Gt = 772,
  Ge = 773,
  LogicalAnd = 774,
  LogicalOr = 775,
  LogicalXor = 776,
  BitwiseAnd = 777,
  BitwiseOr = 778,
  BitwiseXor = 779,
};

}  // namespace ebb
