#include "replay.h"

#include <utility>
#include <vector>

#include <ebb/core/memory/caching_allocator.h>
#include <ebb/core/memory/source_decorators.h>

namespace replay {

namespace {

using ebb::memory::StreamId;

/// Streams that get as far as the trace says. A block that was let go is held back by a stream of
/// its own, whose one event passes at the block's `complete`.
class TraceStreams final : public ebb::memory::Streams {
 public:
  StreamId stream = 0;  ///< the current one

  /// A stream that holds the block back.
  StreamId hold(uint32_t block) {
    if (spare_.empty()) {
      spare_.push_back(kFirst + blocks_.size());
      blocks_.push_back({});
      spare_.reserve(blocks_.size());  // so that destroy() needs no memory
    }
    const StreamId of = spare_.back();
    spare_.pop_back();
    blocks_[of - kFirst] = block;
    if (block >= has_passed_.size()) has_passed_.resize(block + size_t{1});
    return of;
  }
  void pass(uint32_t block) { has_passed_[block] = true; }

  [[nodiscard]] StreamId current() const noexcept override { return stream; }
  [[nodiscard]] Event record(StreamId of) noexcept override { return reinterpret_cast<Event>(of); }
  [[nodiscard]] bool query(Event event) noexcept override { return has_passed_[block_of(event)]; }
  void wait(Event event) noexcept override { has_passed_[block_of(event)] = true; }
  void destroy(Event event) noexcept override {
    spare_.push_back(reinterpret_cast<StreamId>(event));
  }

 private:
  static constexpr StreamId kFirst = StreamId{1} << 63;  ///< above the streams of programs

  [[nodiscard]] uint32_t block_of(Event event) const noexcept {
    return blocks_[reinterpret_cast<StreamId>(event) - kFirst];
  }

  std::vector<uint32_t> blocks_;  ///< that the streams hold back
  std::vector<StreamId> spare_;
  std::vector<bool> has_passed_;  ///< by block
};

/// An allocator and the blocks of a trace that are in use in it.
class Run {
 public:
  Run(const Trace& trace, const Setup& setup)
      : limited_(addresses_, setup.capacity),
        allocator_(ebb::kCPU, limited_, options(setup)),
        blocks_(trace.blocks) {}
  ~Run() {
    for (ebb::memory::Block* block : blocks_) {
      if (block != nullptr) ebb::memory::release(block);
    }
    allocator_.empty_cache();  // waits for blocks that were let go
  }
  Run(const Run&) = delete;
  Run& operator=(const Run&) = delete;

  [[nodiscard]] Result result(const Trace& trace) {
    Result out;
    go(trace.before, out, 0);
    if (!out.failure) {
      allocator_.reset_peak();
      go(trace.steps, out, 1);
    }
    const ebb::memory::Statistics statistics = allocator_.statistics();
    out.peak_allocated = statistics.get(ebb::memory::Metric::allocated_bytes).peak;
    out.peak_reserved = statistics.get(ebb::memory::Metric::reserved_bytes).peak;
    out.segments_taken = statistics.num_device_alloc;
    return out;
  }

 private:
  [[nodiscard]] ebb::memory::AllocatorOptions options(const Setup& setup) {
    ebb::memory::AllocatorOptions out;
    out.config = setup.config;
    out.streams = &streams_;
    out.trim = setup.trims;
    return out;
  }

  /// Requests are numbered in steps of `count`.
  void go(const std::vector<Step>& steps, Result& out, size_t count) {
    size_t request = 0;
    for (const Step& step : steps) {
      if (step.kind == Step::Kind::allocate) request += count;
      try {
        take(step);
      } catch (const ebb::OutOfMemoryError& error) {
        out.failure = Failure{request, step.bytes, error.what()};
        return;
      }
    }
  }

  void take(const Step& step) {
    switch (step.kind) {
      case Step::Kind::allocate:
        streams_.stream = step.stream;
        blocks_[step.block] = allocator_.allocate(step.bytes);
        return;
      case Step::Kind::let_go:
        allocator_.record_stream(blocks_[step.block], streams_.hold(step.block));
        [[fallthrough]];
      case Step::Kind::free:
        ebb::memory::release(std::exchange(blocks_[step.block], nullptr));
        return;
      case Step::Kind::complete:
        streams_.pass(step.block);
    }
  }

  ebb::memory::AddressSource addresses_;
  ebb::memory::LimitedSource limited_;
  TraceStreams streams_;
  ebb::memory::CachingAllocator allocator_;
  std::vector<ebb::memory::Block*> blocks_;  ///< null: not in use
};

}  // namespace

Result run(const Trace& trace, const Setup& setup) { return Run(trace, setup).result(trace); }

}  // namespace replay
