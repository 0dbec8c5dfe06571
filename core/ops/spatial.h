#pragma once

#include <cstdint>

#include <ebb/core/error.h>
#include <ebb/core/tensor/array_ref.h>

// What convolution and pooling share: parameters for height and width, and batches of images.

namespace ebb::ops {

/// Writes one number to both of `to`, or a pair. Throws unless each is at least `least`.
inline void read_pair(IntArrayRef from, const char* name, int64_t least, int64_t (&to)[2]) {
  EBB_CHECK(from.size() == 1 || from.size() == 2, name, " must be one number or two, got ", from);
  for (size_t d = 0; d < 2; ++d) {
    to[d] = from[from.size() == 1 ? 0 : d];
    EBB_CHECK(to[d] >= least, name, " must be at least ", least, ", got ", from);
  }
}

/// The sizes of a batch of images; [C, H, W] is a batch of one.
inline DimVector batch_of_images(IntArrayRef sizes, const char* name) {
  EBB_CHECK(sizes.size() == 3 || sizes.size() == 4, "expected ", name,
            " [N, C, H, W] or [C, H, W], got sizes ", sizes);
  DimVector batch(sizes);
  if (sizes.size() == 3) batch.insert(0, 1);
  return batch;
}

/// Where a window of `kernel` taps that are `dilation` apart fits along a padded dimension, at
/// steps of `stride`. Not positive if nowhere.
inline int64_t window_count(int64_t size, int64_t kernel, int64_t stride, int64_t padding,
                            int64_t dilation) {
  const int64_t rest = size + 2 * padding - dilation * (kernel - 1) - 1;
  return rest < 0 ? 0 : rest / stride + 1;
}

}  // namespace ebb::ops
