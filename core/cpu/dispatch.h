#pragma once

#include <ebb/core/export.h>
#include <ebb/core/ops/kernels.h>

namespace ebb::cpu {

/// The kernels that suit this CPU best among those compiled in. EBB_CPU_CAPABILITY in the
/// environment may name a lesser one ("baseline", "avx2", "avx512"), to compare or to hunt a fault.
const Kernels& choose_kernels();

/// The name of what choose_kernels chose: "native", "baseline", "avx2" or "avx512".
EBB_API const char* capability_name();

}  // namespace ebb::cpu
