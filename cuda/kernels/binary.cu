#include <ebb/cuda/kernels/elementwise.h>
#include <ebb/cuda/kernels/tables.h>

namespace ebb::cuda {

extern constexpr ElementwiseKernels<ElementwiseFamily::binary> binary_kernels =
    make_table<ElementwiseFamily::binary>(functors::BinaryList());

}  // namespace ebb::cuda
