#include <thread>

#include "support.h"

using ebb::DeviceIndex;
using ebb::cuda::DeviceGuard;
using ebb::cuda::OptionalDeviceGuard;
using test::kCuda1;
using test::message_of;

TEST_CASE("an enabled emulator has the devices asked for") {
  CHECK(ebb::cuda::is_available());
  CHECK(ebb::cuda::device_count() == 2);
  CHECK(ebb::cuda::unavailable_reason().empty());
}

TEST_CASE("a device that is not there is an error that says how many there are") {
  CHECK_THAT(message_of([] { ebb::cuda::set_device(7); }),
             Catch::Matchers::Contains("there is no device cuda:7; this program sees 2"));
  CHECK_THAT(message_of([] { static_cast<void>(ebb::zeros({2}, "cuda:7")); }),
             Catch::Matchers::Contains("cuda:7"));
  CHECK(ebb::cuda::current_device() == 0);
}

TEST_CASE("cuda without an index is the current device of the thread") {
  CHECK(ebb::zeros({2}, ebb::kCUDA).device() == test::kCuda0);
  {
    const DeviceGuard guard(DeviceIndex{1});
    CHECK(ebb::cuda::current_device() == 1);
    CHECK(guard.original_device() == test::kCuda0);
    CHECK(ebb::default_generator(ebb::kCUDA) == ebb::default_generator(kCuda1));
    CHECK(ebb::zeros({2}, ebb::kCUDA).device() == kCuda1);
    int elsewhere = -1;
    std::thread([&] { elsewhere = ebb::cuda::current_device(); }).join();
    CHECK(elsewhere == 0);
  }
  CHECK(ebb::cuda::current_device() == 0);
}

TEST_CASE("device guards nest, change their device, and may be empty") {
  {
    DeviceGuard guard(kCuda1);
    guard.set_index(0);
    CHECK(ebb::cuda::current_device() == 0);
    guard.set_device(kCuda1);
    CHECK(guard.current_device() == kCuda1);
  }
  CHECK(ebb::cuda::current_device() == 0);
  {
    OptionalDeviceGuard none;
    CHECK_FALSE(none.current_device().has_value());
    none.set_device(kCuda1);
    CHECK(ebb::cuda::current_device() == 1);
    CHECK(none.original_device() == test::kCuda0);
  }
  CHECK(ebb::cuda::current_device() == 0);
  const DeviceGuard nothing(DeviceIndex{-1});
  CHECK(ebb::cuda::current_device() == 0);
}

TEST_CASE("an op runs on the device of its tensors, whatever the current one is") {
  const DeviceGuard guard(DeviceIndex{1});
  const ebb::Tensor on0 = ebb::ones({3}, "cuda:0") + 1;
  CHECK(on0.device() == test::kCuda0);
  CHECK(test::values(on0) == std::vector<float>{2, 2, 2});
  CHECK(ebb::cuda::current_device() == 1);
}

TEST_CASE("one seed starts the generators of all devices, or of one") {
  const auto draw = [](ebb::Device device) { return test::values(ebb::rand({5}, device)); };
  ebb::manual_seed(3);
  const auto first = draw(test::kCuda0);
  CHECK(draw(kCuda1) == first);
  ebb::cuda::manual_seed(3);  // of the current device, cuda:0
  CHECK(draw(test::kCuda0) == first);
  CHECK(draw(kCuda1) != first);
  ebb::cuda::manual_seed_all(3);
  CHECK(draw(kCuda1) == first);
}

// Runs apart, in a process that has not enabled the emulator (tests/CMakeLists.txt).
TEST_CASE("without a device there is a reason, and tensors of the CPU work", "[.not_enabled]") {
  CHECK_FALSE(ebb::cuda::is_available());
  CHECK(ebb::cuda::device_count() == 0);
  CHECK_THAT(ebb::cuda::unavailable_reason(), Catch::Matchers::Contains("emulator::enable()"));
  CHECK(ebb::cuda::memory_allocated() == 0);
  const std::string message = message_of([] { static_cast<void>(ebb::zeros({2}, ebb::kCUDA)); });
  CHECK_THAT(message, Catch::Matchers::Contains("there is no CUDA device"));
  CHECK_THAT(message, Catch::Matchers::Contains("EBB_CUDA_EMULATOR=1"));
  CHECK_THAT(message_of([] { ebb::cuda::synchronize(); }),
             Catch::Matchers::Contains("there is no CUDA device"));
  CHECK_THAT(message_of([] { static_cast<void>(ebb::ones({2}).pin_memory()); }),
             Catch::Matchers::Contains("there is no CUDA device"));

  const ebb::cuda::emulator::CallTrace trace;
  const ebb::Tensor a = ebb::ones({2, 2}, ebb::requires_grad());
  (a * a).sum().backward();
  CHECK(a.grad()[0][0].item<float>() == 2);
  CHECK(trace.count() == 0);  // programs of the CPU do not call the CUDA runtime

  ebb::cuda::emulator::enable();
  CHECK(ebb::cuda::is_available());
  CHECK(test::values(ebb::ones({2}, ebb::kCUDA)) == std::vector<float>{1, 1});
}
