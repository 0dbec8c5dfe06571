#pragma once

#include <cstddef>
#include <tuple>
#include <type_traits>

#include <ebb/cuda/runtime/api.h>
#include <ebb/cuda/runtime/error.h>
#include <ebb/cuda/runtime/place.h>
#if defined(EBB_CUDA_EMULATED)
#include <ebb/cuda/emulator/launch.h>
#endif

namespace ebb::cuda {

/// The grid of a launch, with the place of the launch for messages. Made from a dim3 or a number of
/// blocks.
struct GridSize {
  dim3 size;
  Place place;

  GridSize(dim3 grid, Place at = Place::here()) : size(grid), place(at) {}  // NOLINT: implicit
  template <typename Integer, typename = std::enable_if_t<std::is_integral_v<Integer>>>
  GridSize(Integer blocks, Place at = Place::here())  // NOLINT: implicit
      : size(static_cast<unsigned>(blocks)), place(at) {}
};

namespace internal {
/// Throws an ebb::Error that names the kernel, its configuration and the place, unless `error` is
/// success.
EBB_API void check_launch(cudaError_t error, const void* kernel, const GridSize& grid, dim3 block,
                          size_t shared_bytes);
}  // namespace internal

/// Queues kernel<<<grid, block, shared_bytes, stream>>>(args...). Arguments convert to the kernel's
/// parameter types as in a call; they are trivially copyable and at most 4 KiB in all. Throws an
/// CUDAError that names the kernel and the place if the launch is refused: an empty or too large
/// grid or block, too much shared memory, or an earlier fault of the device. With
/// CUDA_LAUNCH_BLOCKING=1 it waits for the kernel, and faults of the kernel are reported here too.
template <typename... P>
void launch(void (*kernel)(P...), GridSize grid, dim3 block, size_t shared_bytes,
            cudaStream_t stream, std::type_identity_t<P>... args) {
  static_assert((std::is_trivially_copyable_v<P> && ...), "kernel arguments are copied as bytes");
  static_assert((sizeof(P) + ... + 0) <= 4096, "kernel arguments are at most 4 KiB in all");
  const void* address = reinterpret_cast<const void*>(kernel);
#if defined(EBB_CUDA_EMULATED)
  cudaError_t error = emulator::launch(kernel, std::tuple<P...>(args...), grid.size, block,
                                       shared_bytes, stream, grid.place);
  if (error == cudaSuccess && launch_blocking()) error = cudaStreamSynchronize(stream);
#else
  // One more than the arguments, since there may be none.
  void* pointers[] = {const_cast<void*>(static_cast<const void*>(&args))..., nullptr};
  const cudaError_t error =
      cudaLaunchKernel(address, grid.size, block, pointers, shared_bytes, stream);
#endif
  if (error != cudaSuccess) [[unlikely]] {
    internal::check_launch(error, address, grid, block, shared_bytes);
  }
}

}  // namespace ebb::cuda
