#pragma once

#include <cstddef>

namespace ebb::memory::detail {

/// Reads EBB_MEMORY_REPORT once, on the first use of memory: if it names a page, sees to it that
/// the page is written at exit, and returns how many events each device is to record. 0: none.
[[nodiscard]] size_t start_report();

}  // namespace ebb::memory::detail
