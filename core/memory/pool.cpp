#include <ebb/core/memory/pool.h>

#include <ebb/core/memory/caching_allocator.h>
#include <ebb/core/memory/registry.h>

namespace ebb::memory {

Pool::Pool(Device device, const PoolOptions& options) : Pool(allocator(device), options) {}

Pool::Pool(CachingAllocator& allocator, const PoolOptions& options)
    : allocator_(allocator), record_(allocator.create_pool(options)) {}

Pool::~Pool() { allocator_.retire_pool(record_); }

int64_t Pool::reserved_bytes() const { return allocator_.pool_bytes(record_, true); }

int64_t Pool::allocated_bytes() const { return allocator_.pool_bytes(record_, false); }

}  // namespace ebb::memory
