#include <ebb/core/memory/out_of_memory.h>

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include <ebb/core/memory/scope.h>
#include <ebb/core/thread_state.h>

namespace ebb::memory {
namespace {

/// Functions under numbers. A run works on a copy, so that a function may add and remove others.
template <typename F>
class Registry {
 public:
  int add(F function) {
    std::lock_guard lock(mutex_);
    entries_.push_back({next_, std::make_shared<F>(std::move(function))});
    count_.store(entries_.size(), std::memory_order_release);
    return next_++;
  }
  void remove(int id) {
    std::lock_guard lock(mutex_);
    std::erase_if(entries_, [id](const Entry& entry) { return entry.id == id; });
    count_.store(entries_.size(), std::memory_order_release);
  }
  [[nodiscard]] std::vector<std::shared_ptr<F>> functions() {
    std::vector<std::shared_ptr<F>> copy;
    if (count_.load(std::memory_order_acquire) == 0) return copy;
    std::lock_guard lock(mutex_);
    for (const Entry& entry : entries_) copy.push_back(entry.function);
    return copy;
  }
  [[nodiscard]] std::mutex& mutex() noexcept { return mutex_; }

 private:
  struct Entry {
    int id;
    std::shared_ptr<F> function;
  };
  std::mutex mutex_;
  std::vector<Entry> entries_;
  std::atomic<size_t> count_{0};
  int next_ = 1;
};

// Never destroyed: tensors in static storage may still ask for memory.
Registry<OutOfMemoryObserver>& observers() {
  static auto* registry = new Registry<OutOfMemoryObserver>;
  return *registry;
}

Registry<FreeMemoryCallback>& callbacks() {
  static auto* registry = new Registry<FreeMemoryCallback>;
  return *registry;
}

const char* upper_name(Device device) { return device.is_cpu() ? "CPU" : "CUDA"; }

/// What would help, most likely first.
std::string hint(const OutOfMemoryInfo& info) {
  if (info.segment == 0) return " No device has that much memory: check the sizes.";
  if (info.growth_forbidden) {
    return " A NoGrowthGuard forbids to ask the device for more: let the warm-up take all sizes "
           "that "
           "come, or reserve() them before.";
  }
  if (info.pool_limit != 0 && info.pool_reserved + info.requested > info.pool_limit) {
    return " The limit is the pool's own (PoolOptions::limit_bytes): raise it, or use less in it.";
  }
  if (info.pending >= info.requested) {
    return " Freed memory waits for other streams: synchronize them.";
  }
  const size_t cached = info.reserved - std::min(info.reserved, info.allocated);
  if (cached >= info.requested) {
    return " Memory that is reserved but free would have sufficed in one piece: this is "
           "fragmentation; set EBB_ALLOC_CONF=max_split_size_mb:N, or reserve() what is needed "
           "before training.";
  }
  if (info.limit != 0 && info.limit < info.capacity) {
    return " The limit is one of set_memory_limit or per_process_memory_fraction: raise it, or "
           "use a smaller batch, checkpoints or a lower precision.";
  }
  return " Use a smaller batch, NoGradGuard where no gradient is needed, checkpoints, or a lower "
         "precision; memory_summary() tells what is held.";
}

}  // namespace

std::string format_bytes(size_t bytes) {
  constexpr const char* kUnits[] = {"KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
  if (bytes < 1024) return std::to_string(bytes) + " bytes";
  auto value = static_cast<double>(bytes) / 1024;
  size_t unit = 0;
  while (value >= 1024 && unit + 1 < std::size(kUnits)) {
    value /= 1024;
    ++unit;
  }
  char text[48];
  std::snprintf(text, sizeof text, "%.2f %s", value, kUnits[unit]);
  return text;
}

std::string describe(const OutOfMemoryInfo& info) {
  std::string text = std::string(upper_name(info.device)) + " out of memory. Tried to allocate " +
                     format_bytes(info.requested);
  if (info.requested >= 1024) text += " (" + std::to_string(info.requested) + " bytes)";
  if (info.injected) text += "; this failure was injected by ebb::testing::fail_allocation";
  if (info.segment == 0 && !info.injected) text += ", more than 1EB";
  text += ". Device " + info.device.str() + " has a capacity of " + format_bytes(info.capacity) +
          " of which " + format_bytes(info.available) + " is free.";
  if (info.limit != 0) text += " " + format_bytes(info.limit) + " allowed.";
  const size_t in_use = info.allocated + info.pending;
  text += " ebb has reserved " + format_bytes(info.reserved) + ", of which " +
          format_bytes(info.allocated) + " is allocated and " +
          format_bytes(info.reserved - std::min(info.reserved, in_use)) +
          " is free; the largest free block has " + format_bytes(info.largest_free_block) + ".";
  if (info.pending > 0) text += " " + format_bytes(info.pending) + " waits for other streams.";
  if (info.in_private_pools > 0) {
    text += " " + format_bytes(info.in_private_pools) + " is free in private pools.";
  }
  if (!info.pool.empty()) {
    text += " The request is one of the pool \"" + info.pool + "\", which has reserved " +
            format_bytes(info.pool_reserved) + ", of which " + format_bytes(info.pool_allocated) +
            " is allocated";
    if (info.pool_limit != 0) text += "; " + format_bytes(info.pool_limit) + " allowed in it";
    text += ".";
  }
  return info.injected ? text : text + hint(info);
}

int add_out_of_memory_observer(OutOfMemoryObserver observer) {
  return observers().add(std::move(observer));
}

void remove_out_of_memory_observer(int id) { observers().remove(id); }

int add_free_memory_callback(FreeMemoryCallback callback) {
  return callbacks().add(std::move(callback));
}

void remove_free_memory_callback(int id) { callbacks().remove(id); }

namespace detail {

void lock_callbacks_for_fork() {
  observers().mutex().lock();
  callbacks().mutex().lock();
}

void unlock_callbacks_after_fork() {
  callbacks().mutex().unlock();
  observers().mutex().unlock();
}

bool run_free_memory_callbacks(Device device) {
  bool freed = false;
  for (const auto& callback : callbacks().functions()) freed = (*callback)(device) || freed;
  return freed;
}

void raise_out_of_memory(const OutOfMemoryInfo& info) {
  for (const auto& observer : observers().functions()) {
    try {
      (*observer)(info);
    } catch (...) {  // the request has failed; that is the error to report
    }
  }
  const char* op = thread_state().op_name;
  const std::string prefix = op == nullptr ? "" : std::string(op) + ": ";
  const std::string scope = memory::scope_path();
  throw OutOfMemoryError(
      prefix + describe(info) + (scope.empty() ? "" : " In the scope " + scope + "."), info);
}

}  // namespace detail
}  // namespace ebb::memory
