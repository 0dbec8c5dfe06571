// A network whose first half is on one device and whose second half is on another.

#include "cuda_training/helpers.h"

using namespace training;

namespace {

const ebb::Device kFirst(ebb::kCUDA, 0);
const ebb::Device kSecond(ebb::kCUDA, 1);

/// Two linear layers of 64 to 64 with a ReLU each, and one batch of 16 rows.
struct Halves {
  Halves(ebb::Device first_device, ebb::Device second_device) : device(second_device) {
    ebb::manual_seed(5);
    const ebb::Device outer = ebb::get_default_device();
    ebb::set_default_device(ebb::kCPU);
    first = nn::Sequential(nn::Linear(64, 64), nn::ReLU());
    second = nn::Sequential(nn::Linear(64, 64), nn::ReLU());
    x = ebb::randn({16, 64});
    ebb::set_default_device(outer);
    first->to(first_device);
    second->to(second_device);
    x = x.to(first_device);
  }
  Tensor loss() {
    return second->forward(first->forward(x).to(device)).square().mean();
  }
  std::vector<Tensor> parameters() const {
    std::vector<Tensor> all = first->parameters();
    for (const Tensor& parameter : second->parameters()) all.push_back(parameter);
    return all;
  }

  ebb::Device device;
  nn::Sequential first{nullptr};
  nn::Sequential second{nullptr};
  Tensor x;
};

constexpr int64_t kLayer = 64 * 64 * 4 + 512;  // a weight, and a bias in a block of 512 bytes
constexpr int64_t kActivation = 16 * 64 * 4;

}  // namespace

TEST_CASE("A network with a half on each of two devices has the gradients of one device") {
  Halves one(kFirst, kFirst);
  Halves two(kFirst, kSecond);
  one.loss().backward();
  two.loss().backward();
  for (size_t i = 0; i < one.parameters().size(); ++i) {
    const Tensor gradient = two.parameters()[i].grad();
    CHECK(gradient.device() == two.parameters()[i].device());
    CHECK(ebb::equal(gradient.cpu(), one.parameters()[i].grad().cpu()));
  }
}

TEST_CASE("Each of two devices holds the bytes of its own half") {
  const auto before_first = ebb::memory::memory_allocated(kFirst);
  const auto before_second = ebb::memory::memory_allocated(kSecond);
  Halves two(kFirst, kSecond);
  CHECK(ebb::memory::memory_allocated(kFirst) - before_first == kLayer + kActivation);
  CHECK(ebb::memory::memory_allocated(kSecond) - before_second == kLayer);
  {
    const Tensor loss = two.loss();
    // Kept for backward: on the first device the result of its ReLU (its input x is there anyway);
    // on the second the copy of it, and the result of the second ReLU, which square keeps too.
    CHECK(ebb::memory::memory_allocated(kFirst) - before_first == kLayer + 2 * kActivation);
    CHECK(ebb::memory::memory_allocated(kSecond) - before_second ==
          kLayer + 2 * kActivation + 512);
    loss.backward();
  }
  CHECK(ebb::memory::memory_allocated(kFirst) - before_first == 2 * kLayer + kActivation);
  CHECK(ebb::memory::memory_allocated(kSecond) - before_second == 2 * kLayer);
}

TEST_CASE("A network on two devices trains") {
  Halves two(kFirst, kSecond);
  ebb::optim::SGD optimizer(two.parameters(), ebb::optim::SGDOptions(0.5));
  const double start = two.loss().item<double>();
  for (int i = 0; i < 20; ++i) {
    optimizer.zero_grad();
    two.loss().backward();
    optimizer.step();
  }
  CHECK(two.loss().item<double>() < 0.8 * start);
}

TEST_CASE("The gradient of a copy in place goes back to the device of its source") {
  const Tensor source = ebb::ones({3}, kSecond).requires_grad_();
  Tensor target = ebb::zeros({3}, kFirst);
  target.copy_(source);
  (target * 2).sum().backward();
  CHECK(source.grad().device() == kSecond);
  CHECK(ebb::equal(source.grad().cpu(), ebb::full({3}, 2.0, ebb::kCPU)));
}
