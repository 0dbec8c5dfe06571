#pragma once

#include <ebb/autograd/tensor.h>
#include <ebb/core/thread_state.h>

namespace ebb::autograd {

class Node;

/// Anomaly mode of the calling thread: backward looks for NaN in what each node gives, and the
/// error names the forward op whose gradient it was. Slow.
struct AnomalyMode {
  [[nodiscard]] static bool is_enabled() { return thread_state().anomaly_mode; }
  [[nodiscard]] static bool should_check_nan() { return thread_state().anomaly_check_nan; }
  static void set_enabled(bool enabled, bool check_nan = true) {
    thread_state().anomaly_mode = enabled;
    thread_state().anomaly_check_nan = check_nan;
  }
};

/// Switches anomaly mode on until the end of the scope.
class DetectAnomalyGuard {
 public:
  explicit DetectAnomalyGuard(bool check_nan = true)
      : outer_(thread_state().anomaly_mode), outer_check_nan_(thread_state().anomaly_check_nan) {
    AnomalyMode::set_enabled(true, check_nan);
  }
  ~DetectAnomalyGuard() { AnomalyMode::set_enabled(outer_, outer_check_nan_); }
  DetectAnomalyGuard(const DetectAnomalyGuard&) = delete;
  DetectAnomalyGuard& operator=(const DetectAnomalyGuard&) = delete;

 private:
  bool outer_;
  bool outer_check_nan_;
};

/// Throws an Error that names `node` and its op if one of the gradients that it gave holds a NaN.
EBB_API void check_for_nan(const Node& node, const variable_list& gradients);

}  // namespace ebb::autograd
