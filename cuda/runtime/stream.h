#pragma once

#include <optional>
#include <vector>

#include <ebb/core/memory/stream.h>
#include <ebb/cuda/runtime/device.h>
#include <ebb/cuda/runtime/handles.h>

namespace ebb::cuda {

/// A queue of a device: what it is given runs in order; what two streams are given does not, unless
/// an Event says so. A small value; it does not own the CUDA stream. LibTorch's c10::cuda::CUDAStream.
class EBB_API Stream {
 public:
  Stream(DeviceIndex device, StreamHandle handle) noexcept : handle_(handle), device_(device) {}

  /// The cudaStream_t; null is the device's default stream.
  [[nodiscard]] StreamHandle stream() const noexcept { return handle_; }
  operator StreamHandle() const noexcept { return handle_; }  // NOLINT: implicit, as in LibTorch
  /// What the memory functions know the stream by (Tensor::record_stream).
  [[nodiscard]] memory::StreamId id() const noexcept {
    return reinterpret_cast<memory::StreamId>(handle_);
  }
  [[nodiscard]] Device device() const noexcept { return Device(kCUDA, device_); }
  [[nodiscard]] DeviceIndex device_index() const noexcept { return device_; }

  /// Whether all that the stream was given is done. Throws a CUDAError for a fault in it.
  [[nodiscard]] bool query() const;
  /// Waits for all that the stream was given. Throws what went wrong in it: an IndexError for an
  /// index that was out of range, a CUDAError for a fault.
  void synchronize() const;
  /// Lower numbers run first; 0 is the lowest priority.
  [[nodiscard]] int priority() const;

  bool operator==(const Stream& other) const noexcept {
    return device_ == other.device_ && handle_ == other.handle_;
  }

 private:
  StreamHandle handle_;
  DeviceIndex device_;
};

/// One of 32 streams of that priority per device, in turn; they do not wait for the default stream.
/// -1: the current device. Throws a CUDAError if a stream cannot be made.
[[nodiscard]] EBB_API Stream getStreamFromPool(bool is_high_priority = false,
                                               DeviceIndex device = -1);
/// The same with a priority: 0, or lower down to what the device has (higher priorities are lower
/// numbers); numbers beyond are brought into that range.
[[nodiscard]] EBB_API Stream getStreamFromPool(int priority, DeviceIndex device = -1);
/// A stream that the program made; it must outlive what is queued and allocated on it.
[[nodiscard]] EBB_API Stream getStreamFromExternal(StreamHandle stream, DeviceIndex device);
/// The legacy default stream.
[[nodiscard]] EBB_API Stream getDefaultCUDAStream(DeviceIndex device = -1);
/// The stream on which the ops of this thread are queued: the default stream unless set.
[[nodiscard]] EBB_API Stream getCurrentCUDAStream(DeviceIndex device = -1);
/// Makes a stream the current one of its device, on this thread.
EBB_API void setCurrentCUDAStream(const Stream& stream);

/// Within it, `stream` is the current stream of its device, and its device the current one.
class EBB_API StreamGuard {
 public:
  explicit StreamGuard(const Stream& stream);
  ~StreamGuard();
  StreamGuard(const StreamGuard&) = delete;
  StreamGuard& operator=(const StreamGuard&) = delete;

  /// Ends with the present stream and begins with another.
  void reset_stream(const Stream& stream);
  [[nodiscard]] Stream original_stream() const { return original_; }
  [[nodiscard]] Stream current_stream() const { return current_; }
  [[nodiscard]] Device original_device() const { return device_->original_device(); }
  [[nodiscard]] Device current_device() const { return device_->current_device(); }

 private:
  std::optional<DeviceGuard> device_;
  Stream original_;
  Stream current_;
};

/// Within it, each stream of a list is the current one of its device. The current device stays.
class EBB_API MultiStreamGuard {
 public:
  explicit MultiStreamGuard(const std::vector<Stream>& streams);
  ~MultiStreamGuard();
  MultiStreamGuard(const MultiStreamGuard&) = delete;
  MultiStreamGuard& operator=(const MultiStreamGuard&) = delete;

 private:
  std::vector<Stream> originals_;
};

/// LibTorch's names (c10/cuda/CUDAStream.h, CUDAGuard.h).
using CUDAStream = Stream;
using CUDAStreamGuard = StreamGuard;
using CUDAMultiStreamGuard = MultiStreamGuard;

}  // namespace ebb::cuda
