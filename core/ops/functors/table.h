#pragma once

// Made by tools/generate_ops.py from core/ops/ops.def. Edit that, not this.

#include <ebb/core/ops/functors/unary.h>
#include <ebb/core/ops/functors/activation.h>
#include <ebb/core/ops/functors/binary.h>
#include <ebb/core/ops/functors/compare.h>

namespace ebb::functors {

template <typename... Functors>
struct List {};

/// The functors of ElementwiseFamily::unary, in the order of their kernels.
using UnaryList = List<
    Neg,
    Abs,
    Exp,
    Expm1,
    Log,
    Log2,
    Log10,
    Log1p,
    Sqrt,
    Rsqrt,
    Square,
    Reciprocal,
    Sin,
    Cos,
    Tan,
    Erf,
    Floor,
    Ceil,
    Round,
    Trunc,
    Sign,
    Asin,
    Acos,
    Atan,
    Sinh,
    Cosh,
    Asinh,
    Acosh,
    Atanh,
    Erfc,
    Exp2,
    Frac,
    LogicalNot,
    BitwiseNot,
    IsNan,
    IsInf,
    IsFinite>;

/// The functors of ElementwiseFamily::activation, in the order of their kernels.
using ActivationList = List<
    Relu,
    Gelu,
    GeluTanh,
    Tanh,
    Sigmoid,
    Silu,
    LeakyRelu,
    Elu,
    Hardtanh,
    Hardsigmoid,
    Hardswish,
    Softplus,
    Mish,
    LogSigmoid,
    Softsign,
    Softshrink,
    Hardshrink,
    Tanhshrink,
    Threshold,
    Logit,
    Prelu,
    ThresholdBackward,
    TanhBackward,
    SigmoidBackward,
    GeluBackward,
    GeluTanhBackward,
    SiluBackward,
    LeakyReluBackward,
    EluBackward,
    HardtanhBackward,
    HardsigmoidBackward,
    HardswishBackward,
    SoftplusBackward,
    MishBackward,
    LogSigmoidBackward,
    SoftsignBackward>;

/// The functors of ElementwiseFamily::binary, in the order of their kernels.
using BinaryList = List<
    Add,
    AddRelu,
    Mul,
    Div,
    DivFloor,
    DivTrunc,
    Remainder,
    Pow,
    Fmod,
    Fmax,
    Fmin,
    Atan2,
    Hypot,
    NanToNum,
    Maximum,
    Minimum,
    Clamp,
    ClampTensor,
    ClampMin,
    ClampMax,
    Where,
    MaskedFill,
    Addcmul,
    Addcdiv,
    Lerp,
    LerpTensor>;

/// The functors of ElementwiseFamily::compare, in the order of their kernels.
using CompareList = List<
    Eq,
    Ne,
    Lt,
    Le,
    Gt,
    Ge,
    LogicalAnd,
    LogicalOr,
    LogicalXor,
    BitwiseAnd,
    BitwiseOr,
    BitwiseXor>;

}  // namespace ebb::functors
