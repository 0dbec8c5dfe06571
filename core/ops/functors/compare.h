#pragma once

#include <ebb/core/ops/functors/functor.h>

namespace ebb::functors {

using Comparison = Elementwise<2, Result::boolean>;
using Bitwise = Elementwise<2, Result::same, Types::integral>;

struct Eq : Comparison {
  template <typename T>
  struct Op : NoParameters {
    using NoParameters::NoParameters;
    EBB_INLINE bool operator()(T a, T b) const { return a == b; }
  };
};

struct Ne : Comparison {
  template <typename T>
  struct Op : NoParameters {
    using NoParameters::NoParameters;
    EBB_INLINE bool operator()(T a, T b) const { return a != b; }
  };
};

struct Lt : Comparison {
  template <typename T>
  struct Op : NoParameters {
    using NoParameters::NoParameters;
    EBB_INLINE bool operator()(T a, T b) const { return a < b; }
  };
};

struct Le : Comparison {
  template <typename T>
  struct Op : NoParameters {
    using NoParameters::NoParameters;
    EBB_INLINE bool operator()(T a, T b) const { return a <= b; }
  };
};

struct Gt : Comparison {
  template <typename T>
  struct Op : NoParameters {
    using NoParameters::NoParameters;
    EBB_INLINE bool operator()(T a, T b) const { return a > b; }
  };
};

struct Ge : Comparison {
  template <typename T>
  struct Op : NoParameters {
    using NoParameters::NoParameters;
    EBB_INLINE bool operator()(T a, T b) const { return a >= b; }
  };
};

struct LogicalAnd : Comparison {
  template <typename T>
  struct Op : NoParameters {
    using NoParameters::NoParameters;
    EBB_INLINE bool operator()(T a, T b) const { return (a != T{0}) & (b != T{0}); }
  };
};

struct LogicalOr : Comparison {
  template <typename T>
  struct Op : NoParameters {
    using NoParameters::NoParameters;
    EBB_INLINE bool operator()(T a, T b) const { return (a != T{0}) | (b != T{0}); }
  };
};

struct LogicalXor : Comparison {
  template <typename T>
  struct Op : NoParameters {
    using NoParameters::NoParameters;
    EBB_INLINE bool operator()(T a, T b) const { return (a != T{0}) != (b != T{0}); }
  };
};

// Bools are 0 and 1 here, for which these are `and`, `or` and `xor`.

struct BitwiseAnd : Bitwise {
  template <typename T>
  struct Op : NoParameters {
    using NoParameters::NoParameters;
    EBB_INLINE T operator()(T a, T b) const { return a & b; }
  };
};

struct BitwiseOr : Bitwise {
  template <typename T>
  struct Op : NoParameters {
    using NoParameters::NoParameters;
    EBB_INLINE T operator()(T a, T b) const { return a | b; }
  };
};

struct BitwiseXor : Bitwise {
  template <typename T>
  struct Op : NoParameters {
    using NoParameters::NoParameters;
    EBB_INLINE T operator()(T a, T b) const { return a ^ b; }
  };
};

}  // namespace ebb::functors
