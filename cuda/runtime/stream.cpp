#include <ebb/cuda/runtime/stream.h>

#include <algorithm>
#include <array>
#include <mutex>

#include <ebb/core/device_setup.h>
#include <ebb/core/error.h>
#include <ebb/cuda/runtime/current_stream.h>
#include <ebb/cuda/runtime/error.h>
#include <ebb/cuda/runtime/synchronization.h>

namespace ebb::cuda {

namespace {

constexpr int kStreamsPerPriority = 32;
constexpr int kMaxPriorities = 8;

/// The streams of one device that getStreamFromPool hands out, made as they are asked for.
struct StreamPool {
  std::mutex mutex;
  std::array<std::array<cudaStream_t, kStreamsPerPriority>, kMaxPriorities> streams{};
  std::array<int, kMaxPriorities> next{};
};

StreamPool& stream_pool(DeviceIndex device) {
  static auto* pools = new std::array<StreamPool, kMaxDevices>;  // never destroyed
  return (*pools)[static_cast<size_t>(device)];
}

/// The device that an index means. Throws an Error if there is none.
DeviceIndex index_of(DeviceIndex device) { return resolve(Device(kCUDA, device)).index(); }

}  // namespace

bool Stream::query() const {
  const cudaError_t error = cudaStreamQuery(handle_);
  if (error == cudaErrorNotReady) {
    static_cast<void>(cudaGetLastError());
    return false;
  }
  check_call(error, CallSite{"cudaStreamQuery", __FILE__, __LINE__});
  return true;
}

void Stream::synchronize() const {
  const DeviceGuard guard(device_);
  synchronize_stream(device_, handle_, {"cudaStreamSynchronize", __FILE__, __LINE__});
}

int Stream::priority() const {
  int priority = 0;
  EBB_CUDA_CHECK(cudaStreamGetPriority(handle_, &priority));
  return priority;
}

Stream getStreamFromPool(bool is_high_priority, DeviceIndex device) {
  return getStreamFromPool(is_high_priority ? -kMaxPriorities : 0, device);
}

Stream getStreamFromPool(int priority, DeviceIndex device) {
  device = index_of(device);
  const DeviceGuard guard(device);
  int least = 0;
  int greatest = 0;
  EBB_CUDA_CHECK(cudaDeviceGetStreamPriorityRange(&least, &greatest));
  const int level = std::clamp(priority, std::max(greatest, 1 - kMaxPriorities), 0);
  const auto of_level = static_cast<size_t>(-level);

  StreamPool& pool = stream_pool(device);
  std::lock_guard lock(pool.mutex);
  const int turn = pool.next[of_level];
  cudaStream_t& stream = pool.streams[of_level][static_cast<size_t>(turn)];
  if (stream == nullptr) {
    EBB_CUDA_CHECK(cudaStreamCreateWithPriority(&stream, cudaStreamNonBlocking, level));
  }
  pool.next[of_level] = (turn + 1) % kStreamsPerPriority;
  return {device, stream};
}

Stream getStreamFromExternal(StreamHandle stream, DeviceIndex device) {
  return {index_of(device), stream};
}

Stream getDefaultCUDAStream(DeviceIndex device) { return {index_of(device), nullptr}; }

Stream getCurrentCUDAStream(DeviceIndex device) {
  device = index_of(device);
  return {device, current_stream(device)};
}

void setCurrentCUDAStream(const Stream& stream) {
  detail::current_streams[static_cast<size_t>(stream.device_index())] = stream.stream();
}

StreamGuard::StreamGuard(const Stream& stream)
    : device_(std::in_place, stream.device_index()),
      original_(getCurrentCUDAStream(stream.device_index())),
      current_(stream) {
  setCurrentCUDAStream(stream);
}

StreamGuard::~StreamGuard() { setCurrentCUDAStream(original_); }

void StreamGuard::reset_stream(const Stream& stream) {
  device_->set_index(stream.device_index());
  setCurrentCUDAStream(original_);
  original_ = getCurrentCUDAStream(stream.device_index());
  current_ = stream;
  setCurrentCUDAStream(stream);
}

MultiStreamGuard::MultiStreamGuard(const std::vector<Stream>& streams) {
  originals_.reserve(streams.size());
  for (const Stream& stream : streams) {
    originals_.push_back(getCurrentCUDAStream(stream.device_index()));
    setCurrentCUDAStream(stream);
  }
}

MultiStreamGuard::~MultiStreamGuard() {
  for (size_t i = originals_.size(); i > 0; --i) setCurrentCUDAStream(originals_[i - 1]);
}

}  // namespace ebb::cuda
