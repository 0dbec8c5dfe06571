#include <ebb/optim/schedulers/lr_scheduler.h>

namespace ebb::optim {

void LRScheduler::step() {
  const std::vector<double> rates = get_lrs();
  auto& groups = optimizer_.param_groups();
  EBB_CHECK(rates.size() == groups.size(), "LRScheduler: got ", rates.size(),
            " learning rates for ", groups.size(), " parameter groups");
  for (size_t i = 0; i < rates.size(); ++i) groups[i].options().set_lr(rates[i]);
  ++step_count_;
}

std::vector<double> LRScheduler::get_current_lrs() const {
  std::vector<double> rates;
  for (const auto& group : optimizer_.param_groups()) rates.push_back(group.options().get_lr());
  return rates;
}

}  // namespace ebb::optim
