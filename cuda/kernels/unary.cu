#include <ebb/cuda/kernels/elementwise.h>
#include <ebb/cuda/kernels/tables.h>

namespace ebb::cuda {

extern constexpr ElementwiseKernels<ElementwiseFamily::unary> unary_kernels =
    make_table<ElementwiseFamily::unary>(functors::UnaryList());

}  // namespace ebb::cuda
