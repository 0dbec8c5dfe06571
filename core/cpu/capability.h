#pragma once

// Each file in core/cpu/kernels is compiled once for each CPU capability, with flags of its own and
// with EBB_CPU_CAPABILITY as the name of the namespace that holds all that it defines:
//
//   namespace ebb::cpu::EBB_CPU_CAPABILITY {
//   namespace { ... helpers ... }
//   extern const ReduceKernels reduce_kernels = {&sum, ...};
//   }
//
// What such a file emits must not be merged by the linker with a copy compiled for a lesser CPU:
// helpers are in that namespace, anonymous, or always inlined; templates of the standard library
// over common types (std::vector<int64_t>, std::sort on int64_t*) are kept out.
#if !defined(EBB_CPU_CAPABILITY)
#define EBB_CPU_CAPABILITY native
#endif

// The compiled capabilities, the best one last.
#if !defined(EBB_CPU_CAPABILITIES)
#define EBB_CPU_CAPABILITIES native
#endif
