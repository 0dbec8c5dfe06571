#include <ebb/cuda/kernels/elementwise.h>
#include <ebb/cuda/kernels/tables.h>

namespace ebb::cuda {

extern constexpr ElementwiseKernels<ElementwiseFamily::activation> activation_kernels =
    make_table<ElementwiseFamily::activation>(functors::ActivationList());

}  // namespace ebb::cuda
