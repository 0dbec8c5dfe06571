#pragma once

#include <vector>

#include <ebb/optim/optimizer.h>

namespace ebb::optim {

/// Changes the learning rates of an optimizer, which must outlive it, from epoch to epoch.
class EBB_API LRScheduler {
 public:
  explicit LRScheduler(Optimizer& optimizer) : optimizer_(optimizer) {}
  LRScheduler(const LRScheduler&) = delete;
  LRScheduler& operator=(const LRScheduler&) = delete;
  virtual ~LRScheduler() = default;

  /// Call it after each epoch.
  void step();

 protected:
  /// The learning rates to come, one for each group, when step() was called step_count_ times.
  virtual std::vector<double> get_lrs() = 0;
  [[nodiscard]] std::vector<double> get_current_lrs() const;

  unsigned step_count_ = 0;

 private:
  Optimizer& optimizer_;
};

}  // namespace ebb::optim
