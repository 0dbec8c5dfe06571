#include "lesson.h"

// SaveAs keeps what backward needs in fewer bits: half the bytes as float16, a little more than a
// quarter as 8-bit codes. Forward is exact; gradients are off by the rounding of what was saved.

int main() {
  constexpr int64_t kRows = 512, kWidth = 128, kNumel = kRows * kWidth;
  const ebb::Tensor x = ebb::randn({kRows, kWidth}).requires_grad_();
  const auto step = [&] { return x.tanh().sin().cos().sum(); };  // keeps results of tanh and sin
  const auto kept = [&](auto&& f) {
    const int64_t start = lesson::allocated();
    const ebb::Tensor loss = f();
    const int64_t bytes = lesson::allocated() - start - lesson::bytes({1});
    return std::pair(bytes, ebb::autograd::grad({loss}, {x})[0]);
  };
  const auto [plain, exact] = kept(step);
  lesson::equal("float32", 2 * lesson::bytes({kNumel}), plain);

  const auto [half, from_half] = kept([&] {
    const ebb::SaveAs save(ebb::kHalf);
    return step();
  });
  lesson::equal("saved as float16", 2 * lesson::bytes({kNumel}, 2), half);

  const auto [codes, from_codes] = kept([&] {
    const ebb::SaveAs save(ebb::kByte);
    return step();
  });
  lesson::equal("saved as 8-bit codes, with a float for each 256",
                2 * (lesson::bytes({kNumel}, 1) + lesson::bytes({kNumel / 256})), codes);

  const auto off = [&exact = exact](const ebb::Tensor& gradient) {
    return ((gradient - exact).norm() / exact.norm()).item<float>();
  };
  std::cout << "the gradient is off by " << off(from_half) << " and " << off(from_codes)
            << " of its norm\n";
  return off(from_half) < 0.001F && off(from_codes) < 0.05F ? 0 : 1;
}
