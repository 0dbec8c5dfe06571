#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include <ebb/nn/arg.h>
#include <ebb/optim/optimizer.h>

namespace ebb::amp {

/// Options of GradScaler; the defaults are PyTorch's.
struct EBB_API GradScalerOptions {
  /// The scale at the start.
  EBB_ARG(double, init_scale) = 65536;
  /// What the scale is multiplied by after growth_interval updates without inf or NaN; above 1.
  EBB_ARG(double, growth_factor) = 2;
  /// What it is multiplied by after an inf or NaN; below 1.
  EBB_ARG(double, backoff_factor) = 0.5;
  EBB_ARG(int64_t, growth_interval) = 2000;
  /// The scale never sinks below this: the update that would throws an Error, since gradients that
  /// are not finite at any scale are no matter of the scale. 0 lets it sink, as PyTorch does.
  EBB_ARG(double, min_scale) = 1;
  /// If false nothing is scaled, and step just steps.
  EBB_ARG(bool, enabled) = true;
};

/// Keeps small gradients of float16 from becoming zero: the loss is multiplied by a scale before
/// backward, the gradients are divided by it before the step, a step with an inf or NaN is left
/// out, and the scale follows (Micikevicius et al., "Mixed precision training", 2018; the states
/// and their errors are those of torch.amp.GradScaler).
///
///   scaler.scale(loss).backward();
///   scaler.unscale_(optimizer);   // only to look at the gradients, as for clipping
///   scaler.step(optimizer);       // each optimizer
///   scaler.update();              // once, after all of them
///
/// What the gradients hold stays on their device until step, which waits for one number. Takes 512
/// bytes for each optimizer and device from unscale_ to update.
class EBB_API GradScaler {
 public:
  /// The entries of a state: scale, growth_factor, backoff_factor, growth_interval and
  /// _growth_tracker.
  using StateDict = std::map<std::string, double>;

  /// Throws an Error for options out of range.
  explicit GradScaler(const GradScalerOptions& options = {});

  /// `outputs` times the scale: a float16 or bfloat16 scalar in float32, which can hold it.
  [[nodiscard]] Tensor scale(const Tensor& outputs);
  [[nodiscard]] std::vector<Tensor> scale(const std::vector<Tensor>& outputs);

  /// Divides the gradients of the optimizer's parameters by the scale, also where one is not
  /// finite. Throws an Error before the first scale(), twice before update(), after step(), for
  /// float16 gradients, which would lose what the scale saved, and if there is no gradient.
  void unscale_(optim::Optimizer& optimizer);
  /// Steps the optimizer if all gradients are finite, after unscale_ if that was not called; tells
  /// whether it did. Float16 gradients stay scaled, and are divided in float32 within the step, by
  /// optimizers that can (SGD, Adam, AdamW); elsewhere they are an error. Throws an Error where
  /// unscale_ would, and twice before update().
  bool step(optim::Optimizer& optimizer);
  /// Lowers the scale if an optimizer found an inf or NaN, else counts towards its growth. Throws
  /// an Error if nothing was unscaled or stepped, and where the scale would sink below min_scale:
  /// there it stays, and training may go on.
  void update();
  /// Sets the scale; it must be positive and finite.
  void update(double new_scale);

  /// The present scale; 1 if disabled.
  [[nodiscard]] double get_scale() const noexcept;
  [[nodiscard]] bool is_enabled() const noexcept { return options_.enabled(); }
  /// How many steps were left out so far, and updates since the scale changed last.
  [[nodiscard]] int64_t skipped_steps() const noexcept { return skipped_steps_; }
  [[nodiscard]] int64_t get_growth_tracker() const noexcept { return growth_tracker_; }
  [[nodiscard]] const GradScalerOptions& options() const noexcept { return options_; }

  /// What load_state_dict takes; empty if disabled. Throws an Error between unscale_ and update.
  [[nodiscard]] StateDict state_dict() const;
  /// Throws an Error for a state that lacks an entry, such as the empty one of a disabled scaler.
  void load_state_dict(const StateDict& state);

 private:
  enum class Stage : uint8_t { unscaled, stepped };
  /// What was done with an optimizer since the last update.
  struct Progress {
    const optim::Optimizer* optimizer = nullptr;
    Stage stage = Stage::unscaled;
    std::vector<Tensor> found;  ///< for each device 1 if a gradient was not finite, else 0
  };

  Progress* find(const optim::Optimizer& optimizer) noexcept;
  void check_scaled(const char* function) const;
  Progress& unscale(optim::Optimizer& optimizer, const char* function, bool may_be_half);
  void back_off();

  GradScalerOptions options_;
  float scale_;
  bool scaled_ = false;  // scale() was called
  int64_t growth_tracker_ = 0;
  int64_t skipped_steps_ = 0;
  std::vector<Progress> progress_;
};

}  // namespace ebb::amp
