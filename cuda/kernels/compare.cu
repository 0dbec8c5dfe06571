#include <ebb/cuda/kernels/elementwise.h>
#include <ebb/cuda/kernels/tables.h>

namespace ebb::cuda {

extern constexpr ElementwiseKernels<ElementwiseFamily::compare> compare_kernels =
    make_table<ElementwiseFamily::compare>(functors::CompareList());

}  // namespace ebb::cuda
