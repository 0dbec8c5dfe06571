#pragma once

#include <cstdint>

#include <ebb/core/export.h>

// Windows over images, one dimension at a time: window w has `kernel` taps, and tap t of it lies at
// pixel w * stride - padding + t * dilation. Shared by pooling and convolution.

namespace ebb::cuda {

/// The taps begin to end - 1 of a window that lie inside the image; `start` is the pixel of tap 0.
struct WindowTaps {
  int64_t start;
  int64_t begin;
  int64_t end;
};

/// The windows first to last - 1 that may hold a pixel.
struct WindowRange {
  int64_t first;
  int64_t last;
};

/// One dimension of a sliding window.
struct WindowAxis {
  int64_t size;   ///< pixels
  int64_t count;  ///< windows
  int64_t kernel;
  int64_t stride;
  int64_t padding;
  int64_t dilation;

  EBB_INLINE WindowTaps taps(int64_t window) const {
    const int64_t start = window * stride - padding;
    const int64_t begin = start >= 0 ? 0 : (dilation - 1 - start) / dilation;
    const int64_t inside = size - 1 - start;
    const int64_t limit = inside < 0 ? 0 : inside / dilation + 1;
    const int64_t end = limit < kernel ? limit : kernel;
    return {start, begin, end < begin ? begin : end};
  }

  /// Which windows reach the pixels from `first` to `last`. Some of them may step over a pixel.
  EBB_INLINE WindowRange windows(int64_t first_pixel, int64_t last_pixel) const {
    const int64_t reach = first_pixel + padding - (kernel - 1) * dilation;
    const int64_t first = reach <= 0 ? 0 : (reach + stride - 1) / stride;
    const int64_t last = (last_pixel + padding) / stride + 1;
    return {first, last < count ? last : count};
  }

  /// The tap of `window` that lies on `pixel`, or -1.
  EBB_INLINE int64_t tap(int64_t window, int64_t pixel) const {
    const int64_t distance = pixel + padding - window * stride;
    const int64_t tap = distance / dilation;
    return distance < 0 || tap >= kernel || tap * dilation != distance ? -1 : tap;
  }
};

/// An element of a batch of planes of `height` x `width`.
struct PlanePlace {
  int64_t plane;
  int64_t row;
  int64_t column;
};

/// Element i of such a batch.
EBB_INLINE PlanePlace place_of(int64_t i, int64_t height, int64_t width) {
  if (i <= 0xffffffff) {  // 32-bit divisions are several times as fast
    const auto small = static_cast<uint32_t>(i);
    const uint32_t line = small / static_cast<uint32_t>(width);
    const uint32_t plane = line / static_cast<uint32_t>(height);
    return {plane, line - plane * static_cast<uint32_t>(height),
            small - line * static_cast<uint32_t>(width)};
  }
  const int64_t line = i / width;
  return {line / height, line % height, i % width};
}

}  // namespace ebb::cuda
