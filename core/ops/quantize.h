#pragma once

#include <cstdint>
#include <span>

#include <ebb/core/export.h>
#include <ebb/core/ops/optimizer.h>
#include <ebb/core/tensor/tensor_base.h>

// Tensors kept in one byte an element: blocks of neighbours in row-major order share their largest
// magnitude, and each element is a code of its quotient by that.

namespace ebb::ops {

/// What the 256 codes stand for: the steps of a signed integer; or the dynamic trees of Dettmers
/// et al. ("8-bit optimizers via block-wise quantization", 2022), which tell numbers apart over
/// seven decades, with a sign or for numbers that are not negative.
enum class Code : uint8_t { linear, dynamic_signed, dynamic_unsigned };

/// The largest block.
inline constexpr int64_t kMaxQuantizationBlock = 4096;

/// A quantised tensor: one byte an element and four a block.
struct Quantized {
  TensorBase codes;   ///< uint8, of the tensor's sizes, contiguous
  TensorBase absmax;  ///< float32 [ceil(numel / block)]
};

/// How many blocks a tensor of so many elements has.
[[nodiscard]] constexpr int64_t quantization_blocks(int64_t numel, int64_t block) {
  return (numel + block - 1) / block;
}

/// Quantises a floating-point tensor by blocks of `block` elements, 1 to kMaxQuantizationBlock.
/// Each element becomes the nearest code, of two the lower one; with Code::dynamic_unsigned a
/// negative one becomes 0. Computed in float32, the same bits on every device. An infinity or NaN
/// makes all of its block NaN. The error is at most absmax / 254 for Code::linear, and for the
/// dynamic codes at most absmax / 142 with signs and absmax / 284 without, less for small elements.
[[nodiscard]] EBB_API Quantized quantize_blockwise(const TensorBase& x, Code code,
                                                   int64_t block = 256);

/// The numbers that the codes stand for, of the codes' sizes, as tensor of dtype `dtype`,
/// floating-point. `code` and `block` must be those of the quantisation.
[[nodiscard]] EBB_API TensorBase dequantize_blockwise(const TensorBase& codes,
                                                      const TensorBase& absmax, Code code,
                                                      int64_t block = 256,
                                                      ScalarType dtype = kFloat);

/// What a step of Adam takes whose state is quantised: exp_avg with Code::dynamic_signed,
/// exp_avg_sq with Code::dynamic_unsigned.
struct QuantizedAdamOperands {
  TensorBase parameter;  ///< float32, float16 or bfloat16, contiguous
  TensorBase grad;       ///< floating-point, contiguous, of the same sizes
  Quantized exp_avg;
  Quantized exp_avg_sq;
  int64_t block = 256;
  AdamStep step;
};

/// A step for each, no parameter twice: block by block the state becomes float32, is updated,
/// changes the parameter, and is quantised again. An exp_avg_sq that is not zero never becomes
/// zero, since the step divides by its root. All has been checked by the caller; raises the
/// versions of what it writes, allocates nothing and does not fail.
EBB_API void quantized_adam_steps_(std::span<const QuantizedAdamOperands> all);

}  // namespace ebb::ops
