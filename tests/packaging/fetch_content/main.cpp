// Across the border of a shared library: tensors, errors by their types, gradients.
#include <ebb/ebb.h>

#include <cstdio>

int main() {
  const auto x = ebb::tensor({1.0, 2.0, 3.0}, ebb::requires_grad());
  (x * x).sum().backward();
  const bool right = ebb::equal(x.grad(), 2 * x.detach());

  bool caught = false;
  try {
    ebb::matmul(ebb::ones({2, 3}), ebb::ones({2, 3}));
  } catch (const ebb::Error& error) {
    caught = true;
    std::printf("%s\n", error.what());
  }
  return right && caught ? 0 : 1;
}
