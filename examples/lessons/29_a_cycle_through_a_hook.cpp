#include "lesson.h"

#include <memory>

// A hook that captures a tensor of its own graph closes a cycle: no name is left, and nothing is
// freed. LeakCheck finds it, since it asks what is in use, not who has a name.

namespace {

/// Doubles a tensor, whose hook captures a number, or the tensor. Returns what was captured.
std::weak_ptr<ebb::Tensor> watch(const ebb::Tensor& weight, bool by_tensor) {
  const auto y = std::make_shared<ebb::Tensor>(weight * 2);
  if (by_tensor) {
    y->register_hook([y](const ebb::Tensor& grad) { return grad * y->size(0); });
  } else {
    y->register_hook([rows = y->size(0)](const ebb::Tensor& grad) { return grad * rows; });
  }
  return y;
}

int64_t leaked(const ebb::memory::LeakCheck& check) {
  int64_t bytes = 0;
  for (const ebb::memory::Leak& leak : check.leaks()) bytes += leak.bytes;
  return bytes;
}

}  // namespace

int main() {
  const ebb::Tensor weight = ebb::randn({64, 32}).requires_grad_();
  {
    const ebb::memory::LeakCheck check;
    watch(weight, false);
    lesson::equal("the hook captures a number", 0, leaked(check));
  }
  const ebb::memory::LeakCheck check;
  const auto captured = watch(weight, true);
  lesson::equal("the hook captures its own tensor", lesson::bytes({64, 32}), leaked(check));
  std::cout << ebb::memory::describe(check.leaks());
  { const ebb::Tensor last = std::move(*captured.lock()); }
  lesson::equal("the cycle opened by hand", 0, leaked(check));
  lesson::say("Capture what a hook needs of a tensor, not the tensor.");
}
