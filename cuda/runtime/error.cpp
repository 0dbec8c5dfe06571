#include <ebb/cuda/runtime/error.h>

#include <cstdlib>
#include <cstring>
#include <mutex>
#include <string_view>

#include <ebb/core/thread_state.h>
#if defined(EBB_CUDA_EMULATED)
#include <ebb/cuda/emulator/report.h>
#endif

namespace ebb::cuda {

namespace {

std::mutex fault_mutex;

/// The first sticky fault of the process; empty while there was none. Never destroyed.
std::string& first_fault() {
  static auto* text = new std::string;
  return *text;
}

/// The path from the repository's root on, wherever the build stands.
std::string_view short_path(std::string_view path) {
  const size_t at = path.rfind("cuda/");
  const size_t root = at == std::string_view::npos ? at : path.rfind("/cuda/", at);
  return root == std::string_view::npos ? path : path.substr(root + 1);
}

/// What the emulator found, where it is one.
std::string found_by_emulator() {
#if defined(EBB_CUDA_EMULATED)
  const std::string report = emulator::fault_report();
  return report.empty() ? "" : "\n" + report;
#else
  return "";
#endif
}

/// What to add to the message of a sticky fault.
std::string advice(const std::string& fault) {
  std::lock_guard lock(fault_mutex);
  if (!first_fault().empty()) {
    return "; the device is lost since the fault reported before: " + first_fault();
  }
  first_fault() = fault;
  return "; a kernel that was launched before this call may be the cause: run with "
         "CUDA_LAUNCH_BLOCKING=1 to see which. The device is lost to this process: every further "
         "call fails, so save what is on the host and start the program again" +
         found_by_emulator();
}

}  // namespace

std::string describe(const CallSite& site) {
  return std::string(site.call) + " at " + std::string(short_path(site.file)) + ":" +
         std::to_string(site.line);
}

bool is_sticky(cudaError_t error) noexcept {
  const int code = static_cast<int>(error);
  return code == 214     // cudaErrorECCUncorrectable
         || code == 220  // cudaErrorNvlinkUncorrectable
         || code == 700  // cudaErrorIllegalAddress
         || code == 702  // cudaErrorLaunchTimeout
         || code == 710  // cudaErrorAssert
         || (code >= 714 && code <= 719);  // cudaErrorHardwareStackError .. cudaErrorLaunchFailure
}

void raise_cuda_error(cudaError_t error, const CallSite& site) {
  raise_cuda_error(error, describe(site));
}

void raise_cuda_error(cudaError_t error, const std::string& what) {
  static_cast<void>(cudaGetLastError());
  const char* op = thread_state().op_name;
  const std::string fault =
      std::string(cudaGetErrorName(error)) + " (" + cudaGetErrorString(error) + ") in " + what;
  throw CUDAError((op == nullptr ? "" : std::string(op) + ": ") + "CUDA error: " + fault +
                      (is_sticky(error) ? advice(fault) : ""),
                  static_cast<int>(error));
}

void forget_sticky_fault() noexcept {
  std::lock_guard lock(fault_mutex);
  first_fault().clear();
}

bool launch_blocking() noexcept {
  static const bool wanted = [] {
    const char* value = std::getenv("CUDA_LAUNCH_BLOCKING");
    return value != nullptr && *value != '\0' && std::strcmp(value, "0") != 0;
  }();
  return wanted;
}

}  // namespace ebb::cuda
