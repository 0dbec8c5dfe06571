#include <ebb/core/ops/functors/optimizer.h>
#include <ebb/core/ops/functors/quantize.h>
#include <ebb/core/ops/quantize_kernels.h>
#include <ebb/cuda/kernels/lines.h>
#include <ebb/cuda/kernels/tables.h>
#include <ebb/cuda/runtime/kernel_device.h>
#include <ebb/cuda/runtime/launch.h>

// Codes of one byte: a block of threads takes a block of elements. Compiled without fused
// multiply-add, so that steps are those of the CPU.

namespace ebb::cuda {

namespace {

using functors::CodeValues;
using Numbers = Elements<float, AnyType>;

static_assert(kBlockThreads >= 256, "each thread brings a number of a code to shared memory");

struct Larger {
  __device__ __forceinline__ int32_t operator()(int32_t a, int32_t b) const {
    return a > b ? a : b;
  }
};

/// The elements of a block; each thread of the block takes every kBlockThreads-th.
struct Span {
  int64_t begin;
  int64_t end;

  __device__ __forceinline__ Span(int64_t block, int64_t size, int64_t numel)
      : begin(block * size), end(begin + size < numel ? begin + size : numel) {}
  template <typename F>
  __device__ __forceinline__ void for_each(F&& f) const {
    for (int64_t i = begin + threadIdx.x; i < end; i += blockDim.x) f(i);
  }
};

/// Makes the limits of a code; the block waits before it reads them.
__device__ __forceinline__ void set_limits(const CodeValues& code, float* limits) {
  const int c = static_cast<int>(threadIdx.x);
  if (c < 256) limits[c] = functors::code_limit(code.value, c);
}
__device__ __forceinline__ void set_values(const CodeValues& code, float* values) {
  if (threadIdx.x < 256) values[threadIdx.x] = code.value[threadIdx.x];
}

__global__ void quantize_blocks(CodeValues code, Numbers in, uint8_t* codes, float* absmax,
                                int64_t numel, int64_t size, int64_t blocks) {
  EBB_SHARED(limits, float[256]);
  set_limits(code, limits);
  __syncthreads();
  for (int64_t block = blockIdx.x; block < blocks; block += gridDim.x) {
    const Span span(block, size, numel);
    int32_t largest = 0;
    span.for_each(
        [&](int64_t i) { largest = Larger()(largest, functors::magnitude_bits(in.load(i))); });
    const float scale = functors::absmax_of(block_reduce(largest, Larger(), 0));
    const float divisor = functors::divisor_of(scale);
    span.for_each([&](int64_t i) {
      codes[i] = static_cast<uint8_t>(functors::nearest_code(limits, in.load(i) / divisor));
    });
    if (threadIdx.x == 0) absmax[block] = scale;
  }
}

__global__ void dequantize_blocks(CodeValues code, Numbers out, const uint8_t* codes,
                                  const float* absmax, int64_t numel, int64_t size) {
  EBB_SHARED(values, float[256]);
  set_values(code, values);
  __syncthreads();
  const int64_t step = int64_t{gridDim.x} * blockDim.x;
  for (int64_t i = int64_t{blockIdx.x} * blockDim.x + threadIdx.x; i < numel; i += step) {
    out.store(i, values[codes[i]] * absmax[i / size]);
  }
}

/// The state of a step in memory.
struct Averages {
  uint8_t* codes;
  float* absmax;
};

/// The numbers are computed twice, for the largest and for the codes, so that blocks of any size
/// need no memory.
__global__ void adam_blocks(functors::AdamUpdate<float> rule, CodeValues signed_code,
                            CodeValues unsigned_code, Numbers parameter, Numbers grad,
                            Averages mean, Averages square, int64_t numel, int64_t size,
                            int64_t blocks) {
  EBB_SHARED(mean_values, float[256]);
  EBB_SHARED(mean_limits, float[256]);
  EBB_SHARED(square_values, float[256]);
  EBB_SHARED(square_limits, float[256]);
  set_values(signed_code, mean_values);
  set_limits(signed_code, mean_limits);
  set_values(unsigned_code, square_values);
  set_limits(unsigned_code, square_limits);
  __syncthreads();
  for (int64_t block = blockIdx.x; block < blocks; block += gridDim.x) {
    const Span span(block, size, numel);
    const float old_mean = mean.absmax[block];
    const float old_square = square.absmax[block];
    const auto step = [&](int64_t i, float& p, float& m, float& v) {
      p = parameter.load(i);
      m = mean_values[mean.codes[i]] * old_mean;
      v = square_values[square.codes[i]] * old_square;
      rule(p, grad.load(i), m, v);
    };
    int32_t largest_mean = 0;
    int32_t largest_square = 0;
    span.for_each([&](int64_t i) {
      float p, m, v;
      step(i, p, m, v);
      largest_mean = Larger()(largest_mean, functors::magnitude_bits(m));
      largest_square = Larger()(largest_square, functors::magnitude_bits(v));
    });
    // Nobody writes before all have read.
    const float new_mean = functors::absmax_of(block_reduce(largest_mean, Larger(), 0));
    const float new_square = functors::absmax_of(block_reduce(largest_square, Larger(), 0));
    span.for_each([&](int64_t i) {
      float p, m, v;
      step(i, p, m, v);
      const float mean_part = m / functors::divisor_of(new_mean);
      const float square_part = v / functors::divisor_of(new_square);
      const int code = functors::nearest_code(square_limits, square_part);
      mean.codes[i] = static_cast<uint8_t>(functors::nearest_code(mean_limits, mean_part));
      square.codes[i] = static_cast<uint8_t>(v > 0.0f && code < 1 ? 1 : code);
      parameter.store(i, p);
    });
    if (threadIdx.x == 0) {
      mean.absmax[block] = new_mean;
      square.absmax[block] = new_square;
    }
  }
}

void quantize(const QuantizeArguments& a) {
  const KernelDevice device;
  const int64_t blocks = ops::quantization_blocks(a.numel, a.block);
  launch(&quantize_blocks, blocks_for(blocks, 1), kBlockThreads, 0, device.stream(),
         functors::values_of(a.code), Numbers(a.data, a.dtype), a.codes, a.absmax, a.numel, a.block,
         blocks);
}

void dequantize(const QuantizeArguments& a) {
  const KernelDevice device;
  launch(&dequantize_blocks, blocks_for(a.numel), kBlockThreads, 0, device.stream(),
         functors::values_of(a.code), Numbers(a.data, a.dtype), a.codes, a.absmax, a.numel,
         a.block);
}

void adam(const QuantizedAdamArguments& a) {
  const KernelDevice device;
  const int64_t blocks = ops::quantization_blocks(a.numel, a.block);
  launch(&adam_blocks, blocks_for(blocks, 1), kBlockThreads, 0, device.stream(),
         functors::AdamUpdate<float>(a.step), functors::kDynamicSigned, functors::kDynamicUnsigned,
         Numbers(a.parameter, a.parameter_dtype), Numbers(a.grad, a.grad_dtype),
         Averages{a.exp_avg, a.exp_avg_absmax}, Averages{a.exp_avg_sq, a.exp_avg_sq_absmax},
         a.numel, a.block, blocks);
}

}  // namespace

extern const QuantizeKernels quantize_kernels = {
    .quantize = &quantize, .dequantize = &dequantize, .adam = &adam};

}  // namespace ebb::cuda
