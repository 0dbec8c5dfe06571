#include <ebb/cuda/emulator/streams.h>

#include <chrono>
#include <deque>
#include <memory>
#include <set>
#include <vector>

#include <ebb/cuda/emulator/call.h>
#include <ebb/cuda/emulator/memory.h>
#include <ebb/cuda/emulator/report.h>
#include <ebb/cuda/emulator/state.h>

namespace {

using Clock = std::chrono::steady_clock;

/// One recording of an event: work that waits for it holds it, whatever becomes of the event.
struct Record {
  bool done = false;
  Clock::time_point time{};
};

struct Task {
  uint64_t number;  // in the order of all calls
  std::function<void()> run;
  std::shared_ptr<Record> awaited;
};

}  // namespace

struct CUstream_st {
  int device;
  unsigned flags;
  int priority;
  bool is_default;
  std::deque<Task> tasks{};
};

struct CUevent_st {
  int device;
  unsigned flags;
  std::shared_ptr<Record> record{};
};

namespace ebb::cuda::emulator {

namespace {

constexpr int kLeastPriority = 0;
constexpr int kGreatestPriority = -5;
// CUDA's queues are bounded too: a launch into a full one waits.
constexpr size_t kLongestQueue = 1024;

struct Queues {
  CUstream_st defaults[kMaxEmulatedDevices];
  std::set<CUstream_st*> streams;  // those with a handle
  std::set<CUevent_st*> events;
  std::vector<CUstream_st*> waiting;  // those with tasks
  uint64_t number = 0;
  bool in_host_function = false;
};

Queues& queues() {
  static Queues& queues = []() -> Queues& {
    auto& made = *new Queues{};
    for (int i = 0; i < kMaxEmulatedDevices; ++i) {
      made.defaults[i].device = i;
      made.defaults[i].is_default = true;
    }
    return made;
  }();
  return queues;
}

bool blocking(const CUstream_st* stream) { return (stream->flags & cudaStreamNonBlocking) == 0; }

/// Whether the first task of the stream could run now. The legacy default stream waits for what was
/// queued before on the blocking streams of its device, and they for it.
bool may_run(const CUstream_st* stream) {
  const Task& task = stream->tasks.front();
  if (task.awaited != nullptr && !task.awaited->done) return false;
  if (!blocking(stream)) return true;
  for (const CUstream_st* other : queues().waiting) {
    if (other == stream || other->device != stream->device || !blocking(other)) continue;
    if (!stream->is_default && !other->is_default) continue;
    if (other->tasks.front().number < task.number) return false;
  }
  return true;
}

/// Runs one task that may come next; false if there is none.
bool step() {
  Queues& q = queues();
  uint32_t candidates = 0;
  CUstream_st* chosen = nullptr;
  for (CUstream_st* stream : q.waiting) {
    if (!may_run(stream)) continue;
    if (state().random.below(++candidates) == 0) chosen = stream;
  }
  if (chosen == nullptr) return false;
  const Task task = std::move(chosen->tasks.front());
  chosen->tasks.pop_front();
  if (chosen->tasks.empty()) std::erase(q.waiting, chosen);
  const bool protects = state().protect;
  if (protects) let_host_touch_device_memory(true);
  task.run();
  if (protects) let_host_touch_device_memory(false);
  return true;
}

/// Runs tasks until `done` holds, or a fault has ended all work.
template <typename Done>
void run_until(Done done) {
  while (!done() && state().sticky == cudaSuccess) {
    if (step()) continue;
    report("deadlock of streams: the host waits, and no stream can go on", cudaErrorLaunchTimeout);
    return;
  }
}

void push_task(CUstream_st* stream, std::function<void()> work, std::shared_ptr<Record> awaited) {
  Queues& q = queues();
  if (stream->tasks.empty()) q.waiting.push_back(stream);
  stream->tasks.push_back({q.number++, std::move(work), std::move(awaited)});
  if (state().eager) {
    run_stream(stream);
  } else {
    run_until([=] { return stream->tasks.size() <= kLongestQueue; });
  }
}

CUevent_st* find_event(cudaEvent_t handle) {
  return queues().events.contains(handle) ? handle : nullptr;
}

cudaError_t create_stream(cudaStream_t* stream, unsigned flags, int priority) {
  if (stream == nullptr || flags > cudaStreamNonBlocking) return cudaErrorInvalidValue;
  if (priority < kGreatestPriority) priority = kGreatestPriority;
  if (priority > kLeastPriority) priority = kLeastPriority;
  *stream = new CUstream_st{current_device(), flags, priority, false};
  queues().streams.insert(*stream);
  return cudaSuccess;
}

cudaError_t wait_for(const std::shared_ptr<Record>& record) {
  count_synchronization();
  if (record != nullptr) run_until([&] { return record->done; });
  return state().sticky;
}

/// What a query says; it lets some work run, or a program that polls would wait for ever.
template <typename Done>
cudaError_t query(Done done) {
  if (!done()) step();
  if (state().sticky != cudaSuccess) return state().sticky;
  return done() ? cudaSuccess : cudaErrorNotReady;
}

}  // namespace

CUstream_st* find_stream(cudaStream_t handle) {
  if (handle == nullptr || handle == cudaStreamLegacy) {
    return &queues().defaults[current_device()];
  }
  return queues().streams.contains(handle) ? handle : nullptr;
}

int device_of(const CUstream_st* stream) { return stream->device; }

void push(CUstream_st* stream, std::function<void()> work) {
  push_task(stream, std::move(work), nullptr);
}

cudaError_t enqueue(cudaStream_t handle, std::function<void()> work) {
  CUstream_st* stream = find_stream(handle);
  if (stream == nullptr) return cudaErrorInvalidResourceHandle;
  push(stream, std::move(work));
  return state().sticky;
}

void run_stream(CUstream_st* stream) {
  run_until([=] { return stream->tasks.empty(); });
}

void run_device(int device) {
  run_until([=] {
    for (const CUstream_st* stream : queues().waiting) {
      if (stream->device == device) return false;
    }
    return true;
  });
}

void run_everything() {
  run_until([] { return queues().waiting.empty(); });
}

void drop_everything() {
  // Destroying a task may free what holds the last reference to something: outside the queue.
  std::vector<std::deque<Task>> dropped;
  for (CUstream_st* stream : queues().waiting) dropped.push_back(std::move(stream->tasks));
  for (CUstream_st* stream : queues().waiting) stream->tasks.clear();
  queues().waiting.clear();
}

bool in_host_function() { return queues().in_host_function; }

}  // namespace ebb::cuda::emulator

using namespace ebb::cuda::emulator;

cudaError_t cudaStreamCreate(cudaStream_t* stream) {
  const Call call("cudaStreamCreate");
  if (call.failed()) return call.error();
  return call.end(create_stream(stream, cudaStreamDefault, 0));
}

cudaError_t cudaStreamCreateWithFlags(cudaStream_t* stream, unsigned flags) {
  const Call call("cudaStreamCreateWithFlags");
  if (call.failed()) return call.error();
  return call.end(create_stream(stream, flags, 0));
}

cudaError_t cudaStreamCreateWithPriority(cudaStream_t* stream, unsigned flags, int priority) {
  const Call call("cudaStreamCreateWithPriority");
  if (call.failed()) return call.error();
  return call.end(create_stream(stream, flags, priority));
}

cudaError_t cudaDeviceGetStreamPriorityRange(int* least, int* greatest) {
  const Call call("cudaDeviceGetStreamPriorityRange");
  if (call.failed()) return call.error();
  if (least != nullptr) *least = kLeastPriority;
  if (greatest != nullptr) *greatest = kGreatestPriority;
  return call.end(cudaSuccess);
}

cudaError_t cudaStreamDestroy(cudaStream_t handle) {
  const Call call("cudaStreamDestroy");
  if (call.failed()) return call.error();
  CUstream_st* stream = find_stream(handle);
  if (stream == nullptr || stream->is_default) return call.end(cudaErrorInvalidResourceHandle);
  // CUDA lets the work finish and returns at once; nobody can tell the difference but by time.
  run_stream(stream);
  queues().streams.erase(stream);
  delete stream;
  return call.end(cudaSuccess);
}

cudaError_t cudaStreamSynchronize(cudaStream_t handle) {
  const Call call("cudaStreamSynchronize");
  if (call.failed()) return call.error();
  CUstream_st* stream = find_stream(handle);
  if (stream == nullptr) return call.end(cudaErrorInvalidResourceHandle);
  count_synchronization();
  run_stream(stream);
  return call.end(state().sticky);
}

cudaError_t cudaStreamQuery(cudaStream_t handle) {
  const Call call("cudaStreamQuery");
  if (call.failed()) return call.error();
  CUstream_st* stream = find_stream(handle);
  if (stream == nullptr) return call.end(cudaErrorInvalidResourceHandle);
  return call.end(query([=] { return stream->tasks.empty(); }));
}

cudaError_t cudaStreamWaitEvent(cudaStream_t handle, cudaEvent_t event, unsigned) {
  const Call call("cudaStreamWaitEvent");
  if (call.failed()) return call.error();
  CUstream_st* stream = find_stream(handle);
  if (stream == nullptr || find_event(event) == nullptr) {
    return call.end(cudaErrorInvalidResourceHandle);
  }
  if (event->record != nullptr && !event->record->done) {
    push_task(
        stream, [] {}, event->record);
  }
  return call.end(state().sticky);
}

cudaError_t cudaStreamGetPriority(cudaStream_t handle, int* priority) {
  const Call call("cudaStreamGetPriority");
  if (call.failed()) return call.error();
  const CUstream_st* stream = find_stream(handle);
  if (stream == nullptr) return call.end(cudaErrorInvalidResourceHandle);
  *priority = stream->priority;
  return call.end(cudaSuccess);
}

cudaError_t cudaStreamGetFlags(cudaStream_t handle, unsigned* flags) {
  const Call call("cudaStreamGetFlags");
  if (call.failed()) return call.error();
  const CUstream_st* stream = find_stream(handle);
  if (stream == nullptr) return call.end(cudaErrorInvalidResourceHandle);
  *flags = stream->flags;
  return call.end(cudaSuccess);
}

cudaError_t cudaLaunchHostFunc(cudaStream_t handle, cudaHostFn_t function, void* data) {
  const Call call("cudaLaunchHostFunc");
  if (call.failed()) return call.error();
  if (function == nullptr) return call.end(cudaErrorInvalidValue);
  return call.end(enqueue(handle, [=] {
    queues().in_host_function = true;
    function(data);
    queues().in_host_function = false;
  }));
}

cudaError_t cudaEventCreate(cudaEvent_t* event) {
  const Call call("cudaEventCreate");
  if (call.failed()) return call.error();
  if (event == nullptr) return call.end(cudaErrorInvalidValue);
  *event = new CUevent_st{current_device(), cudaEventDefault};
  queues().events.insert(*event);
  return call.end(cudaSuccess);
}

cudaError_t cudaEventCreateWithFlags(cudaEvent_t* event, unsigned flags) {
  const Call call("cudaEventCreateWithFlags");
  if (call.failed()) return call.error();
  if (event == nullptr) return call.end(cudaErrorInvalidValue);
  *event = new CUevent_st{current_device(), flags};
  queues().events.insert(*event);
  return call.end(cudaSuccess);
}

cudaError_t cudaEventDestroy(cudaEvent_t event) {
  const Call call("cudaEventDestroy");
  if (call.failed()) return call.error();
  if (find_event(event) == nullptr) return call.end(cudaErrorInvalidResourceHandle);
  queues().events.erase(event);
  delete event;
  return call.end(cudaSuccess);
}

cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t handle) {
  const Call call("cudaEventRecord");
  if (call.failed()) return call.error();
  CUstream_st* stream = find_stream(handle);
  if (stream == nullptr || find_event(event) == nullptr || event->device != stream->device) {
    return call.end(cudaErrorInvalidResourceHandle);
  }
  auto record = std::make_shared<Record>();
  event->record = record;
  push(stream, [record] {
    record->done = true;
    record->time = Clock::now();
  });
  return call.end(state().sticky);
}

cudaError_t cudaEventQuery(cudaEvent_t event) {
  const Call call("cudaEventQuery");
  if (call.failed()) return call.error();
  if (find_event(event) == nullptr) return call.end(cudaErrorInvalidResourceHandle);
  const std::shared_ptr<Record> record = event->record;
  return call.end(query([&] { return record == nullptr || record->done; }));
}

cudaError_t cudaEventSynchronize(cudaEvent_t event) {
  const Call call("cudaEventSynchronize");
  if (call.failed()) return call.error();
  if (find_event(event) == nullptr) return call.end(cudaErrorInvalidResourceHandle);
  return call.end(wait_for(event->record));
}

cudaError_t cudaEventElapsedTime(float* milliseconds, cudaEvent_t start, cudaEvent_t end) {
  const Call call("cudaEventElapsedTime");
  if (call.failed()) return call.error();
  if (find_event(start) == nullptr || find_event(end) == nullptr || start->record == nullptr ||
      end->record == nullptr || ((start->flags | end->flags) & cudaEventDisableTiming) != 0) {
    return call.end(cudaErrorInvalidResourceHandle);
  }
  if (!start->record->done || !end->record->done) return call.end(cudaErrorNotReady);
  *milliseconds =
      std::chrono::duration<float, std::milli>(end->record->time - start->record->time).count();
  return call.end(cudaSuccess);
}
