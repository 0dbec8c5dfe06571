#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <set>
#include <vector>

#include <ebb/core/memory/address_source.h>
#include <ebb/core/memory/caching_allocator.h>
#include <ebb/core/memory/memory.h>
#include <ebb/core/memory/source_decorators.h>

namespace test {

inline constexpr size_t kMiB = size_t{1} << 20;

using ebb::memory::AddressSource;

/// Streams whose progress the test decides.
class FakeStreams final : public ebb::memory::Streams {
 public:
  ebb::memory::StreamId stream = 0;  ///< the current one
  int waits = 0;

  ebb::memory::StreamId current() const noexcept override { return stream; }
  Event record(ebb::memory::StreamId on) noexcept override {
    events_.push_back({on, false});
    alive_.insert(events_.size());
    return reinterpret_cast<Event>(events_.size());
  }
  bool query(Event event) noexcept override {
    queries.push_back(reinterpret_cast<size_t>(event));
    return at(event).passed;
  }
  void wait(Event event) noexcept override {
    ++waits;
    at(event).passed = true;
  }
  void destroy(Event event) noexcept override { alive_.erase(reinterpret_cast<size_t>(event)); }

  /// Lets the stream pass all events that it has.
  void pass(ebb::memory::StreamId on) {
    for (Mark& mark : events_) mark.passed = mark.passed || mark.stream == on;
  }
  /// Lets the n-th event that was ever recorded pass, from 1.
  void pass_event(size_t n) { events_.at(n - 1).passed = true; }
  /// Events that are not destroyed yet.
  [[nodiscard]] size_t alive() const { return alive_.size(); }
  std::vector<size_t> queries;  ///< which events were looked at, in order

 private:
  struct Mark {
    ebb::memory::StreamId stream;
    bool passed;
  };
  Mark& at(Event event) { return events_[reinterpret_cast<size_t>(event) - 1]; }
  std::deque<Mark> events_;
  std::set<size_t> alive_;
};

struct Releaser {
  void operator()(ebb::memory::Block* block) const { ebb::memory::release(block); }
};
using Held = std::unique_ptr<ebb::memory::Block, Releaser>;

/// An allocator over addresses, with a trace of what it asks its source and a capacity to set.
struct Fixture {
  AddressSource addresses;
  ebb::memory::LimitedSource limited{addresses, size_t{1} << 44};
  ebb::memory::TracingSource trace{limited};
  FakeStreams streams;
  ebb::memory::CachingAllocator allocator;

  explicit Fixture(const char* config = "", ebb::memory::AllocatorOptions options = {})
      : allocator(ebb::kCPU, trace, with(config, options)) {}

  Held get(size_t bytes, ebb::memory::Purpose purpose = ebb::memory::Purpose::tensor) {
    return Held(allocator.allocate(bytes, purpose));
  }
  [[nodiscard]] int64_t stat(const char* key) const {
    return allocator.statistics().flatten().at(key);
  }
  [[nodiscard]] int64_t reserved() const { return stat("reserved_bytes.all.current"); }
  [[nodiscard]] int64_t allocated() const { return stat("allocated_bytes.all.current"); }

 private:
  ebb::memory::AllocatorOptions with(const char* config, ebb::memory::AllocatorOptions options) {
    options.config = ebb::memory::parse_config(config).config;
    options.streams = &streams;
    return options;
  }
};

inline size_t block_size_of(const Held& held) {
  return static_cast<const ebb::memory::detail::BlockRecord*>(held.get())->size;
}

}  // namespace test
