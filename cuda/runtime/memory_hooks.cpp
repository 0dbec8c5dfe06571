#include <ebb/cuda/runtime/memory_hooks.h>

#include <ebb/cuda/runtime/device.h>
#include <ebb/cuda/runtime/error.h>
#ifdef EBB_CUDA_EMULATED
#include <memory>
#include <mutex>
#include <unordered_map>

#include <ebb/cuda/emulator.h>
#include <ebb/cuda/emulator/sanitizer.h>
#endif

namespace ebb::cuda {

namespace {

cudaStream_t handle_of(memory::StreamId stream) { return reinterpret_cast<cudaStream_t>(stream); }

/// Runs a call with the device current. What fails is left out: a fault shows at the next checked
/// call. Says whether it was done.
template <typename F>
bool attempt(Device device, F&& call) noexcept {
  try {
    const DeviceGuard guard(device);
    return succeeded(call());
  } catch (const Error&) {
    return false;
  }
}

#ifdef EBB_CUDA_EMULATED

/// A change of the sanitizer's shadow that waits for its turn in a stream.
struct Shading {
  const void* data;
  size_t bytes;
  bool poison;

  void apply() const { (poison ? emulator::poison : emulator::unpoison)(data, bytes); }
};

/// Those that wait, so that what a faulty device drops is not lost.
class Shadings {
 public:
  Shading* add(const Shading& shading) {
    auto made = std::make_unique<Shading>(shading);
    Shading* key = made.get();
    std::lock_guard lock(mutex_);
    waiting_.emplace(key, std::move(made));
    return key;
  }
  void remove(Shading* shading) {
    std::lock_guard lock(mutex_);
    waiting_.erase(shading);
  }
  static Shadings& instance() {
    static auto* shadings = new Shadings;
    return *shadings;
  }

 private:
  std::mutex mutex_;
  std::unordered_map<Shading*, std::unique_ptr<Shading>> waiting_;
};

void run_shading(void* data) {
  auto* shading = static_cast<Shading*>(data);
  shading->apply();
  Shadings::instance().remove(shading);
}

void shade(const Shading& shading, Device device, memory::StreamId stream) {
  Shading* waiting = Shadings::instance().add(shading);
  const auto queue = [&] { return cudaLaunchHostFunc(handle_of(stream), run_shading, waiting); };
  if (attempt(device, queue) || attempt(device, queue)) return;
  Shadings::instance().remove(waiting);
  if (shading.poison) return;
  // Whoever asked for the memory must be able to use it.
  attempt(device, [&] { return cudaStreamSynchronize(handle_of(stream)); });
  shading.apply();
}

#endif

}  // namespace

memory::MemoryHooks memory_hooks() noexcept {
  memory::MemoryHooks hooks;
  hooks.fill = [](void* data, size_t bytes, Device device, memory::StreamId stream) {
    attempt(device, [&] { return cudaMemsetAsync(data, 0xff, bytes, handle_of(stream)); });
  };
#ifdef EBB_CUDA_EMULATED
  if constexpr (emulator::kAddressSanitizer) {
    hooks.poison = [](const void* data, size_t bytes, Device device, memory::StreamId stream) {
      shade({data, bytes, true}, device, stream);
    };
    hooks.unpoison = [](const void* data, size_t bytes, Device device, memory::StreamId stream) {
      shade({data, bytes, false}, device, stream);
    };
  }
#endif
  return hooks;
}

}  // namespace ebb::cuda
