#pragma once

#include <vector>

#include <ebb/optim/schedulers/lr_scheduler.h>

namespace ebb::optim {

/// Multiplies the learning rates by `gamma` every `step_size` epochs, as LibTorch counts them: the
/// first time in the call of step() number step_size + 1.
class EBB_API StepLR : public LRScheduler {
 public:
  /// Throws an Error if step_size is 0.
  StepLR(Optimizer& optimizer, unsigned step_size, double gamma = 0.1);

 private:
  std::vector<double> get_lrs() override;

  unsigned step_size_;
  double gamma_;
};

}  // namespace ebb::optim
