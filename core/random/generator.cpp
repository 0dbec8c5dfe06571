#include <ebb/core/random/generator.h>

#include <array>
#include <random>
#include <utility>

#if __has_include(<pthread.h>)
#include <pthread.h>
#endif

#include <ebb/core/error.h>
#include <ebb/core/memory/registry.h>
#include <ebb/core/thread_state.h>

namespace ebb {

struct Generator::Impl {
  Impl(Device device_of, uint64_t seed) : device(device_of), state{seed, 0} {}

  const Device device;
  std::mutex state_mutex;
  GeneratorState state;
  std::mutex user_mutex;
};

namespace {

// There is one CPU; an index given to it means nothing.
Device without_cpu_index(Device device) { return device.is_cpu() ? Device(kCPU) : device; }

}  // namespace

Generator::Generator(Device device, uint64_t seed)
    : impl_(std::make_shared<Impl>(without_cpu_index(device), seed)) {}

Generator::Impl& Generator::impl() const {
  EBB_CHECK(defined(), "the generator is undefined; make one with Generator(device, seed)");
  return *impl_;
}

Device Generator::device() const { return impl().device; }

void Generator::set_current_seed(uint64_t seed) { set_state({seed, 0}); }

uint64_t Generator::current_seed() const { return get_state().seed; }

uint64_t Generator::seed() {
  std::random_device device;
  const uint64_t high = device();
  const uint64_t fresh = high << 32 | device();
  set_current_seed(fresh);
  return fresh;
}

void Generator::set_offset(uint64_t offset) {
  Impl& self = impl();
  const std::lock_guard lock(self.state_mutex);
  self.state.offset = offset;
}

uint64_t Generator::get_offset() const { return get_state().offset; }

GeneratorState Generator::get_state() const {
  Impl& self = impl();
  const std::lock_guard lock(self.state_mutex);
  return self.state;
}

void Generator::set_state(const GeneratorState& state) {
  Impl& self = impl();
  const std::lock_guard lock(self.state_mutex);
  self.state = state;
}

Generator Generator::clone() const {
  Generator copy(device());
  copy.set_state(get_state());
  return copy;
}

Generator Generator::substream(uint64_t index) const {
  // Counters of ops have an upper half of zero, so these words are nobody's random numbers.
  constexpr uint64_t kSubstreams = 1;
  const random::Words4 words = random::philox(current_seed(), index, kSubstreams);
  return Generator(device(), words[0] | static_cast<uint64_t>(words[1]) << 32);
}

random::Reservation Generator::reserve(uint64_t counters) const {
  Impl& self = impl();
  const std::lock_guard lock(self.state_mutex);
  const random::Reservation reservation{self.state.seed, self.state.offset};
  self.state.offset += counters;
  return reservation;
}

std::mutex& Generator::mutex() const { return impl().user_mutex; }

/// The default generator of each device.
struct DefaultGenerators {
  DefaultGenerators() : cpu(kCPU) {
    for (int index = 0; index < kMaxDevices; ++index) {
      cuda[index] = Generator(Device(kCUDA, static_cast<DeviceIndex>(index)));
    }
#if __has_include(<pthread.h>)
    // A lock that another thread holds during a fork would never be released in the child.
    pthread_atfork([] { instance().for_each_mutex(&std::mutex::lock); },
                   [] { instance().for_each_mutex(&std::mutex::unlock); },
                   [] { instance().for_each_mutex(&std::mutex::unlock); });
#endif
  }

  // Never destroyed: static objects may use random ops while they die.
  static DefaultGenerators& instance() {
    static DefaultGenerators& generators = *new DefaultGenerators;
    return generators;
  }

  void for_each_mutex(void (std::mutex::*action)()) const {
    (cpu.impl().state_mutex.*action)();
    for (const Generator& generator : cuda) (generator.impl().state_mutex.*action)();
  }

  Generator cpu;
  std::array<Generator, kMaxDevices> cuda;
};

const Generator& default_generator(Device device) {
  DefaultGenerators& generators = DefaultGenerators::instance();
  if (device.is_cpu()) return generators.cpu;
  const DeviceIndex index =
      device.has_index() ? device.index() : memory::current_device_index(device.type());
  EBB_CHECK(index < kMaxDevices, "default_generator(", device,
            "): the last device is cuda:", kMaxDevices - 1);
  return generators.cuda[index];
}

void manual_seed(uint64_t seed) {
  DefaultGenerators& generators = DefaultGenerators::instance();
  generators.cpu.set_current_seed(seed);
  for (Generator& generator : generators.cuda) generator.set_current_seed(seed);
}

GeneratorGuard::GeneratorGuard(Generator generator)
    : generator_(std::move(generator)),
      device_(generator_.device()),
      outer_(std::exchange(thread_state().generator_guard, this)) {}

GeneratorGuard::~GeneratorGuard() { thread_state().generator_guard = outer_; }

const Generator& current_generator(Device device) {
  const Device wanted = without_cpu_index(device);
  for (const GeneratorGuard* guard = thread_state().generator_guard; guard != nullptr;
       guard = guard->outer_) {
    if (guard->device_ == wanted) return guard->generator_;
  }
  return default_generator(device);
}

}  // namespace ebb
