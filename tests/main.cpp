// The main function of all tests: Catch2's own, with the seed of the order printed, so that a
// failure that depends on the order can be had again. EBB_TEST_DEVICE=cuda makes the tensors of all
// tests on the CUDA device, which is emulated where the program is linked with ebb::emulated.
#define CATCH_CONFIG_RUNNER

#include "catch.h"

#include <cstdlib>
#include <iostream>
#include <string_view>

#include <ebb/core/device_setup.h>
#include <ebb/cuda/cuda.h>
#ifdef EBB_CUDA_EMULATED
#include <ebb/cuda/emulator.h>
#endif

/// The exit code that the build reads as "not run".
constexpr int kSkipped = 77;

#ifdef EBB_CUDA_EMULATED
namespace {
/// Reports of the emulator name the test, whose random order does not depend on those before it.
struct NameTheTest : Catch::EventListenerBase {
  using Catch::EventListenerBase::EventListenerBase;
  void testCaseStarting(const Catch::TestCaseInfo& test) override {
    ebb::cuda::emulator::begin_test(test.name);
  }
};
CATCH_REGISTER_LISTENER(NameTheTest)
}  // namespace
#endif

int main(int argc, char** argv) {
  Catch::Session session;
  if (const int error = session.applyCommandLine(argc, argv); error != 0) return error;
  const char* device = std::getenv("EBB_TEST_DEVICE");
  if (device != nullptr && std::string_view(device) == "cuda") {
#ifdef EBB_CUDA_EMULATED
    ebb::cuda::emulator::enable({.devices = 2});
#endif
    if (!ebb::cuda::is_available()) {
      std::cout << "skipped, there is no GPU: " << ebb::cuda::unavailable_reason() << std::endl;
      return kSkipped;
    }
    ebb::set_default_device(ebb::kCUDA);
  }
  std::cout << "seed of the order: " << session.config().rngSeed() << std::endl;
  return session.run();
}
