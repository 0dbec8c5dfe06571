#include <ebb/core/cpu/loops.h>
#include <ebb/core/ops/functors/table.h>

namespace ebb::cpu::EBB_CPU_CAPABILITY {

extern constexpr ElementwiseKernels<ElementwiseFamily::binary> binary_kernels =
    make_table<ElementwiseFamily::binary>(functors::BinaryList());

}  // namespace ebb::cpu::EBB_CPU_CAPABILITY
