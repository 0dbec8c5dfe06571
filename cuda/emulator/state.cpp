#include <ebb/cuda/emulator/state.h>

#include <cstdlib>
#include <string>

#include <ebb/core/error.h>
#include <ebb/cuda/emulator/memory.h>
#include <ebb/cuda/emulator/streams.h>

namespace ebb::cuda::emulator {

namespace {

constexpr size_t kDefaultMemory = size_t{16} << 30;

bool is_set(const char* variable) {
  const char* text = std::getenv(variable);
  return text != nullptr && *text != '\0' && std::string(text) != "0";
}

/// A number with an optional suffix KiB, MiB or GiB.
uint64_t number_from(const char* variable, uint64_t otherwise) {
  const char* text = std::getenv(variable);
  if (text == nullptr || *text == '\0') return otherwise;
  char* end = nullptr;
  uint64_t value = std::strtoull(text, &end, 10);
  const std::string suffix = end;
  if (suffix == "KiB") value <<= 10;
  if (suffix == "MiB") value <<= 20;
  if (suffix == "GiB") value <<= 30;
  const bool known = suffix.empty() || suffix == "KiB" || suffix == "MiB" || suffix == "GiB";
  EBB_CHECK(end != text && known, variable, "=", text,
            " is no number; write digits, with KiB, MiB or GiB behind them if you like");
  return value;
}

void apply(State& state, const Settings& settings) {
  const int devices = settings.devices.value_or(state.devices);
  EBB_CHECK(devices >= 1 && devices <= kMaxEmulatedDevices, "emulator: ", devices,
            " devices asked; there can be 1 to ", kMaxEmulatedDevices);
  EBB_CHECK(settings.memory.value_or(1) > 0, "emulator: a device needs memory");
  state.devices = devices;
  if (settings.memory) {
    for (size_t& memory : state.memory) memory = *settings.memory;
  }
  if (settings.seed) {
    state.seed = *settings.seed;
    state.random = Random(state.seed);
  }
  if (settings.eager) state.eager = *settings.eager;
  if (settings.early_exit) state.early_exit = *settings.early_exit;
  if (settings.protect) state.protect = *settings.protect;
}

State* make_state() {
  auto* made = new State;
  Settings settings;
  settings.devices = static_cast<int>(number_from("EBB_CUDA_EMULATOR_DEVICES", 1));
  settings.memory = number_from("EBB_CUDA_EMULATOR_MEMORY", kDefaultMemory);
  settings.seed = number_from("EBB_CUDA_EMULATOR_SEED", 1);
  settings.eager = is_set("EBB_CUDA_EMULATOR_EAGER");
  settings.early_exit = is_set("EBB_CUDA_EMULATOR_EARLY_EXIT");
  settings.protect = is_set("EBB_CUDA_EMULATOR_PROTECT");
  apply(*made, settings);
  made->enabled = is_set("EBB_CUDA_EMULATOR");
  return made;
}

}  // namespace

State& state() {
  static State& state = *make_state();
  return state;
}

std::recursive_mutex& mutex() {
  static std::recursive_mutex& mutex = *new std::recursive_mutex;
  return mutex;
}

int& current_device() {
  thread_local int device = 0;
  return device;
}

cudaError_t& last_error() {
  thread_local cudaError_t error = cudaSuccess;
  return error;
}

void enable(const Settings& settings) {
  const std::lock_guard lock(mutex());
  apply(state(), settings);
  if (settings.protect) let_host_touch_device_memory(!*settings.protect);
  state().enabled = true;
}

bool is_enabled() {
  const std::lock_guard lock(mutex());
  return state().enabled;
}

void set_seed(uint64_t seed) {
  const std::lock_guard lock(mutex());
  state().seed = seed;
  state().random = Random(seed);
}

uint64_t seed() {
  const std::lock_guard lock(mutex());
  return state().seed;
}

void set_eager(bool eager) {
  const std::lock_guard lock(mutex());
  if (eager) run_everything();
  state().eager = eager;
}

void set_memory(int device, size_t bytes) {
  const std::lock_guard lock(mutex());
  EBB_CHECK(device >= 0 && device < state().devices, "emulator: there is no device ", device);
  state().memory[device] = bytes;
}

void set_early_exit(bool allowed) {
  const std::lock_guard lock(mutex());
  state().early_exit = allowed;
}

void set_protect(bool protect) {
  const std::lock_guard lock(mutex());
  state().protect = protect;
  let_host_touch_device_memory(!protect);
}

void begin_test(const std::string& name) {
  const std::lock_guard lock(mutex());
  state().test = name;
  state().random = Random(state().seed);
}

}  // namespace ebb::cuda::emulator
