#include "lesson.h"

// SaveOnCpu keeps what backward needs in the host's memory. On the CPU there is nothing to move;
// with a CUDA device (EBB_LESSON_DEVICE=cuda) the device keeps nothing but the result.

int main() {
  const char* wanted = std::getenv("EBB_LESSON_DEVICE");
  const bool on_device = wanted != nullptr && std::string_view(wanted) == "cuda";
  if (on_device) ebb::set_default_device(ebb::kCUDA);

  constexpr int64_t kRows = 1024, kWidth = 128;
  const auto one = lesson::bytes({kRows, kWidth});
  const ebb::Tensor x = ebb::randn({kRows, kWidth}).requires_grad_();
  ebb::Tensor loss;
  const auto step = [&] { loss = x.exp().sin().cos().sum(); };  // keeps results of exp and sin
  lesson::equal("plain: two tensors and the loss", 2 * one + lesson::bytes({1}),
                ebb::testing::measure(step).net_bytes);
  const ebb::Tensor exact = ebb::autograd::grad({loss}, {x})[0];
  loss.reset();

  const auto offloaded = ebb::testing::measure([&] {
    const ebb::SaveOnCpu offload;
    step();
  });
  lesson::equal("with SaveOnCpu", (on_device ? 0 : 2 * one) + lesson::bytes({1}),
                offloaded.net_bytes);
  const ebb::Tensor gradient = ebb::autograd::grad({loss}, {x})[0];
  if (!ebb::equal(gradient, exact)) return 1;
  lesson::say("The gradients are the same bits; the price is the way to the host and back.");
}
