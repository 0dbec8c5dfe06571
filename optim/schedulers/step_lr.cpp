#include <ebb/optim/schedulers/step_lr.h>

namespace ebb::optim {

StepLR::StepLR(Optimizer& optimizer, unsigned step_size, double gamma)
    : LRScheduler(optimizer), step_size_(step_size), gamma_(gamma) {
  EBB_CHECK(step_size > 0, "StepLR: step_size must be at least 1");
}

std::vector<double> StepLR::get_lrs() {
  std::vector<double> rates = get_current_lrs();
  if (step_count_ == 0 || step_count_ % step_size_ != 0) return rates;
  for (double& rate : rates) rate *= gamma_;
  return rates;
}

}  // namespace ebb::optim
