#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>

#include <ebb/core/export.h>

// What a CUDA device's memory is used for, under torch.cuda's names. A device is an index, -1 the
// current one; all figures are bytes. A device that was not used yet has zeros, and is not set up.

namespace ebb::cuda {

/// Bytes of tensor data and scratch in use, each request rounded up to 512 bytes.
[[nodiscard]] EBB_API int64_t memory_allocated(int64_t device = -1);
/// The highest memory_allocated since the last reset_peak_memory_stats.
[[nodiscard]] EBB_API int64_t max_memory_allocated(int64_t device = -1);
/// Bytes held from the device by the caching allocator: in use, or cached for the next requests.
[[nodiscard]] EBB_API int64_t memory_reserved(int64_t device = -1);
[[nodiscard]] EBB_API int64_t max_memory_reserved(int64_t device = -1);
/// Every statistic of the caching allocator, such as `allocated_bytes.all.peak`, and
/// `blas_workspace_bytes`.
[[nodiscard]] EBB_API std::map<std::string, int64_t> memory_stats(int64_t device = -1);
/// The statistics as a table for people. `abbreviated` leaves out the rows of the two pools.
[[nodiscard]] EBB_API std::string memory_summary(int64_t device = -1, bool abbreviated = false);
/// Every peak becomes the present value.
EBB_API void reset_peak_memory_stats(int64_t device = -1);
/// The totals of allocated and freed, and the counts of events, become 0.
EBB_API void reset_accumulated_memory_stats(int64_t device = -1);

/// Gives cached memory of all devices that is one free segment each back to them.
EBB_API void empty_cache();
/// Free and total bytes of a device as the driver sees them, other processes included.
[[nodiscard]] EBB_API std::pair<size_t, size_t> mem_get_info(int64_t device = -1);
/// Limits memory_reserved to a fraction of the device's memory, in [0, 1]; 1: no limit. Throws a
/// ValueError for other numbers.
EBB_API void set_per_process_memory_fraction(double fraction, int64_t device = -1);
[[nodiscard]] EBB_API double get_per_process_memory_fraction(int64_t device = -1);

/// The statistics of pinned host memory, as memory_stats; all zero while none was used.
[[nodiscard]] EBB_API std::map<std::string, int64_t> host_memory_stats();
EBB_API void reset_peak_host_memory_stats();
EBB_API void reset_accumulated_host_memory_stats();
/// Gives cached pinned memory back to the system.
EBB_API void empty_host_cache();

}  // namespace ebb::cuda
