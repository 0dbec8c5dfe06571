#pragma once

#include <ebb/core/thread_state.h>

namespace ebb {

/// Whether ops on this thread are recorded for backward.
struct GradMode {
  [[nodiscard]] static bool is_enabled() { return thread_state().grad_enabled; }
  static void set_enabled(bool enabled) { thread_state().grad_enabled = enabled; }
};

/// Sets grad mode until the end of the scope.
class AutoGradMode {
 public:
  explicit AutoGradMode(bool enabled) : outer_(thread_state().grad_enabled) {
    thread_state().grad_enabled = enabled;
  }
  ~AutoGradMode() { thread_state().grad_enabled = outer_; }
  AutoGradMode(const AutoGradMode&) = delete;
  AutoGradMode& operator=(const AutoGradMode&) = delete;

 private:
  bool outer_;
};

/// Nothing is recorded until the end of the scope.
class NoGradGuard : public AutoGradMode {
 public:
  NoGradGuard() : AutoGradMode(false) {}
};

/// Nothing is recorded until the end of the scope, and tensors made in it are "inference tensors":
/// they never take part in backward, and outside they may be read, but not written in place.
class InferenceMode {
 public:
  explicit InferenceMode(bool enabled = true)
      : outer_inference_(thread_state().inference_mode), outer_grad_(thread_state().grad_enabled) {
    thread_state().inference_mode = enabled;
    thread_state().grad_enabled = !enabled;
  }
  ~InferenceMode() {
    thread_state().inference_mode = outer_inference_;
    thread_state().grad_enabled = outer_grad_;
  }
  InferenceMode(const InferenceMode&) = delete;
  InferenceMode& operator=(const InferenceMode&) = delete;
  [[nodiscard]] static bool is_enabled() { return thread_state().inference_mode; }

 private:
  bool outer_inference_;
  bool outer_grad_;
};

namespace autograd {
using ebb::AutoGradMode;
using ebb::GradMode;
}  // namespace autograd

}  // namespace ebb
