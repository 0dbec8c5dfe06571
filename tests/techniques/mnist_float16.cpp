// A small convolutional network on handwritten digits, in float32 and in float16 with GradScaler.

#include <ebb/ebb.h>

#include "catch.h"

namespace nn = ebb::nn;
using ebb::Tensor;
using ebb::amp::AutocastGuard;
using ebb::amp::GradScaler;
using ebb::amp::GradScalerOptions;
using ebb::data::datasets::MNIST;

namespace {

constexpr int64_t kTrained = 4000;
constexpr int64_t kTested = 1000;
constexpr int64_t kBatch = 50;

struct Outcome {
  double accuracy = 0;  ///< in percent of the test digits
  int64_t skipped = 0;
  double scale = 0;
};

Tensor digits(const MNIST& set, int64_t count) { return set.images().narrow(0, 0, count); }

Outcome train(bool float16, double init_scale) {
  ebb::manual_seed(7);
  nn::Sequential net(nn::Conv2d(nn::Conv2dOptions(1, 8, 3).padding(1)), nn::ReLU(),
                     nn::MaxPool2d(2), nn::Conv2d(nn::Conv2dOptions(8, 16, 3).padding(1)),
                     nn::ReLU(), nn::MaxPool2d(2), nn::Flatten(), nn::Linear(16 * 7 * 7, 10));
  ebb::optim::Adam optimizer(net->parameters(), ebb::optim::AdamOptions(2e-3));
  GradScaler scaler(GradScalerOptions().enabled(float16).init_scale(init_scale));
  const auto logits = [&](const Tensor& images) {
    const AutocastGuard guard(ebb::kCPU, ebb::kHalf, float16);
    return net->forward(images);
  };
  const MNIST learned(EBB_SOURCE_DIR "/examples/data/mnist");
  const Tensor images = digits(learned, kTrained);
  for (int epoch = 0; epoch < 3; ++epoch) {
    const Tensor order = ebb::randperm(kTrained);
    for (int64_t i = 0; i < kTrained; i += kBatch) {
      const Tensor batch = order.narrow(0, i, kBatch);
      const AutocastGuard guard(ebb::kCPU, ebb::kHalf, float16);
      optimizer.zero_grad();
      const Tensor loss = nn::functional::cross_entropy(logits(images.index_select(0, batch)),
                                                        learned.targets().index_select(0, batch));
      scaler.scale(loss).backward();
      scaler.step(optimizer);
      scaler.update();
    }
  }
  const ebb::NoGradGuard no_grad;
  const MNIST unseen(EBB_SOURCE_DIR "/examples/data/mnist", MNIST::Mode::kTest);
  const Tensor guessed = logits(digits(unseen, kTested)).argmax(1);
  const double right = guessed.eq(unseen.targets().narrow(0, 0, kTested)).sum().item<double>();
  return {100 * right / kTested, scaler.skipped_steps(), scaler.get_scale()};
}

}  // namespace

TEST_CASE("Float16 training of the digits is within half a point of float32") {
  if (ebb::get_default_device() != ebb::Device(ebb::kCPU)) return;  // minutes on the emulator
  const auto exact = train(false, 1);
  CHECK(exact.accuracy > 90);
  const auto low = train(true, 65536);
  INFO("float32 " << exact.accuracy << " %, float16 " << low.accuracy << " %, " << low.skipped
                  << " steps skipped");
  CHECK(low.accuracy > exact.accuracy - 0.5);

  // A scale at which gradients overflow: steps are skipped and the scale halves until they do not.
  const auto high = train(true, 0x1p30);
  INFO("from a scale of 2^30: " << high.accuracy << " %, " << high.skipped << " steps skipped");
  CHECK(high.skipped >= 8);
  CHECK(high.scale == std::ldexp(1, 30 - static_cast<int>(high.skipped)));
  CHECK(high.accuracy > exact.accuracy - 0.5);
}
