#include <ebb/core/memory/registry.h>

#include <array>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <string_view>

#if defined(__unix__) || defined(__APPLE__)
#include <pthread.h>
#endif

#include <ebb/core/device_setup.h>
#include <ebb/core/error.h>
#include <ebb/core/memory/host_source.h>
#include <ebb/core/memory/observer.h>
#include <ebb/core/memory/pinned.h>
#include <ebb/core/memory/report.h>
#include <ebb/core/memory/scope.h>

namespace ebb::memory {
namespace {

struct Slot {
  std::atomic<CachingAllocator*> allocator{nullptr};  // never deleted
  DeviceMemory memory;
  MemorySource* custom_source = nullptr;
};

// Constant-initialised, so that static constructors of a program may allocate.
constinit std::array<std::array<Slot, kMaxDevices>, kDeviceTypes> slots{};
constinit std::array<std::atomic<DeviceIndex (*)()>, kDeviceTypes> current_device{};
constinit std::mutex registry_mutex;
constinit std::atomic<bool> history_is_on{false};
constinit bool report_is_on = false;   // EBB_MEMORY_REPORT
constinit size_t history_entries = 0;  // for the devices that come into use later

Slot& slot_of(Device device) {
  const auto type = static_cast<size_t>(device.type());
  size_t index = 0;
  if (!device.is_cpu()) {
    index = static_cast<size_t>(device.has_index() ? device.index()
                                                   : current_device_index(device.type()));
  }
  EBB_CHECK(index < kMaxDevices, "there is no device ", device);
  return slots[type][index];
}

template <typename F>
void for_each_allocator(F&& f) {
  for (auto& of_type : slots) {
    for (Slot& slot : of_type) {
      if (CachingAllocator* a = slot.allocator.load(std::memory_order_acquire)) f(*a);
    }
  }
}

void lock_all() {
  registry_mutex.lock();
  detail::lock_scopes_for_fork();
  detail::lock_callbacks_for_fork();
  for_each_allocator([](CachingAllocator& a) { a.lock_for_fork(); });
  detail::lock_observers();
}

void unlock_all() {
  detail::unlock_observers();
  for_each_allocator([](CachingAllocator& a) { a.unlock_after_fork(); });
  detail::unlock_callbacks_after_fork();
  detail::unlock_scopes_after_fork();
  registry_mutex.unlock();
}

void survive_fork() {
#if defined(__unix__) || defined(__APPLE__)
  static const int once = pthread_atfork(lock_all, unlock_all, unlock_all);
  static_cast<void>(once);
#endif
}

bool flag(const char* name) {
  const char* value = std::getenv(name);
  return value != nullptr && *value != '\0' && std::strcmp(value, "0") != 0;
}

bool fill_wanted() {
  const char* value = std::getenv("EBB_FILL");
  if (value == nullptr || *value == '\0') return false;
  EBB_CHECK_AS(ValueError, std::string_view(value) == "nan", "EBB_FILL=", value,
               " is not known; the only value is nan");
  return true;
}

void print(const std::vector<std::string>& warnings) {
  for (const std::string& warning : warnings) {
    std::fprintf(stderr, "ebb: warning: %s\n", warning.c_str());
  }
}

/// The configuration that EBB_ALLOC_CONF gives, or what set_allocator_settings said later.
Config& common_config() {
  static Config config = [] {
    const char* text = std::getenv("EBB_ALLOC_CONF");
    const ParsedConfig parsed = parse_config(text == nullptr ? "" : text);
    print(parsed.warnings);
    return parsed.config;
  }();
  return config;
}

bool has_source(Device device, const Slot& slot) {
  std::lock_guard lock(registry_mutex);
  return device.is_cpu() || slot.memory.source != nullptr || slot.custom_source != nullptr;
}

CachingAllocator& create(Device device, Slot& slot) {
  std::lock_guard lock(registry_mutex);
  if (CachingAllocator* made = slot.allocator.load(std::memory_order_acquire)) return *made;
  AllocatorOptions options;
  options.config = common_config();
  options.caching = !flag("EBB_NO_CACHING");
  options.fill = fill_wanted();
  MemorySource* source = slot.custom_source;
  if (device.is_cpu()) {
    device = Device(kCPU);
    options.hooks = host_hooks();
    options.trim = true;
    if (source == nullptr) source = new HostSource;
  } else {
    EBB_CHECK(slot.memory.source != nullptr, "there is no device ", device,
              "; this program has no ", device.type(), " device of that index");
    const auto index = &slot - slots[static_cast<size_t>(device.type())].data();
    device = Device(device.type(), static_cast<DeviceIndex>(index));
    options.hooks = slot.memory.hooks;
    options.streams = slot.memory.streams;
    if (source == nullptr) source = slot.memory.source;
  }
  auto* made = new CachingAllocator(device, *source, options);
  survive_fork();
  static const size_t reported_entries = detail::start_report();
  if (reported_entries > 0 && !report_is_on) {
    report_is_on = history_is_on = true;
    history_entries = reported_entries;
  }
  if (history_is_on) made->start_history(history_entries);
  slot.allocator.store(made, std::memory_order_release);
  return *made;
}

detail::BlockRecord* device_block(Block* block) noexcept {
  if (block == nullptr) return nullptr;
  auto* record = static_cast<detail::Record*>(block);
  return record->kind == detail::Record::Kind::device ? static_cast<detail::BlockRecord*>(record)
                                                      : nullptr;
}

}  // namespace

CachingAllocator& allocator(Device device) {
  Slot& slot = slot_of(device);
  CachingAllocator* made = slot.allocator.load(std::memory_order_acquire);
  if (made != nullptr) return *made;
  if (!has_source(device, slot)) ebb::detail::set_up_devices(device.type());
  return create(device, slot);
}

CachingAllocator* find_allocator(Device device) {
  return slot_of(device).allocator.load(std::memory_order_acquire);
}

std::vector<CachingAllocator*> detail::allocators_in_use() {
  std::vector<CachingAllocator*> all;
  for_each_allocator([&](CachingAllocator& a) { all.push_back(&a); });
  if (CachingAllocator* pinned = find_pinned_allocator()) all.push_back(pinned);
  return all;
}

void register_device(Device device, const DeviceMemory& memory) {
  Slot& slot = slot_of(device);
  std::lock_guard lock(registry_mutex);
  EBB_CHECK(slot.allocator.load() == nullptr, "register_device: ", device, " is in use already");
  slot.memory = memory;
}

void set_current_device_query(DeviceType type, DeviceIndex (*current)()) {
  current_device[static_cast<size_t>(type)].store(current, std::memory_order_release);
}

DeviceIndex current_device_index(DeviceType type) {
  const auto query = current_device[static_cast<size_t>(type)].load(std::memory_order_acquire);
  return query == nullptr ? DeviceIndex{0} : query();
}

void set_source(Device device, MemorySource& source) {
  Slot& slot = slot_of(device);
  std::lock_guard lock(registry_mutex);
  EBB_CHECK(slot.allocator.load() == nullptr, "set_source: ", device,
            " has been used already; set its source before the first tensor");
  slot.custom_source = &source;
}

void empty_cache(Device device) {
  if (CachingAllocator* a = find_allocator(device)) a->empty_cache();
}

void reserve(Device device, size_t bytes) { allocator(device).reserve(bytes); }

void set_memory_limit(Device device, size_t bytes) { allocator(device).set_limit(bytes); }

size_t memory_limit(Device device) {
  const CachingAllocator* a = find_allocator(device);
  return a == nullptr ? 0 : a->limit();
}

size_t memory_capacity(Device device) { return allocator(device).source().capacity(); }

void set_allocator_settings(const std::string& text) {
  std::lock_guard lock(registry_mutex);
  const ParsedConfig parsed = parse_config(text, common_config());
  print(parsed.warnings);
  common_config() = parsed.config;
  for_each_allocator([&](CachingAllocator& a) { a.set_config(parsed.config); });
}

void record_history(const HistoryOptions& options) {
  std::lock_guard lock(registry_mutex);
  history_entries = options.max_entries;
  history_is_on = true;
  for_each_allocator([&](CachingAllocator& a) { a.start_history(options.max_entries); });
}

bool recording_history() noexcept { return history_is_on.load(std::memory_order_relaxed); }

namespace {

Recording collect_history(bool stop) {
  Recording out;
  std::lock_guard lock(registry_mutex);
  if (stop) history_is_on = false;
  for_each_allocator([&](CachingAllocator& a) { out.devices.push_back(a.history(stop)); });
  return out;
}

}  // namespace

Recording history() { return collect_history(false); }

Recording stop_history() { return collect_history(true); }

void record_stream(Block* block, StreamId stream) {
  if (detail::BlockRecord* record = device_block(block)) {
    record->segment->allocator->record_stream(block, stream);
  }
}

Block* allocate(size_t bytes, Device device) { return allocator(device).allocate(bytes); }

Block* adopt(void* data, size_t bytes, Device device, ForeignDeleter deleter, void* context) {
  auto* record = new detail::ForeignRecord;
  record->data = data;
  record->nbytes = bytes;
  record->device = device;
  record->deleter = deleter;
  record->context = context;
  return record;
}

void detail::release_last(Block* block) noexcept {
  auto* record = static_cast<Record*>(block);
  switch (record->kind) {
    case Record::Kind::device: {
      auto* owned = static_cast<BlockRecord*>(record);
      owned->segment->allocator->release(owned);
      return;
    }
    case Record::Kind::foreign: {
      auto* foreign = static_cast<ForeignRecord*>(record);
      if (foreign->deleter != nullptr) foreign->deleter(foreign->context);
      delete foreign;
      return;
    }
    case Record::Kind::empty:
      delete record;
  }
}

void set_category(Block* block, Category category) noexcept {
  if (detail::BlockRecord* record = device_block(block)) {
    record->segment->allocator->set_category(record, category);
  }
}

Category category(const Block* block) noexcept {
  const detail::BlockRecord* record = device_block(const_cast<Block*>(block));
  return record == nullptr ? Category::temporary : record->segment->allocator->category(record);
}

void hold_saved(Block* block) noexcept {
  detail::BlockRecord* record = device_block(block);
  if (record != nullptr && record->saved_holders.fetch_add(1, std::memory_order_relaxed) == 0) {
    record->segment->allocator->update_category(record);
  }
}

void unhold_saved(Block* block) noexcept {
  detail::BlockRecord* record = device_block(block);
  if (record != nullptr && record->saved_holders.fetch_sub(1, std::memory_order_relaxed) == 1) {
    record->segment->allocator->update_category(record);
  }
}

Workspace::Workspace(size_t bytes, Device device)
    : block_(allocator(device).allocate(bytes, Purpose::workspace)) {}

Workspace::~Workspace() { release(block_); }

}  // namespace ebb::memory
