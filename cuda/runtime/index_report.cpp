#include <ebb/cuda/runtime/index_report.h>

#include <array>
#include <atomic>
#include <mutex>

#include <ebb/core/thread_state.h>
#include <ebb/cuda/runtime/error.h>
#include <ebb/cuda/runtime/synchronization.h>

namespace ebb::cuda {

namespace {

constinit std::array<std::atomic<IndexReport*>, kMaxDevices> reports{};
constinit std::mutex reports_mutex;

IndexReport* report_of(DeviceIndex device) {
  auto& slot = reports[static_cast<size_t>(device)];
  if (IndexReport* made = slot.load(std::memory_order_acquire)) return made;
  std::lock_guard lock(reports_mutex);
  if (IndexReport* made = slot.load(std::memory_order_acquire)) return made;
  void* memory = nullptr;
  EBB_CUDA_CHECK(cudaHostAlloc(&memory, sizeof(IndexReport), cudaHostAllocPortable));
  auto* report = new (memory) IndexReport{};
  slot.store(report, std::memory_order_release);
  return report;
}

}  // namespace

IndexCheck index_check() {
  const ThreadState& thread = thread_state();
  const char* op = thread.op_name == nullptr ? "an op that indexes" : thread.op_name;
  return {report_of(thread.kernel_device), op};
}

void check_index_errors(DeviceIndex device) {
  IndexReport* report = reports[static_cast<size_t>(device)].load(std::memory_order_acquire);
  if (report == nullptr) return;
  if (std::atomic_ref(report->complete).load(std::memory_order_acquire) == 0) return;
  const IndexReport found = *report;
  *report = IndexReport{};
  throw IndexError(ebb::detail::concat(found.op, ": index ", found.index,
                                       " is out of range for size ", found.size, " (on ",
                                       Device(kCUDA, device),
                                       "; found by a kernel, reported when the host waited for it)"));
}

void synchronize_stream(DeviceIndex device, cudaStream_t stream, const CallSite& site) {
  check_call(cudaStreamSynchronize(stream), site);
  check_index_errors(device);
}

}  // namespace ebb::cuda
