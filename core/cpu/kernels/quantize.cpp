#include <algorithm>

#include <ebb/core/cpu/loops.h>
#include <ebb/core/ops/functors/optimizer.h>
#include <ebb/core/ops/functors/quantize.h>
#include <ebb/core/ops/quantize_kernels.h>
#include <ebb/core/parallel.h>

// A block at a time, as float32 numbers that stay in cache.

namespace ebb::cpu::EBB_CPU_CAPABILITY {

namespace {

using functors::CodeValues;
using functors::kDynamicSigned;
using functors::kDynamicUnsigned;

constexpr int64_t kMaxBlock = ops::kMaxQuantizationBlock;

struct CodeLimits {
  float limit[256];
  explicit CodeLimits(const CodeValues& code) {
    for (int c = 0; c < 256; ++c) limit[c] = functors::code_limit(code.value, c);
  }
};

/// Adjacent elements of some dtype.
struct Row {
  char* data;
  ScalarType dtype;

  [[nodiscard]] int64_t size() const { return static_cast<int64_t>(element_size(dtype)); }
  void load(float* to, int64_t first, int64_t n) const {
    loads(kFloat)[static_cast<int>(dtype)](to, data + first * size(), {n, 1, size(), 0});
  }
  void store(const float* from, int64_t first, int64_t n) const {
    stores(kFloat)[static_cast<int>(dtype)](data + first * size(), from, {n, 1, size(), 0});
  }
};

/// Calls f(block, its first element, its elements) for all blocks.
template <typename F>
void for_each_block(int64_t numel, int64_t block, F&& f) {
  const int64_t grain = std::max<int64_t>(1, kGrain / 8 / block);
  parallel_for(0, ops::quantization_blocks(numel, block), grain, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      f(i, i * block, std::min(block, numel - i * block));
    }
  });
}

/// `least`: the lowest code of a number above zero.
void quantize_block(const CodeLimits& limits, int least, const float* x, int64_t n, uint8_t* codes,
                    float* absmax) {
  int32_t largest = 0;
  for (int64_t i = 0; i < n; ++i) largest = std::max(largest, functors::magnitude_bits(x[i]));
  *absmax = functors::absmax_of(largest);
  const float divisor = functors::divisor_of(*absmax);
  EBB_INDEPENDENT
  for (int64_t i = 0; i < n; ++i) {
    const int code = functors::nearest_code(limits.limit, x[i] / divisor);
    codes[i] = static_cast<uint8_t>(x[i] > 0 && code < least ? least : code);
  }
}

void dequantize_block(const CodeValues& code, const uint8_t* codes, float absmax, int64_t n,
                      float* x) {
  for (int64_t i = 0; i < n; ++i) x[i] = code.value[codes[i]] * absmax;
}

void quantize(const QuantizeArguments& a) {
  const CodeLimits limits(functors::values_of(a.code));
  const Row row = {static_cast<char*>(a.data), a.dtype};
  for_each_block(a.numel, a.block, [&](int64_t i, int64_t first, int64_t n) {
    float x[kMaxBlock];
    row.load(x, first, n);
    quantize_block(limits, 0, x, n, a.codes + first, a.absmax + i);
  });
}

void dequantize(const QuantizeArguments& a) {
  const CodeValues& code = functors::values_of(a.code);
  const Row row = {static_cast<char*>(a.data), a.dtype};
  for_each_block(a.numel, a.block, [&](int64_t i, int64_t first, int64_t n) {
    float x[kMaxBlock];
    dequantize_block(code, a.codes + first, a.absmax[i], n, x);
    row.store(x, first, n);
  });
}

void adam(const QuantizedAdamArguments& a) {
  const CodeLimits signed_limits(kDynamicSigned);
  const CodeLimits unsigned_limits(kDynamicUnsigned);
  const functors::AdamUpdate<float> rule(a.step);
  const Row parameter = {static_cast<char*>(a.parameter), a.parameter_dtype};
  const Row grad = {static_cast<char*>(const_cast<void*>(a.grad)), a.grad_dtype};
  for_each_block(a.numel, a.block, [&](int64_t i, int64_t first, int64_t n) {
    float p[kMaxBlock], g[kMaxBlock], m[kMaxBlock], v[kMaxBlock];
    parameter.load(p, first, n);
    grad.load(g, first, n);
    dequantize_block(kDynamicSigned, a.exp_avg + first, a.exp_avg_absmax[i], n, m);
    dequantize_block(kDynamicUnsigned, a.exp_avg_sq + first, a.exp_avg_sq_absmax[i], n, v);
    EBB_INDEPENDENT
    for (int64_t k = 0; k < n; ++k) rule(p[k], g[k], m[k], v[k]);
    quantize_block(signed_limits, 0, m, n, a.exp_avg + first, a.exp_avg_absmax + i);
    quantize_block(unsigned_limits, 1, v, n, a.exp_avg_sq + first, a.exp_avg_sq_absmax + i);
    parameter.store(p, first, n);
  });
}

}  // namespace

extern const QuantizeKernels quantize_kernels = {
    .quantize = &quantize, .dequantize = &dequantize, .adam = &adam};

}  // namespace ebb::cpu::EBB_CPU_CAPABILITY
