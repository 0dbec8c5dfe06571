// What watching memory costs: training steps and allocations with a history, with a LeakCheck, and
// with neither, in turn in one run, so that a noisy machine disturbs all alike.
//   recording [rounds]   prints "NAME plain history leak_check history_ratio leak_check_ratio":
//                        medians in microseconds a step and in nanoseconds an allocation with its
//                        free, and the medians of each round's ratios to its plain run
#include <algorithm>
#include <array>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include <ebb/ebb.h>

namespace {

namespace nn = ebb::nn;
using ebb::Tensor;
using ebb::memory::LeakCheck;

enum Watch { none, history, leak_check };
constexpr int kWatches = 3;

/// Watches while it lives; what it takes to begin and to end is no part of what is measured.
class Watcher {
 public:
  explicit Watcher(Watch watch) : watch_(watch) {
    if (watch == history) ebb::memory::record_history();
    if (watch == leak_check) check_.emplace();
  }
  ~Watcher() {
    if (watch_ == history) static_cast<void>(ebb::memory::stop_history());
  }
  Watcher(const Watcher&) = delete;
  Watcher& operator=(const Watcher&) = delete;

 private:
  Watch watch_;
  std::optional<LeakCheck> check_;
};

double median(std::vector<double> times) {
  const auto middle = times.begin() + static_cast<std::ptrdiff_t>(times.size() / 2);
  std::nth_element(times.begin(), middle, times.end());
  return *middle;
}

/// Calls `body` `rounds` times under each watch, in turn, and prints the medians of its seconds
/// times `scale`.
void compare(const char* name, int rounds, double scale, const std::function<void()>& body) {
  for (int i = 0; i < 5; ++i) body();
  std::array<std::vector<double>, kWatches> times;
  for (int i = 0; i < kWatches * rounds; ++i) {
    // A different one goes first in each round.
    const auto watch = static_cast<Watch>((i + i / kWatches) % kWatches);
    const Watcher watcher(watch);
    const auto start = std::chrono::steady_clock::now();
    body();
    const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - start;
    times[watch].push_back(taken.count() * scale);
  }
  std::array<std::vector<double>, kWatches> ratios;
  for (int watch = 0; watch < kWatches; ++watch) {
    for (size_t round = 0; round < times[none].size(); ++round) {
      ratios[watch].push_back(times[watch][round] / times[none][round]);
    }
  }
  std::printf("%s %.2f %.2f %.2f %.3f %.3f\n", name, median(times[none]), median(times[history]),
              median(times[leak_check]), median(ratios[history]), median(ratios[leak_check]));
  std::fflush(stdout);
}

/// A step of training on 64 images of the size of MNIST's.
std::function<void()> step(nn::Sequential net, const Tensor& images) {
  const Tensor labels = ebb::randint(0, 10, {64}, ebb::kLong);
  auto adam = std::make_shared<ebb::optim::Adam>(net->parameters(), ebb::optim::AdamOptions(1e-3));
  return [net = std::move(net), images, labels, adam]() mutable {
    adam->zero_grad();
    ebb::cross_entropy_loss(net->forward(images), labels).backward();
    adam->step();
  };
}

}  // namespace

int main(int argc, char** argv) {
  const int rounds = argc > 1 ? std::max(1, std::atoi(argv[1])) : 400;
  ebb::manual_seed(0);
  constexpr double kMicro = 1e6;
  compare("mnist_tiny", rounds, kMicro,
          step(nn::Sequential(nn::Linear(784, 32), nn::ReLU(), nn::Linear(32, 10)),
               ebb::randn({64, 784})));
  compare("mnist_mlp", rounds, kMicro,
          step(nn::Sequential(nn::Linear(784, 256), nn::ReLU(), nn::Linear(256, 256), nn::ReLU(),
                              nn::Linear(256, 10)),
               ebb::randn({64, 784})));
  compare("mnist_cnn", std::max(1, rounds / 10), kMicro,
          step(nn::Sequential(nn::Conv2d(nn::Conv2dOptions(1, 16, 3).padding(1)),
                              nn::BatchNorm2d(16), nn::ReLU(), nn::MaxPool2d(2),
                              nn::Conv2d(nn::Conv2dOptions(16, 32, 3).padding(1)),
                              nn::BatchNorm2d(32), nn::ReLU(), nn::MaxPool2d(2), nn::Flatten(),
                              nn::Linear(32 * 7 * 7, 64), nn::ReLU(), nn::Linear(64, 10)),
               ebb::randn({64, 1, 28, 28})));

  constexpr int kPairs = 1000;
  constexpr double kNanoOfPair = 1e9 / kPairs;
  compare("allocate_free", rounds, kNanoOfPair, [] {
    for (int i = 0; i < kPairs; ++i) {
      ebb::memory::release(ebb::memory::allocate(4096, ebb::kCPU));
    }
  });
  compare("empty_tensor", rounds, kNanoOfPair, [] {
    for (int i = 0; i < kPairs; ++i) static_cast<void>(ebb::empty({1024}));
  });
  // All are taken before the first is given back, as tensors that are saved for backward.
  compare("allocate_many", rounds, kNanoOfPair, [] {
    static std::vector<ebb::memory::Block*> blocks(kPairs);
    for (auto& block : blocks) block = ebb::memory::allocate(4096, ebb::kCPU);
    for (auto* block : blocks) ebb::memory::release(block);
  });
}
