#pragma once

#include <ebb/cuda/cuda.h>

namespace at {

/// The global settings, as far as ebb has them.
class Context {
 public:
  [[nodiscard]] static bool hasCUDA() { return ebb::cuda::is_available(); }
  [[nodiscard]] static bool hasCuDNN() { return ebb::cuda::cudnn_is_available(); }
  [[nodiscard]] bool allowTF32CuBLAS() const { return ebb::cuda::allow_tf32_matmul(); }
  void setAllowTF32CuBLAS(bool allow) { ebb::cuda::set_allow_tf32_matmul(allow); }
};

inline Context& globalContext() {
  static Context context;
  return context;
}
inline bool hasCUDA() { return Context::hasCUDA(); }

}  // namespace at
