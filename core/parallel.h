#pragma once

#include <cstdint>
#include <type_traits>

#include <ebb/core/export.h>

namespace ebb {

/// Sets how many threads ebb's own pool uses, the calling thread included; at least 1. With 1 no
/// thread is ever started. Results and memory figures do not depend on it.
EBB_API void set_num_threads(int count);
/// How many threads parallel_for uses: set_num_threads, else EBB_NUM_THREADS, else the number of
/// CPUs this process may run on.
EBB_API int get_num_threads();

namespace detail {
using ChunkFunction = void (*)(void* context, int64_t begin, int64_t end);
EBB_API void parallel_chunks(int64_t begin, int64_t end, int64_t grain, ChunkFunction function,
                             void* context);
}  // namespace detail

/// Calls f(chunk_begin, chunk_end) for pieces that cover [begin, end), each of at least `grain`
/// elements but the last, on the threads of the pool. Returns when all are done. The first
/// exception of a piece is thrown here, after the others have ended. Inside a piece a further
/// parallel_for runs serially. The pieces are the same for any number of threads only if f does
/// not care: partition reductions by shape yourself (one index per partial result).
template <typename F>
void parallel_for(int64_t begin, int64_t end, int64_t grain, F&& f) {
  using Function = std::remove_reference_t<F>;
  if (begin >= end) return;
  if (end - begin <= grain) {
    f(begin, end);
    return;
  }
  detail::parallel_chunks(
      begin, end, grain,
      [](void* context, int64_t from, int64_t to) { (*static_cast<Function*>(context))(from, to); },
      const_cast<void*>(static_cast<const void*>(&f)));
}

}  // namespace ebb
