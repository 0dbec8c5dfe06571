#pragma once

#include <initializer_list>
#include <span>

#include <ebb/core/export.h>
#include <ebb/core/tensor/tensor_base.h>

// One step of an optimizer for one parameter: all tensors are read and written in one pass, in
// place, without temporaries. Elements of float16 and bfloat16 are computed in float32.

namespace ebb::ops {

/// The numbers of a step of stochastic gradient descent (Sutskever et al., 2013, in the form that
/// PyTorch gives it).
struct SgdStep {
  double lr = 0;
  double momentum = 0;
  double dampening = 0;
  double weight_decay = 0;
  bool nesterov = false;
  bool first = false;      ///< momentum_buffer has no value yet: it becomes the gradient
  double grad_factor = 1;  ///< what the gradient is multiplied by first
  bool rounds_stochastically = false;  ///< for sgd_steps_

  bool operator==(const SgdStep&) const = default;
};

/// The numbers of a step of Adam (Kingma and Ba, 2014) or AdamW (Loshchilov and Hutter, 2017).
struct AdamStep {
  double step_size = 0;              ///< lr / (1 - beta1^step)
  double bias_correction2_sqrt = 1;  ///< sqrt(1 - beta2^step)
  double beta1 = 0;
  double beta2 = 0;
  double eps = 0;
  double weight_decay = 0;             ///< added to the gradient, times the parameter
  double shrink = 1;                   ///< what the parameter is multiplied by first
  double grad_factor = 1;              ///< what the gradient is multiplied by first
  bool rounds_stochastically = false;  ///< for adam_steps_

  bool operator==(const AdamStep&) const = default;
};

/// The numbers of a step of Adafactor (Shazeer and Stern, 2018).
struct FactoredStep {
  double beta1 = 0;   ///< how much of the last update stays
  double shrink = 1;  ///< what the parameter is multiplied by first

  bool operator==(const FactoredStep&) const = default;
};

/// Throws an Error unless `parameter` can be stepped: it must be floating-point and writable, and
/// the defined ones among `others` (its gradient and state) must be floating-point tensors of its
/// sizes on its device.
EBB_API void check_step(const TensorBase& parameter, std::initializer_list<TensorBase> others);

/// One step; the operands must have passed check_step. `momentum_buffer` is undefined without
/// momentum. Raises the versions of what it writes. Allocates no tensor memory and does not fail.
EBB_API void sgd_step_(const TensorBase& parameter, const TensorBase& grad,
                       const TensorBase& momentum_buffer, const SgdStep& step);
/// The same for Adam; `max_exp_avg_sq` is undefined but for AMSGrad (Reddi et al., 2018).
EBB_API void adam_step_(const TensorBase& parameter, const TensorBase& grad,
                        const TensorBase& exp_avg, const TensorBase& exp_avg_sq,
                        const TensorBase& max_exp_avg_sq, const AdamStep& step);

/// What sgd_step_ takes, for one parameter among many.
struct SgdOperands {
  TensorBase parameter;
  TensorBase grad;
  TensorBase momentum_buffer;
  SgdStep step;
};
/// What adam_step_ takes, for one parameter among many.
struct AdamOperands {
  TensorBase parameter;
  TensorBase grad;
  TensorBase exp_avg;
  TensorBase exp_avg_sq;
  TensorBase max_exp_avg_sq;
  AdamStep step;
};

/// How many elements of a parameter are stepped at once where they are rounded stochastically.
inline constexpr int64_t kRoundedChunk = 65536;

/// What factored_steps_ takes for one parameter. The update is grad * rows * columns, in that order,
/// or with exp_avg its average; `rows` and `columns` expand to the parameter's sizes.
struct FactoredOperands {
  TensorBase parameter;
  TensorBase grad;
  TensorBase rows;
  TensorBase columns;
  TensorBase exp_avg;  ///< undefined without beta1
  FactoredStep step;
};

/// sgd_step_ for each, no parameter twice. On a device one kernel steps many contiguous parameters
/// with the same numbers; the results are the same bit for bit. Where the numbers say so, the
/// tensors, all contiguous and those that are written bfloat16, are stepped in float32 copies,
/// which are then rounded at random so that the mean is right, with draws of the thread's
/// generator. For these `scratch` is needed: float32 on their device, for each tensor that a step
/// writes as many elements as the largest parameter has, but at most kRoundedChunk.
EBB_API void sgd_steps_(std::span<const SgdOperands> all, const TensorBase& scratch = {});
/// The same for adam_step_.
EBB_API void adam_steps_(std::span<const AdamOperands> all, const TensorBase& scratch = {});

/// Takes an update away from each parameter, none of which is there twice.
EBB_API void factored_steps_(std::span<const FactoredOperands> all);

/// Multiplies each of the gradients, floating-point tensors on one device, by the number in
/// `inverse_scale`, and makes `found_nonfinite` 1 if an element of them was infinite or NaN; else
/// it stays. Both are float32 tensors of one element on that device, which need not be waited for
/// (_amp_foreach_non_finite_check_and_unscale_ of PyTorch). Raises the versions of what it writes.
EBB_API void unscale_(std::span<const TensorBase> grads, const TensorBase& inverse_scale,
                      const TensorBase& found_nonfinite);

/// The norm of order p, which is 1, 2 or infinity, of each of the tensors, floating-point ones on
/// one device: float64 of their number, on that device. On CUDA few launches serve all of them, so
/// that clipping gradients waits for the device once.
[[nodiscard]] EBB_API TensorBase norms(std::span<const TensorBase> tensors, double p);

}  // namespace ebb::ops
