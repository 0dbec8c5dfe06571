#pragma once

#include <cstdint>

#include <ebb/autograd/saved_tensor_hooks.h>

namespace ebb {

struct SaveAsOptions {
  /// Smaller tensors are kept as they are.
  int64_t min_bytes = 4096;
};

/// Until the end of the scope, ops on this thread save floating-point tensors for backward in fewer
/// bits. Forward computes as always, and gradients come from the rounded tensors:
///
/// - kHalf, two bytes an element: each is off by at most 2^-11 of itself (below 2^-14: by 2^-25);
///   beyond 65504 it is an infinity, and so is a gradient that it enters.
/// - kBFloat16, two bytes an element: off by at most 2^-8 of itself.
/// - kByte, one byte an element and four for each block of 256 in row-major order: off by at most
///   1/142 of the largest magnitude of its block, which must be finite. Dettmers et al., "8-bit
///   optimizers via block-wise quantization" (2022), where small elements keep their sign.
///
/// A gradient that is a sum of products of grad_outputs and saved elements is off by at most the
/// sum of |grad_output| times the element's error. Kept as they are: parameters and buffers,
/// whatever is not floating point (indices, classes, masks, seeds), dtypes not wider than the new
/// one, small tensors, foreign memory and expanded views. A tensor that several ops in a row save
/// is rounded once. What was saved may be written in place afterwards: its copy is kept.
///
/// Throws an Error for another dtype. The narrow tensors pass to the next outer hooks: with
/// SaveOnCpu outside, half the bytes go to the host. See docs/saving.md.
class EBB_API SaveAs {
 public:
  explicit SaveAs(ScalarType dtype, SaveAsOptions options = {});

 private:
  autograd::SavedTensorHooks hooks_;
};

}  // namespace ebb
