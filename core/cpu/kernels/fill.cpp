#include <cstring>

#include <ebb/core/cpu/convert.h>
#include <ebb/core/cpu/loops.h>
#include <ebb/core/ops/fill_kernels.h>

namespace ebb::cpu::EBB_CPU_CAPABILITY {

namespace {

template <typename T>
void fill_as(const TensorIterator& it, T value) {
  parallel_for_each_run(it, [&](char* const* pointers, int64_t n) {
    const int64_t stride = it.stride(0, 0);
    if (stride == static_cast<int64_t>(sizeof(T))) {
      T* out = reinterpret_cast<T*>(pointers[0]);
      for (int64_t i = 0; i < n; ++i) out[i] = value;
    } else {
      for (int64_t i = 0; i < n; ++i) *reinterpret_cast<T*>(pointers[0] + i * stride) = value;
    }
  });
}

void fill(const TensorIterator& it, const Scalar& value) {
  dispatch(it.dtype(0), [&](auto zero) {
    using T = decltype(zero);
    fill_as<Stored<T>>(it, value.to<T>());
  });
}

}  // namespace

extern const FillKernels fill_kernels = {&fill};

}  // namespace ebb::cpu::EBB_CPU_CAPABILITY
