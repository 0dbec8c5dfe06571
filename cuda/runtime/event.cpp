#include <ebb/cuda/runtime/event.h>

#include <ebb/core/error.h>
#include <ebb/cuda/runtime/error.h>
#include <ebb/cuda/runtime/synchronization.h>

namespace ebb::cuda {

static_assert(Event::kTiming == cudaEventDefault);
static_assert(Event::kBlockingSync == cudaEventBlockingSync);
static_assert(Event::kDisableTiming == cudaEventDisableTiming);

Event::~Event() {
  // A second try: the first may return a fault of earlier work instead.
  if (event_ == nullptr || succeeded(cudaEventDestroy(event_))) return;
  static_cast<void>(succeeded(cudaEventDestroy(event_)));
}

void Event::record(const Stream& stream) {
  EBB_CHECK(!isCreated() || device_ == stream.device_index(), "the event is on ",
            Device(kCUDA, device_), ", the stream on ", stream.device(),
            "; record it on a stream of its device, or take another event");
  const DeviceGuard guard(stream.device_index());
  if (!isCreated()) {
    EBB_CUDA_CHECK(cudaEventCreateWithFlags(&event_, flags_));
    device_ = stream.device_index();
  }
  EBB_CUDA_CHECK(cudaEventRecord(event_, stream.stream()));
  recorded_ = true;
}

void Event::recordOnce(const Stream& stream) {
  if (!recorded_) record(stream);
}

void Event::block(const Stream& stream) const {
  if (!isCreated()) return;
  const DeviceGuard guard(stream.device_index());
  EBB_CUDA_CHECK(cudaStreamWaitEvent(stream.stream(), event_, 0));
}

bool Event::query() const {
  if (!isCreated()) return true;
  const cudaError_t state = cudaEventQuery(event_);
  if (state == cudaErrorNotReady) {
    static_cast<void>(cudaGetLastError());
    return false;
  }
  check_call(state, CallSite{"cudaEventQuery", __FILE__, __LINE__});
  return true;
}

void Event::synchronize() const {
  if (!isCreated()) return;
  EBB_CUDA_CHECK(cudaEventSynchronize(event_));
  check_index_errors(device_);
}

float Event::elapsed_time(const Event& end) const {
  EBB_CHECK(recorded_ && end.recorded_, "both events must be recorded before their distance is "
            "asked for");
  EBB_CHECK((flags_ & kDisableTiming) == 0 && (end.flags_ & kDisableTiming) == 0,
            "both events must be made with timing: ebb::cuda::Event(ebb::cuda::Event::kTiming)");
  EBB_CHECK(query() && end.query(),
            "both events must have passed before their distance is asked for; call synchronize()");
  float milliseconds = 0;
  EBB_CUDA_CHECK(cudaEventElapsedTime(&milliseconds, event_, end.event_));
  return milliseconds;
}

}  // namespace ebb::cuda
