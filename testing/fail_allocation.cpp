#include <ebb/testing/fail_allocation.h>

#include <ebb/core/memory/registry.h>

namespace ebb::testing {

void fail_allocation(int64_t n, Device device) { memory::allocator(device).fail_request(n); }

void clear_fail_allocation(Device device) { memory::allocator(device).fail_request(0); }

bool fail_allocation_pending(Device device) {
  return memory::allocator(device).requests_until_failure() > 0;
}

}  // namespace ebb::testing
