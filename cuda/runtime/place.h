#pragma once

namespace ebb::cuda {

/// A place in the source. As a default argument, `Place::here()` is the place of the call.
struct Place {
  const char* file;
  int line;

#if defined(__CUDACC__)
  __host__ __device__
#endif
      static constexpr Place
      here(const char* file = __builtin_FILE(), int line = __builtin_LINE()) {
    return {file, line};
  }
};

}  // namespace ebb::cuda
