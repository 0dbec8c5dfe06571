#include <ebb/core/ops/quantize.h>

#include <ebb/core/ops/factory.h>
#include <ebb/core/ops/kernels.h>
#include <ebb/core/ops/quantize_kernels.h>
#include <ebb/core/ops/row_major.h>
#include <ebb/core/thread_state.h>

namespace ebb::ops {

namespace {

void check_block(int64_t block) {
  EBB_CHECK(block >= 1 && block <= kMaxQuantizationBlock, "expected blocks of 1 to ",
            kMaxQuantizationBlock, " elements, got ", block);
}

QuantizeArguments arguments_for(const TensorBase& data, const TensorBase& codes,
                                const TensorBase& absmax, Code code, int64_t block) {
  return {.code = code,
          .numel = codes.numel(),
          .block = block,
          .data = data.data_ptr(),
          .dtype = data.scalar_type(),
          .codes = static_cast<uint8_t*>(codes.data_ptr()),
          .absmax = static_cast<float*>(absmax.data_ptr())};
}

}  // namespace

Quantized quantize_blockwise(const TensorBase& x, Code code, int64_t block) {
  const OpName name("quantize_blockwise");
  EBB_CHECK(x.is_floating_point(), "expected a floating-point tensor, got ", x.scalar_type(), " ",
            x.sizes());
  check_block(block);
  const TensorBase data = row_major(x);
  Quantized result = {empty(x.sizes(), kByte, x.device()),
                      empty({quantization_blocks(x.numel(), block)}, kFloat, x.device())};
  if (x.numel() == 0) return result;
  kernels(x.device())
      .quantize->quantize(arguments_for(data, result.codes, result.absmax, code, block));
  return result;
}

TensorBase dequantize_blockwise(const TensorBase& codes, const TensorBase& absmax, Code code,
                                int64_t block, ScalarType dtype) {
  const OpName name("dequantize_blockwise");
  check_block(block);
  EBB_CHECK(codes.scalar_type() == kByte && codes.is_contiguous() &&
                absmax.scalar_type() == kFloat && absmax.is_contiguous() &&
                absmax.device() == codes.device() &&
                absmax.numel() == quantization_blocks(codes.numel(), block),
            "expected uint8 codes and a float32 absmax for each block of ", block, ", got ",
            codes.scalar_type(), " ", codes.sizes(), " on ", codes.device(), " and ",
            absmax.scalar_type(), " ", absmax.sizes(), " on ", absmax.device());
  EBB_CHECK(is_floating_point(dtype), "expected a floating-point dtype, got ", dtype);
  TensorBase result = empty(codes.sizes(), dtype, codes.device());
  if (codes.numel() == 0) return result;
  kernels(codes.device()).quantize->dequantize(arguments_for(result, codes, absmax, code, block));
  return result;
}

void quantized_adam_steps_(std::span<const QuantizedAdamOperands> all) {
  for (const QuantizedAdamOperands& a : all) {
    if (a.parameter.numel() == 0) continue;
    kernels(a.parameter.device())
        .quantize->adam(
            {.numel = a.parameter.numel(),
             .block = a.block,
             .parameter = a.parameter.data_ptr(),
             .parameter_dtype = a.parameter.scalar_type(),
             .grad = a.grad.data_ptr(),
             .grad_dtype = a.grad.scalar_type(),
             .exp_avg = static_cast<uint8_t*>(a.exp_avg.codes.data_ptr()),
             .exp_avg_absmax = static_cast<float*>(a.exp_avg.absmax.data_ptr()),
             .exp_avg_sq = static_cast<uint8_t*>(a.exp_avg_sq.codes.data_ptr()),
             .exp_avg_sq_absmax = static_cast<float*>(a.exp_avg_sq.absmax.data_ptr()),
             .step = a.step});
    for (const TensorBase* written : {&a.parameter, &a.exp_avg.codes, &a.exp_avg.absmax,
                                      &a.exp_avg_sq.codes, &a.exp_avg_sq.absmax}) {
      written->impl()->bump_version();
    }
  }
}

}  // namespace ebb::ops
