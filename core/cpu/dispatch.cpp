#include <ebb/core/cpu/dispatch.h>

#include <cstdlib>
#include <cstring>

#include <ebb/core/cpu/capability.h>

// The families with tables of their own. A new family adds its line here: the name of its struct
// without "Kernels", and that of its table without "_kernels". In the order of struct Kernels.
#define EBB_FAMILIES(X)   \
  X(Copy, copy)           \
  X(Fill, fill)           \
  X(Random, random)       \
  X(Reduce, reduce)       \
  X(Scan, scan)           \
  X(Sort, sort)           \
  X(Softmax, softmax)     \
  X(Index, index)         \
  X(Loss, loss)           \
  X(Matmul, matmul)       \
  X(Attention, attention) \
  X(Conv, conv)           \
  X(Pool, pool)           \
  X(Norm, norm)           \
  X(Shape, shape)         \
  X(Optimizer, optimizer) \
  X(Quantize, quantize)   \
  X(Rnn, rnn)

namespace ebb::cpu {

namespace {

struct Capability {
  const char* name;
  const Kernels* kernels;
};

}  // namespace

// The tables of one capability that the kernel files were compiled for. A macro, since they differ
// by namespace.
#define EBB_DECLARE_FAMILY(Family, family) extern const Family##Kernels family##_kernels;
#define EBB_SET_FAMILY(Family, family) .family = &family##_kernels,
#define EBB_CAPABILITY(capability)                                                              \
  namespace capability {                                                                        \
  extern const ElementwiseKernels<ElementwiseFamily::unary> unary_kernels;                      \
  extern const ElementwiseKernels<ElementwiseFamily::activation> activation_kernels;            \
  extern const ElementwiseKernels<ElementwiseFamily::binary> binary_kernels;                    \
  extern const ElementwiseKernels<ElementwiseFamily::compare> compare_kernels;                  \
  EBB_FAMILIES(EBB_DECLARE_FAMILY)                                                              \
  namespace {                                                                                   \
  constexpr Kernels table = {.elementwise = {unary_kernels.kernels, activation_kernels.kernels, \
                                             binary_kernels.kernels, compare_kernels.kernels},  \
                             EBB_FAMILIES(EBB_SET_FAMILY)};                                     \
  }                                                                                             \
  }

// EBB_CPU_CAPABILITIES is a list of up to three names: f(a) f(b) f(c).
#define EBB_EACH_1(f, a) f(a)
#define EBB_EACH_2(f, a, b) f(a) f(b)
#define EBB_EACH_3(f, a, b, c) f(a) f(b) f(c)
#define EBB_PICK(a, b, c, each, ...) each
#define EBB_EACH(f, ...) EBB_PICK(__VA_ARGS__, EBB_EACH_3, EBB_EACH_2, EBB_EACH_1, )(f, __VA_ARGS__)
EBB_EACH(EBB_CAPABILITY, EBB_CPU_CAPABILITIES)

namespace {

#define EBB_LIST_CAPABILITY(capability) {#capability, &capability::table},
constexpr Capability kCapabilities[] = {EBB_EACH(EBB_LIST_CAPABILITY, EBB_CPU_CAPABILITIES)};

bool is_supported(const char* name) {
#if defined(__x86_64__)
  if (std::strcmp(name, "avx2") == 0) {
    // Every CPU with AVX2 has F16C, which clang 14 cannot be asked about.
    return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
  }
  if (std::strcmp(name, "avx512") == 0) {
    return is_supported("avx2") && __builtin_cpu_supports("avx512f") &&
           __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512bw") &&
           __builtin_cpu_supports("avx512vl");
  }
#endif
  return std::strcmp(name, "baseline") == 0 || std::strcmp(name, "native") == 0;
}

const Capability& choose() {
  const char* wanted = std::getenv("EBB_CPU_CAPABILITY");
  const Capability* best = &kCapabilities[0];
  for (const Capability& capability : kCapabilities) {
    if (!is_supported(capability.name)) continue;
    best = &capability;
    if (wanted != nullptr && std::strcmp(wanted, capability.name) == 0) break;
  }
  return *best;
}

}  // namespace

const Kernels& choose_kernels() { return *choose().kernels; }

const char* capability_name() { return choose().name; }

}  // namespace ebb::cpu
