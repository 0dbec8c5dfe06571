#include <ebb/core/cpu/loops.h>
#include <ebb/core/ops/functors/table.h>

namespace ebb::cpu::EBB_CPU_CAPABILITY {

extern constexpr ElementwiseKernels<ElementwiseFamily::compare> compare_kernels =
    make_table<ElementwiseFamily::compare>(functors::CompareList());

}  // namespace ebb::cpu::EBB_CPU_CAPABILITY
