#pragma once

#include <cstdint>
#include <vector>

#include <ebb/core/memory/source.h>

namespace ebb::memory {

/// A source with a capacity of its own, for tests and for small machines: refuses what would take
/// more than `capacity` bytes in all.
class LimitedSource final : public MemorySource {
 public:
  LimitedSource(MemorySource& inner, size_t capacity) : inner_(inner), capacity_(capacity) {}

  [[nodiscard]] void* allocate(size_t bytes) override {
    if (bytes > available()) return nullptr;
    void* data = inner_.allocate(bytes);
    if (data != nullptr) used_ += bytes;
    return data;
  }
  void free(void* data, size_t bytes) noexcept override {
    inner_.free(data, bytes);
    used_ -= bytes;
  }
  [[nodiscard]] size_t capacity() const noexcept override { return capacity_; }
  [[nodiscard]] size_t available() const noexcept override {
    return used_ < capacity_ ? capacity_ - used_ : 0;
  }
  /// Changes the capacity; what is out stays out.
  void set_capacity(size_t capacity) noexcept { capacity_ = capacity; }

 private:
  MemorySource& inner_;
  size_t capacity_;
  size_t used_ = 0;
};

/// A source that refuses requests number `first` to `last`, counted from 1.
class FailingSource final : public MemorySource {
 public:
  FailingSource(MemorySource& inner, int64_t first, int64_t last)
      : inner_(inner), first_(first), last_(last) {}

  [[nodiscard]] void* allocate(size_t bytes) override {
    ++requests_;
    return requests_ >= first_ && requests_ <= last_ ? nullptr : inner_.allocate(bytes);
  }
  void free(void* data, size_t bytes) noexcept override { inner_.free(data, bytes); }
  [[nodiscard]] size_t capacity() const noexcept override { return inner_.capacity(); }
  [[nodiscard]] size_t available() const noexcept override { return inner_.available(); }
  /// How many requests have come so far.
  [[nodiscard]] int64_t requests() const noexcept { return requests_; }
  /// Counts from 1 again, and refuses requests `first` to `last` of the new count.
  void fail(int64_t first, int64_t last) noexcept {
    requests_ = 0;
    first_ = first;
    last_ = last;
  }

 private:
  MemorySource& inner_;
  int64_t first_;
  int64_t last_;
  int64_t requests_ = 0;
};

/// A source that writes down what it is asked.
class TracingSource final : public MemorySource {
 public:
  enum class Action : uint8_t { allocate, refuse, free };
  struct Event {
    Action action;
    void* data;
    size_t bytes;
  };

  explicit TracingSource(MemorySource& inner) : inner_(inner) {}

  [[nodiscard]] void* allocate(size_t bytes) override {
    void* data = inner_.allocate(bytes);
    events_.push_back({data == nullptr ? Action::refuse : Action::allocate, data, bytes});
    return data;
  }
  void free(void* data, size_t bytes) noexcept override {
    inner_.free(data, bytes);
    events_.push_back({Action::free, data, bytes});
  }
  [[nodiscard]] size_t capacity() const noexcept override { return inner_.capacity(); }
  [[nodiscard]] size_t available() const noexcept override { return inner_.available(); }
  /// What happened so far, oldest first.
  [[nodiscard]] const std::vector<Event>& events() const noexcept { return events_; }

 private:
  MemorySource& inner_;
  std::vector<Event> events_;
};

}  // namespace ebb::memory
