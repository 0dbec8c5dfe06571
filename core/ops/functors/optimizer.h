#pragma once

#include <cmath>

#include <ebb/core/export.h>
#include <ebb/core/ops/optimizer.h>

// What a step of an optimizer does to one element, once, for the host and for devices. T is float
// or double.

namespace ebb::functors {

/// A step of SGD on a parameter p with gradient g and, where there is momentum, its buffer m.
template <typename T>
struct SgdUpdate {
  static constexpr int kMaxOperands = 3;
  /// Whether operand i is written.
  static constexpr bool writes(int i) { return i != 1; }

  EBB_INLINE explicit SgdUpdate(const ops::SgdStep& step)
      : lr(static_cast<T>(step.lr)),
        weight_decay(static_cast<T>(step.weight_decay)),
        keep(static_cast<T>(step.momentum)),
        take(static_cast<T>(1 - step.dampening)),
        grad_factor(static_cast<T>(step.grad_factor)),
        nesterov(step.nesterov),
        first(step.first) {}

  EBB_INLINE void operator()(T& p, T g) const { p -= lr * (grad_factor * g + weight_decay * p); }
  EBB_INLINE void operator()(T& p, T g, T& m) const {
    const T d = grad_factor * g + weight_decay * p;
    const T buffer = first ? d : keep * m + take * d;
    m = buffer;
    p -= lr * (nesterov ? d + keep * buffer : buffer);
  }

  T lr;
  T weight_decay;
  T keep;
  T take;
  T grad_factor;
  bool nesterov;
  bool first;
};

/// A step of Adam on a parameter p with gradient g, the averages m and v of gradient and squared
/// gradient and, for AMSGrad, the largest v so far.
template <typename T>
struct AdamUpdate {
  static constexpr int kMaxOperands = 5;
  static constexpr bool writes(int i) { return i != 1; }

  EBB_INLINE explicit AdamUpdate(const ops::AdamStep& step)
      : step_size(static_cast<T>(step.step_size)),
        correction(static_cast<T>(step.bias_correction2_sqrt)),
        beta1(static_cast<T>(step.beta1)),
        rest1(static_cast<T>(1 - step.beta1)),
        beta2(static_cast<T>(step.beta2)),
        rest2(static_cast<T>(1 - step.beta2)),
        eps(static_cast<T>(step.eps)),
        weight_decay(static_cast<T>(step.weight_decay)),
        shrink(static_cast<T>(step.shrink)),
        grad_factor(static_cast<T>(step.grad_factor)) {}

  EBB_INLINE void operator()(T& p, T g, T& m, T& v) const {
    average(p, g, m, v);
    move(p, m, v);
  }
  EBB_INLINE void operator()(T& p, T g, T& m, T& v, T& v_max) const {
    average(p, g, m, v);
    v_max = v > v_max || v != v ? v : v_max;  // NaN stays
    move(p, m, v_max);
  }

  EBB_INLINE void average(T p, T g, T& m, T& v) const {
    const T d = grad_factor * g + weight_decay * p;
    m = beta1 * m + rest1 * d;
    v = beta2 * v + rest2 * d * d;
  }
  EBB_INLINE void move(T& p, T mean, T square) const {
    const T denominator = std::sqrt(square) / correction + eps;
    p = shrink * p - step_size * mean / denominator;
  }

  T step_size;
  T correction;
  T beta1;
  T rest1;
  T beta2;
  T rest2;
  T eps;
  T weight_decay;
  T shrink;
  T grad_factor;
};

/// A step of Adafactor on a parameter p with gradient g, whose update is g times r and c, or with m
/// the average of such updates.
template <typename T>
struct FactoredUpdate {
  static constexpr int kMaxOperands = 5;
  static constexpr bool writes(int i) { return i == 0 || i == 4; }

  EBB_INLINE explicit FactoredUpdate(const ops::FactoredStep& step)
      : beta1(static_cast<T>(step.beta1)),
        rest1(static_cast<T>(1 - step.beta1)),
        shrink(static_cast<T>(step.shrink)) {}

  EBB_INLINE void operator()(T& p, T g, T r, T c) const { p = shrink * p - g * r * c; }
  EBB_INLINE void operator()(T& p, T g, T r, T c, T& m) const {
    m = beta1 * m + rest1 * (g * r * c);
    p = shrink * p - m;
  }

  T beta1;
  T rest1;
  T shrink;
};

}  // namespace ebb::functors
