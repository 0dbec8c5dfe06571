#include "support.h"

using Catch::Matchers::Contains;
using ebb::Tensor;
using test::kCuda0;
using test::kCuda1;
using test::message_of;

TEST_CASE("an op on tensors of two devices names itself, both tensors and the way out") {
  const Tensor a = ebb::ones({2, 3}, kCuda0);
  const Tensor b = ebb::ones({2, 3}, ebb::kCPU);
  const std::string message = message_of([&] { static_cast<void>(a + b); });
  CHECK_THAT(message, Contains("add: expected all tensors to be on the same device"));
  CHECK_THAT(message, Contains("(Float of sizes [2, 3]) is on cuda:0"));
  CHECK_THAT(message, Contains("(Float of sizes [2, 3]) is on cpu"));
  CHECK_THAT(message, Contains(".to(device)"));
}

TEST_CASE("every family refuses tensors of two devices") {
  const Tensor on0 = ebb::ones({2, 2}, kCuda0);
  const Tensor on1 = ebb::ones({2, 2}, kCuda1);
  const Tensor image = ebb::ones({1, 2, 4, 4}, kCuda0);
  const Tensor rows = ebb::zeros({2}, ebb::device(kCuda1).dtype(ebb::kLong));
  const auto refused = [](const char* op, auto&& call) {
    INFO(op);
    const std::string message = message_of(call);
    CHECK_THAT(message, Contains(std::string(op) + ": ") && Contains("cuda:0") &&
                            Contains("cuda:1"));
  };
  refused("mul", [&] { static_cast<void>(on0 * on1); });
  refused("mul_", [&] { Tensor(on0).mul_(on1); });
  refused("where", [&] { static_cast<void>(ebb::where(on0 > 0, on0, on1)); });
  refused("mm", [&] { static_cast<void>(ebb::mm(on0, on1)); });
  refused("matmul", [&] { static_cast<void>(ebb::matmul(on0, on1)); });
  refused("linear", [&] { static_cast<void>(ebb::linear(on0, on1)); });
  refused("addmm", [&] { static_cast<void>(ebb::addmm(on0, on0, on1)); });
  refused("cat", [&] { static_cast<void>(ebb::cat({on0, on1})); });
  refused("stack", [&] { static_cast<void>(ebb::stack({on0, on1})); });
  refused("conv2d", [&] {
    static_cast<void>(ebb::conv2d(image, ebb::ones({1, 2, 3, 3}, kCuda1)));
  });
  refused("layer_norm", [&] {
    static_cast<void>(ebb::layer_norm(on0, {2}, ebb::ones({2}, kCuda1)));
  });
  refused("embedding", [&] { static_cast<void>(ebb::embedding(on0, rows)); });
  refused("index_select", [&] { static_cast<void>(on0.index_select(0, rows)); });
  refused("gather", [&] {
    static_cast<void>(on0.gather(0, ebb::zeros({2, 2}, rows.options())));
  });
  refused("cross_entropy_loss", [&] {
    static_cast<void>(ebb::cross_entropy_loss(on0, rows));
  });
  refused("mse_loss", [&] { static_cast<void>(ebb::mse_loss(on0, on1)); });
}

TEST_CASE("a CPU tensor without dimensions is a number to an op of a device") {
  const Tensor a = ebb::ones({2}, kCuda0);
  const Tensor two = ebb::full({}, 2, ebb::kCPU);
  const ebb::cuda::emulator::CallTrace trace;
  const Tensor b = a * two;
  CHECK(trace.synchronizations() == 0);
  CHECK(b.device() == kCuda0);
  CHECK(test::values(b) == std::vector<float>{2, 2});
  CHECK_THROWS_AS(a * ebb::full({}, 2, kCuda1), ebb::Error);
}
