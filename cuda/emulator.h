#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <ebb/core/export.h>
#include <ebb/cuda/runtime/api.h>

/// The emulated CUDA device, for tests on machines without a GPU. Programs that use it are linked
/// with ebb::emulated. See docs/cuda-kernels.md.
namespace ebb::cuda::emulator {

namespace literals {
constexpr size_t operator""_KiB(unsigned long long n) { return static_cast<size_t>(n) << 10; }
constexpr size_t operator""_MiB(unsigned long long n) { return static_cast<size_t>(n) << 20; }
constexpr size_t operator""_GiB(unsigned long long n) { return static_cast<size_t>(n) << 30; }
}  // namespace literals
using namespace literals;

/// What the emulated machine is like. What is not said is taken from the environment, else it is
/// the value here.
struct Settings {
  /// How many devices there are. EBB_CUDA_EMULATOR_DEVICES; 1.
  std::optional<int> devices{};
  /// How many bytes each of them has; only what is used takes memory of the host.
  /// EBB_CUDA_EMULATOR_MEMORY, in bytes or with a suffix KiB, MiB or GiB; 16 GiB.
  std::optional<size_t> memory{};
  /// Chooses the order of threads, blocks and streams. EBB_CUDA_EMULATOR_SEED; 1.
  std::optional<uint64_t> seed{};
  /// Work runs at once, in the order in which it is queued, rather than when it must.
  /// EBB_CUDA_EMULATOR_EAGER=1.
  std::optional<bool> eager{};
  /// A thread may return while others wait at a barrier, as GPUs allow since Volta.
  /// EBB_CUDA_EMULATOR_EARLY_EXIT=1.
  std::optional<bool> early_exit{};
  /// The host may not touch device memory, as on a machine with a GPU: the process ends with a
  /// report. Each piece of work costs some microseconds more. EBB_CUDA_EMULATOR_PROTECT=1.
  std::optional<bool> protect{};
};

/// Makes the emulated devices available. They also are if EBB_CUDA_EMULATOR=1 is set. May be called
/// again: what is said changes at once. Throws an ebb::Error where a value makes no sense.
EBB_API void enable(const Settings& settings = {});
[[nodiscard]] EBB_API bool is_enabled();

/// Starts the random order anew from a seed.
EBB_API void set_seed(uint64_t seed);
[[nodiscard]] EBB_API uint64_t seed();
EBB_API void set_eager(bool eager);
/// Changes how many bytes a device has; what is allocated stays.
EBB_API void set_memory(int device, size_t bytes);
EBB_API void set_early_exit(bool allowed);
EBB_API void set_protect(bool protect);

/// Names the test that runs, in the last line of reports, and starts the random order anew from the
/// seed, so that a test alone does what it does among others.
EBB_API void begin_test(const std::string& name);

/// The reports of faults since the last call, oldest first. A report is also printed to stderr
/// when it is made, unless set_print_reports(false).
[[nodiscard]] EBB_API std::vector<std::string> take_reports();
EBB_API void set_print_reports(bool print);
/// Takes the reports and ends the sticky error that a fault leaves, as a new process would.
EBB_API std::vector<std::string> recover();

/// AddressSanitizer's poisoning of device memory, for allocators that carve their blocks from
/// larger pieces: nobody may touch the range until unpoison. Nothing in other builds.
EBB_API void poison(const void* data, size_t bytes);
EBB_API void unpoison(const void* data, size_t bytes);

/// Makes the n-th call of the runtime or cuBLAS from now on (1 is the next) fail with `error`
/// without doing anything. Fatal errors (cudaErrorLaunchFailure and its like) stay, as in CUDA.
EBB_API void fail_call(int64_t n, cudaError_t error = cudaErrorUnknown);
/// No call is to fail any more; whether one has failed since fail_call.
EBB_API bool stop_failing();

/// Counts calls from its construction on.
class EBB_API CallTrace {
 public:
  CallTrace();
  /// All calls, or those of one function, such as "cudaMalloc"; kernels count as "launch".
  [[nodiscard]] int64_t count() const;
  [[nodiscard]] int64_t count(const std::string& function) const;
  /// Calls that made the host wait for a device: cudaStreamSynchronize and its like, copies that
  /// are not asynchronous or whose host memory is pageable and is written, cudaFree.
  [[nodiscard]] int64_t synchronizations() const;
  /// One line for each function called: its name and how often.
  [[nodiscard]] std::string str() const;

 private:
  std::vector<int64_t> before_;
  int64_t synchronizations_before_;
};

}  // namespace ebb::cuda::emulator
