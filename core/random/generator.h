#pragma once

#include <cstdint>
#include <memory>
#include <mutex>

#include <ebb/core/device.h>
#include <ebb/core/export.h>
#include <ebb/core/random/distributions.h>

namespace ebb {

/// The seed that generators start from when none is given, the same as LibTorch's.
inline constexpr uint64_t kDefaultSeed = 67280421310721;

/// All of a generator's state: the key, and the counters used so far. The numbers of a generator
/// are a function of these two, see core/random/distributions.h.
struct GeneratorState {
  uint64_t seed = kDefaultSeed;
  uint64_t offset = 0;
  constexpr bool operator==(const GeneratorState&) const = default;
};

/// A source of random numbers for one device: Philox4x32-10 under a seed, and the offset of the
/// next unused counter. Copies of a Generator share their state; clone() makes an independent one.
/// Safe to use from several threads at once: each call gets counters of its own, in the order in
/// which the calls come.
class EBB_API Generator {
 public:
  /// Undefined: every member but defined() throws an Error.
  Generator() = default;
  /// A generator of its own for `device`.
  explicit Generator(Device device, uint64_t seed = kDefaultSeed);

  [[nodiscard]] bool defined() const { return impl_ != nullptr; }
  [[nodiscard]] Device device() const;

  /// Starts anew from `seed`: the offset becomes 0.
  void set_current_seed(uint64_t seed);
  [[nodiscard]] uint64_t current_seed() const;
  /// Starts anew from a seed that the operating system draws, and returns it.
  uint64_t seed();
  /// Moves to the counter `offset`, under the same seed.
  void set_offset(uint64_t offset);
  [[nodiscard]] uint64_t get_offset() const;

  [[nodiscard]] GeneratorState get_state() const;
  void set_state(const GeneratorState& state);
  /// An independent generator for the same device in the same state.
  [[nodiscard]] Generator clone() const;
  /// An independent generator for the same device whose numbers are unrelated to this one's and to
  /// those of other indices: for the workers of a data loader. Depends on the seed and `index`
  /// alone, and leaves this generator as it is.
  [[nodiscard]] Generator substream(uint64_t index) const;

  /// Takes `counters` counters for one call of an op, and moves past them.
  random::Reservation reserve(uint64_t counters) const;

  /// A mutex for those who set the state in several steps, as LibTorch programs do. No member
  /// locks it.
  [[nodiscard]] std::mutex& mutex() const;

  /// Whether both share one state.
  bool operator==(const Generator& other) const { return impl_ == other.impl_; }

 private:
  struct Impl;
  friend struct DefaultGenerators;
  [[nodiscard]] Impl& impl() const;
  std::shared_ptr<Impl> impl_;
};

/// The generator that random ops of `device` draw from when neither the call nor the thread names
/// another. One for the CPU, one for each CUDA device (kCUDA without an index: the current one); all
/// start from kDefaultSeed. Throws an Error if the index is kMaxDevices or more.
EBB_API const Generator& default_generator(Device device = kCPU);

/// Starts the default generators of all devices anew from `seed`. Equal seeds give equal words on
/// every device.
EBB_API void manual_seed(uint64_t seed);

/// Makes the random ops of this thread on the generator's device draw from `generator` until the
/// end of the scope: a region is replayed with a clone, and a worker has a substream, while the
/// shared generator goes on undisturbed. Guards nest; the pool's threads draw as their caller does.
class EBB_API GeneratorGuard {
 public:
  /// Throws an Error if `generator` is undefined.
  explicit GeneratorGuard(Generator generator);
  ~GeneratorGuard();
  GeneratorGuard(const GeneratorGuard&) = delete;
  GeneratorGuard& operator=(const GeneratorGuard&) = delete;

 private:
  friend EBB_API const Generator& current_generator(Device device);
  Generator generator_;
  Device device_;
  const GeneratorGuard* outer_;
};

/// The generator that a random op on `device` draws from on this thread: the innermost
/// GeneratorGuard's for that device, else the default one.
EBB_API const Generator& current_generator(Device device = kCPU);

}  // namespace ebb
