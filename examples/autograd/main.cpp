// What the tape records, and what it lets go of: gradients, grad modes, hooks, gradients of
// gradients, and what happens when a saved tensor is written.

#include <ebb/ebb.h>

#include <iostream>

namespace {

void gradients() {
  auto x = ebb::tensor({1.0, 2.0, 3.0}, ebb::requires_grad());
  const auto y = (x * x).sum();
  y.backward();
  std::cout << "the gradient of sum(x^2) at x = [1, 2, 3]:\n" << x.grad() << "\n\n";
}

void memory() {
  const auto bytes = [] { return ebb::memory::memory_allocated(); };
  auto x = ebb::ones({1000, 1000}, ebb::requires_grad());
  const auto before = bytes();
  auto y = (x * 2).exp();  // exp saves its result, * saves nothing: 2 is a number
  std::cout << "exp(2 x) on a million floats keeps " << bytes() - before << " bytes";
  y.sum().backward();
  y.reset();
  std::cout << "; after backward only the gradient is left: " << bytes() - before << " bytes\n";
  {
    ebb::NoGradGuard no_grad;
    const auto start = bytes();
    const auto z = (x * 2).exp();
    std::cout << "under NoGradGuard the same keeps its result alone: " << bytes() - start
              << " bytes\n\n";
  }
}

void hooks() {
  auto x = ebb::tensor({1.0, 2.0}, ebb::requires_grad());
  auto y = x * 3;
  y.register_hook([](const ebb::Tensor& grad) { return grad * 10; });
  y.sum().backward();
  std::cout << "a hook that returns ten times the gradient of 3 x:\n" << x.grad() << "\n\n";
}

void gradients_of_gradients() {
  auto x = ebb::tensor({2.0}, ebb::requires_grad());
  const auto y = x.pow(3).sum();
  const auto first = ebb::autograd::grad({y}, {x}, {}, /*retain_graph=*/true,
                                         /*create_graph=*/true)[0];
  const auto second = ebb::autograd::grad({first.sum()}, {x})[0];
  std::cout << "x^3 at 2: first derivative " << first.item<double>() << ", second "
            << second.item<double>() << "\n\n";
}

void a_saved_tensor_is_written() {
  auto x = ebb::tensor({1.0, 2.0}, ebb::requires_grad());
  auto y = x.exp();  // backward will need y
  y.add_(1);
  try {
    y.sum().backward();
  } catch (const ebb::Error& error) {
    std::cout << "writing what backward needs is an error:\n" << error.what() << "\n";
  }
}

}  // namespace

int main() {
  gradients();
  memory();
  hooks();
  gradients_of_gradients();
  a_saved_tensor_is_written();
}
