// An op with a gradient of one's own: a rounding that passes the gradient through (the
// straight-through estimator of Bengio, Leonard and Courville, 2013), used to train weights that
// are rounded to quarters in the forward pass.

#include <ebb/ebb.h>

#include <iostream>

namespace {

struct RoundThrough : ebb::autograd::Function<RoundThrough> {
  static ebb::Tensor forward(ebb::autograd::AutogradContext* ctx, ebb::Tensor x, double step) {
    ctx->saved_data["step"] = step;  // not needed for the gradient, kept to show how
    return (x / step).round_().mul_(step);
  }
  static ebb::autograd::variable_list backward(ebb::autograd::AutogradContext*,
                                               ebb::autograd::variable_list grads) {
    return {grads[0], ebb::Tensor()};  // the number has no gradient
  }
};

}  // namespace

int main() {
  ebb::manual_seed(0);
  const auto target = ebb::tensor({0.5, -1.25, 2.0});
  const auto inputs = ebb::randn({64, 3});
  const auto wanted = inputs.matmul(target);
  auto weights = ebb::zeros({3}, ebb::requires_grad());

  for (int step = 0; step <= 40; ++step) {
    const auto rounded = RoundThrough::apply(weights, 0.25);
    const auto loss = ebb::mse_loss(inputs.matmul(rounded), wanted);
    loss.backward();
    if (step % 10 == 0) std::cout << "step " << step << ": loss " << loss.item<float>() << "\n";
    ebb::NoGradGuard no_grad;
    weights.sub_(weights.grad(), 0.05);
    weights.mutable_grad().reset();
  }
  std::cout << "weights, rounded to quarters:\n"
            << RoundThrough::apply(weights, 0.25).detach() << "\n";
}
