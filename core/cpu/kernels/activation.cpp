#include <ebb/core/cpu/loops.h>
#include <ebb/core/ops/functors/table.h>

namespace ebb::cpu::EBB_CPU_CAPABILITY {

extern constexpr ElementwiseKernels<ElementwiseFamily::activation> activation_kernels =
    make_table<ElementwiseFamily::activation>(functors::ActivationList());

}  // namespace ebb::cpu::EBB_CPU_CAPABILITY
