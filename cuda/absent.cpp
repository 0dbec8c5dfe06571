// The functions of cuda/cuda.h in a library without the CUDA device: there is none, and what needs
// one says why.

#include <cstdlib>

#include <ebb/core/device_setup.h>
#include <ebb/cuda/cuda.h>
#include <ebb/cuda/runtime/source.h>

namespace ebb::cuda {

namespace {

[[noreturn]] void raise_absent() {
  ebb::detail::set_up_devices(kCUDA);  // throws
  std::abort();
}

}  // namespace

DeviceIndex device_count() noexcept { return 0; }
bool is_available() noexcept { return false; }
std::string unavailable_reason() {
  return "this build of ebb has no CUDA device; configure with -DEBB_CUDA=native";
}
DeviceIndex current_device() { raise_absent(); }
void set_device(DeviceIndex) { raise_absent(); }
void synchronize(int64_t) { raise_absent(); }

DeviceGuard::DeviceGuard(DeviceIndex) { raise_absent(); }
DeviceGuard::DeviceGuard(Device) { raise_absent(); }
DeviceGuard::~DeviceGuard() = default;
void DeviceGuard::set_index(DeviceIndex) { raise_absent(); }
void DeviceGuard::set_device(Device) { raise_absent(); }

bool Stream::query() const { raise_absent(); }
void Stream::synchronize() const { raise_absent(); }
int Stream::priority() const { raise_absent(); }
Stream getStreamFromPool(bool, DeviceIndex) { raise_absent(); }
Stream getStreamFromPool(int, DeviceIndex) { raise_absent(); }
Stream getStreamFromExternal(StreamHandle, DeviceIndex) { raise_absent(); }
Stream getDefaultCUDAStream(DeviceIndex) { raise_absent(); }
Stream getCurrentCUDAStream(DeviceIndex) { raise_absent(); }
void setCurrentCUDAStream(const Stream&) { raise_absent(); }
StreamGuard::StreamGuard(const Stream& stream) : original_(stream), current_(stream) {
  raise_absent();
}
StreamGuard::~StreamGuard() = default;
void StreamGuard::reset_stream(const Stream&) { raise_absent(); }
MultiStreamGuard::MultiStreamGuard(const std::vector<Stream>&) { raise_absent(); }
MultiStreamGuard::~MultiStreamGuard() = default;

Event::~Event() = default;
void Event::record(const Stream&) { raise_absent(); }
void Event::recordOnce(const Stream&) { raise_absent(); }
void Event::block(const Stream&) const {}
bool Event::query() const { return true; }
void Event::synchronize() const {}
float Event::elapsed_time(const Event&) const { raise_absent(); }

bool allow_tf32_matmul() noexcept { return false; }
void set_allow_tf32_matmul(bool) noexcept {}
int64_t blas_workspace_bytes(int64_t) { return 0; }
void clear_blas_workspaces() {}
DeviceMemoryInfo device_memory_info(DeviceIndex) { raise_absent(); }

}  // namespace ebb::cuda
