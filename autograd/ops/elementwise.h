#pragma once

#include <initializer_list>

#include <ebb/autograd/ops/autocast_table.h>
#include <ebb/autograd/record.h>
#include <ebb/core/ops/binary.h>
#include <ebb/core/ops/elementwise.h>

// How the elementwise ops of one tensor are written down: as data. core/ops/ops.def holds the
// gradient of most of them, from which tools/generate_ops.py writes elementwise_table.cpp.

namespace ebb::autograd {

/// What the node of an op of one tensor keeps for its gradient.
enum class Keeps : uint8_t { nothing, self, result };

/// An op of one tensor and some numbers, which its functor takes.
struct UnaryOp {
  const char* name;
  const char* in_place_name;  ///< null if there is no such form
  const char* node_name;
  ElementwiseOp functor;
  Keeps keeps;
  /// The gradient of self. `kept`: self or the result; undefined if nothing is kept.
  Tensor (*gradient)(const Tensor& grad, const Tensor& kept, const Scalar* numbers);
  AutocastRow autocast = {};
};

/// The most numbers that a UnaryOp or an ActivationBackward takes.
inline constexpr size_t kMostNumbers = 4;

using Numbers = std::initializer_list<Scalar>;

/// The fresh form of an op.
Tensor unary(const UnaryOp& op, const Tensor& self, Numbers numbers = {});
/// The form in place.
const Tensor& unary_(const UnaryOp& op, const Tensor& self, Numbers numbers = {});

/// The gradient of an activation as an op: what forward kept and grad_output, whose multiple it is,
/// to the gradient of self.
struct ActivationBackward {
  const char* name;
  const char* node_name;
  ElementwiseOp functor;
  /// Its derivative by what was kept, over grad_output; null where that is zero everywhere.
  Tensor (*curvature)(const Tensor& kept, const Scalar* numbers);
};

Tensor activation_backward(const ActivationBackward& op, const Tensor& grad_output,
                           const Tensor& kept, Numbers numbers = {});

/// The formula of an op whose gradient is zero everywhere.
inline auto zero_formula(Recorder&, const Tensor&) {
  return [](Backward& b) { b.set(0, ebb::zero(b.grad())); };
}

}  // namespace ebb::autograd
