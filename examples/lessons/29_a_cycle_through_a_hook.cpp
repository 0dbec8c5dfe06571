#include "lesson.h"

#include <memory>

// A hook that captures a tensor of its own graph closes a cycle: no name is left, and nothing is
// freed. LeakCheck finds it, since it asks what is in use, not who has a name.

namespace {

/// Doubles a tensor, and watches its gradient with a hook that captured `watched`.
void watch(const ebb::Tensor& weight, bool by_tensor) {
  const ebb::Tensor y = weight * 2;
  if (by_tensor) {
    y.register_hook([y](const ebb::Tensor& grad) { return grad * y.size(0); });
  } else {
    y.register_hook([rows = y.size(0)](const ebb::Tensor& grad) { return grad * rows; });
  }
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
  watch(weight, true);
  lesson::equal("the hook captures its own tensor", lesson::bytes({64, 32}), leaked(check));
  std::cout << ebb::memory::describe(check.leaks());
  lesson::say("Capture what a hook needs of a tensor, not the tensor.");
}
