#include <ebb/ebb.h>
#include <ebb/testing/gradcheck.h>

#include <vector>

#include "catch.h"

// The gradients of recurrent layers, to second order.

using namespace ebb;
namespace rnn = ebb::nn::utils::rnn;

namespace {

using Tensors = std::vector<Tensor>;

Tensor leaf(IntArrayRef sizes, uint64_t seed) {
  const GeneratorGuard guard(Generator(get_default_device(), seed));
  return (randn(sizes, kDouble) * 0.5).requires_grad_();
}

/// Output and last states of a module for padded or packed input.
template <typename M>
Tensors run(M& module, const Tensor& x, bool packed) {
  const auto list = [](const auto& result) {
    Tensors found = {std::get<0>(result)};
    if constexpr (std::is_same_v<std::decay_t<decltype(std::get<1>(result))>, Tensor>) {
      found.push_back(std::get<1>(result));
    } else {
      found.push_back(std::get<0>(std::get<1>(result)));
      found.push_back(std::get<1>(std::get<1>(result)));
    }
    return found;
  };
  if (!packed) return list(module->forward(x));
  const Tensor lengths = ebb::tensor(std::vector<int64_t>{3, 1}, TensorOptions(kLong).device(kCPU));
  auto [out, state] =
      module->forward_with_packed_input(rnn::pack_padded_sequence(x, lengths));
  return list(std::tuple(std::get<0>(rnn::pad_packed_sequence(out)), state));
}

/// Checks the gradients of the input and, with them, of the weights to second order.
template <typename M>
void check(M module, bool packed) {
  module->to(kDouble);
  const auto forward = [&](const Tensors& in) -> Tensors { return run(module, in[0], packed); };
  const auto total = [&](const Tensors& in) -> Tensor {
    Tensor sum = zeros({}, kDouble);
    for (const Tensor& part : forward(in)) sum = sum + part.sin().sum();
    return sum;
  };
  CHECK(testing::gradcheck(total, {leaf({3, 2, 2}, 1)}));
  CHECK(testing::gradgradcheck(total, {leaf({3, 2, 2}, 1)}));
  // A weight: the gradient along it against a difference.
  for (const Tensor& weight : module->parameters()) {
    const Tensors in = {leaf({3, 2, 2}, 2)};
    const Tensor slope = autograd::grad({total(in)}, {weight})[0];
    const Tensor step = full_like(weight, 1e-6).detach();
    const NoGradGuard no_grad;
    weight.add_(step);
    const double above = total(in).template item<double>();
    weight.sub_(step * 2);
    const double below = total(in).template item<double>();
    weight.add_(step);
    CHECK(slope.sum().item<double>() == Approx((above - below) / 2e-6).epsilon(1e-5).margin(1e-7));
  }
}

}  // namespace

TEST_CASE("The gradients of RNN, LSTM and GRU are right to second order, padded and packed") {
  manual_seed(3);
  for (const bool packed : {false, true}) {
    INFO((packed ? "packed" : "padded"));
    check(nn::RNN(nn::RNNOptions(2, 3)), packed);
    check(nn::RNN(nn::RNNOptions(2, 2).num_layers(2).bidirectional(true)), packed);
    check(nn::LSTM(nn::LSTMOptions(2, 2)), packed);
    check(nn::LSTM(nn::LSTMOptions(2, 2).num_layers(2).bidirectional(true).bias(false)), packed);
    check(nn::GRU(nn::GRUOptions(2, 2)), packed);
    check(nn::GRU(nn::GRUOptions(2, 2).num_layers(2).bidirectional(true)), packed);
  }
}
