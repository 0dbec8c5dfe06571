#include <ebb/core/cpu/loops.h>
#include <ebb/core/ops/functors/table.h>

namespace ebb::cpu::EBB_CPU_CAPABILITY {

extern constexpr ElementwiseKernels<ElementwiseFamily::unary> unary_kernels =
    make_table<ElementwiseFamily::unary>(functors::UnaryList());

}  // namespace ebb::cpu::EBB_CPU_CAPABILITY
