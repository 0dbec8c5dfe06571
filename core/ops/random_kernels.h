#pragma once

#include <ebb/core/ops/tensor_iterator.h>
#include <ebb/core/random/distributions.h>

namespace ebb {

/// Random numbers (core/random/distributions.h). The iterators are in row-major order, so that
/// position i is logical element i. Half types draw as float.
struct RandomKernels {
  /// Operand 0 becomes uniform in [low, high).
  void (*uniform)(const TensorIterator& it, random::Reservation draw, double low, double high);
  /// Operand 0 becomes mean + std * a standard normal.
  void (*normal)(const TensorIterator& it, random::Reservation draw, double mean, double std);
  /// Operand 0 becomes an integer in [low, high).
  void (*integer)(const TensorIterator& it, random::Reservation draw, int64_t low, int64_t high);
  /// Operand 0 becomes 1 with probability p, else 0.
  void (*bernoulli)(const TensorIterator& it, random::Reservation draw, double p);
  /// Operand 0 becomes 1 with the probability that operand 1 states.
  void (*bernoulli_each)(const TensorIterator& it, random::Reservation draw);
  /// Operand 0 becomes operand 1 * scale with probability `keep`, else 0.
  void (*dropout)(const TensorIterator& it, random::Reservation draw, double keep, double scale);
  /// Operand 0, of bfloat16, becomes operand 1, of float32, rounded so that the mean is right
  /// (functors/stochastic_round.h).
  void (*stochastic_round)(const TensorIterator& it, random::Reservation draw);
};

}  // namespace ebb
