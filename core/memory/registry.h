#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include <ebb/core/device_setup.h>
#include <ebb/core/export.h>
#include <ebb/core/memory/caching_allocator.h>

namespace ebb::memory {

/// The allocator of a device; made on first use. Throws an Error for a device that is not there,
/// and a ValueError if EBB_ALLOC_CONF is not in order.
[[nodiscard]] EBB_API CachingAllocator& allocator(Device device);
/// The allocator of a device, or null while it has none.
[[nodiscard]] EBB_API CachingAllocator* find_allocator(Device device);

namespace detail {
/// The allocators that were used so far: of every device, and of page-locked host memory.
[[nodiscard]] EBB_API std::vector<CachingAllocator*> allocators_in_use();
}  // namespace detail

/// What a device brings along so that ebb can allocate on it. All of it lives as long as the
/// process.
struct DeviceMemory {
  MemorySource* source = nullptr;
  Streams* streams = nullptr;
  MemoryHooks hooks{};
};
/// Makes a device known, before its first use.
EBB_API void register_device(Device device, const DeviceMemory& memory);
/// How an index of -1 is read for devices of this type.
EBB_API void set_current_device_query(DeviceType type, DeviceIndex (*current)());
/// The index of the current device of this type: 0 where nothing says otherwise.
[[nodiscard]] EBB_API DeviceIndex current_device_index(DeviceType type);

/// Puts a device on memory of the host program's own. `source` must outlive all tensors. Throws an
/// Error once the device has been used.
EBB_API void set_source(Device device, MemorySource& source);

/// Gives cached memory that is one free segment each back to the device.
EBB_API void empty_cache(Device device = get_default_device());
/// Takes `bytes` bytes (rounded up to 2 MiB) from the device now, for later requests.
EBB_API void reserve(Device device, size_t bytes);
/// A limit on the bytes that are held from the device; 0: none.
EBB_API void set_memory_limit(Device device, size_t bytes);
/// The limit; 0: none.
[[nodiscard]] EBB_API size_t memory_limit(Device device = get_default_device());
/// How many bytes the device has for ebb.
[[nodiscard]] EBB_API size_t memory_capacity(Device device = get_default_device());
/// Settings in the form of EBB_ALLOC_CONF, from now on, on every device in use and later ones.
EBB_API void set_allocator_settings(const std::string& text);

/// Work on `stream` uses the block too: once freed, its memory waits for that stream.
EBB_API void record_stream(Block* block, StreamId stream);

}  // namespace ebb::memory
