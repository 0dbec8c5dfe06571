// A library with a native CUDA device on a machine, or in a process, without a GPU. The build runs
// this with CUDA_VISIBLE_DEVICES empty, so that it tells the same where there is one.

#include <atomic>
#include <cstring>

#include <dlfcn.h>

#include <ebb/cuda/cuda.h>
#include <ebb/ebb.h>

#include "catch.h"

namespace {

/// How often this process has asked for the driver's library. The runtime does when it starts.
constinit std::atomic<int> driver_loads{0};

void train_on_the_cpu() {
  ebb::nn::Linear net(8, 3);
  ebb::optim::Adam optimizer(net->parameters(), ebb::optim::AdamOptions(1e-2));
  for (int step = 0; step < 2; ++step) {
    optimizer.zero_grad();
    const ebb::Tensor target = ebb::randint(3, {4});
    ebb::cross_entropy_loss(net->forward(ebb::randn({4, 8})), target).backward();
    optimizer.step();
  }
  ebb::manual_seed(1);
  REQUIRE_FALSE(ebb::memory::memory_summary().empty());
  REQUIRE(ebb::memory::memory_allocated(ebb::kCPU) > 0);
}

}  // namespace

/// Stands before the C library's, for the CUDA runtime too, which gets the driver by it.
extern "C" void* dlopen(const char* name, int flags) {
  if (name != nullptr && std::strstr(name, "libcuda.so") != nullptr) ++driver_loads;
  using Open = void* (*)(const char*, int);
  static const auto open = reinterpret_cast<Open>(dlsym(RTLD_NEXT, "dlopen"));
  return open(name, flags);
}

TEST_CASE("A program that keeps to the CPU does not start the CUDA runtime", "[.cpu_only]") {
  const int before = driver_loads;  // cuBLAS looks for the driver as soon as it is loaded
  train_on_the_cpu();
  CHECK(driver_loads == before);
  // The first question for a device does, or the count above would say nothing.
  static_cast<void>(ebb::cuda::is_available());
  CHECK(driver_loads > before);
}

TEST_CASE("Without a GPU a CUDA tensor is an error that names the cause") {
  using Catch::Matchers::ContainsSubstring;
  CHECK_FALSE(ebb::cuda::is_available());
  CHECK(ebb::cuda::device_count() == 0);
  const std::string reason = ebb::cuda::unavailable_reason();
  INFO(reason);
  CHECK((reason.find("no NVIDIA driver was found") == 0 ||
         reason.find("no CUDA GPU was found") == 0));
  CHECK_THROWS_WITH(ebb::zeros({2}, ebb::kCUDA), ContainsSubstring(reason));
  CHECK_THROWS_WITH(ebb::zeros({2}, ebb::Device(ebb::kCUDA, 1)), ContainsSubstring(reason));
  CHECK_THROWS_WITH(ebb::ones({2}).to(ebb::kCUDA), ContainsSubstring(reason));
  CHECK_THROWS_WITH(ebb::nn::Linear(2, 2)->to(ebb::kCUDA), ContainsSubstring(reason));
  CHECK_THROWS_WITH(ebb::ones({2}).pin_memory(), ContainsSubstring(reason));
  CHECK_THROWS_WITH(ebb::set_default_device(ebb::kCUDA), ContainsSubstring(reason));
  CHECK_THROWS_WITH(ebb::cuda::synchronize(), ContainsSubstring(reason));
  CHECK_THROWS_WITH(ebb::cuda::set_device(0), ContainsSubstring(reason));
  CHECK(ebb::get_default_device() == ebb::Device(ebb::kCPU));
  train_on_the_cpu();
}
