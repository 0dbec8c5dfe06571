#include "lesson.h"

// Parameters of two bytes: where the float32 that small steps need can hide.

namespace {

constexpr int64_t kIn = 512, kOut = 256;

/// What parameter, gradient and optimizer state take after a step, and the parameter's first value
/// after many steps that are each too small for its two bytes.
double bytes_and_value(const char* what, ebb::ScalarType dtype, ebb::optim::AdamOptions options,
                       int64_t predicted) {
  const int64_t start = lesson::allocated();
  const ebb::Tensor w = ebb::ones({kOut, kIn}, dtype).requires_grad_();
  ebb::optim::Adam optimizer({w}, options);
  for (int i = 0; i < 64; ++i) {
    w.mutable_grad() = ebb::full({kOut, kIn}, -1, dtype);
    optimizer.step();
  }
  lesson::equal(what, predicted, lesson::allocated() - start);
  return w.detach().to(ebb::kFloat).mean().item<double>();
}

}  // namespace

int main() {
  ebb::manual_seed(1);
  const auto two = lesson::bytes({kOut, kIn}, 2);
  const auto four = lesson::bytes({kOut, kIn}, 4);
  const ebb::optim::AdamOptions options(0x1p-12);  // 64 steps of it make 2^-6

  const double full = bytes_and_value("float32: 4 + 4 + 8 bytes an element", ebb::kFloat, options,
                                      four + four + 2 * four);
  const double plain =
      bytes_and_value("bfloat16: 2 + 2 + 4 bytes", ebb::kBFloat16, options, two + two + 2 * two);
  auto master = options;
  master.master_weights(true);
  const double copied = bytes_and_value("bfloat16 with float32 copies: 2 + 2 + 4 + 8 bytes",
                                        ebb::kBFloat16, master, two + two + four + 2 * four);
  auto rounded = options;
  rounded.stochastic_rounding(true);
  const double drawn = bytes_and_value("bfloat16, rounded stochastically: 2 + 2 + 4 bytes",
                                       ebb::kBFloat16, rounded, two + two + 2 * two);

  std::cout << "the weight after 64 steps of 2^-12: float32 " << full << ", bfloat16 " << plain
            << ", with copies " << copied << ", rounded stochastically " << drawn << '\n';
  if (plain != 1 || copied < 1.01 || std::abs(drawn - full) > 0.004) return 1;
  lesson::say(
      "Two-byte weights alone lose small steps; a copy keeps them, chance keeps their sum.");
}
