#include <ebb/cuda/runtime/launch.h>

#include <ebb/core/error.h>
#if defined(EBB_CUDA_EMULATED)
#include <ebb/cuda/emulator/report.h>
#endif

namespace ebb::cuda::internal {

namespace {

std::string name_of(const void* kernel) {
#if defined(EBB_CUDA_EMULATED)
  return emulator::kernel_name(kernel);
#else
  const char* name = nullptr;
  return cudaFuncGetName(&name, kernel) == cudaSuccess ? name : "of unknown name";
#endif
}

std::string str(const dim3& size) {
  return ebb::detail::concat('(', size.x, ", ", size.y, ", ", size.z, ')');
}

}  // namespace

void check_launch(cudaError_t error, const void* kernel, const GridSize& grid, dim3 block,
                  size_t shared_bytes) {
  if (error == cudaSuccess) return;
  raise_cuda_error(error, ebb::detail::concat("launching kernel ", name_of(kernel), "<<<",
                                              str(grid.size), ", ", str(block), ", ", shared_bytes,
                                              " bytes shared>>> at ", grid.place.file, ":",
                                              grid.place.line));
}

}  // namespace ebb::cuda::internal
