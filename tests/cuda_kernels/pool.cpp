#include <ebb/cuda/kernels/windows.h>

#include "ops/reduce_reference.h"

using namespace ebb;
using namespace ebb::testing;

TEST_CASE("Windows and pixels find each other for any stride, padding and dilation",
          "[cuda][pool]") {
  int64_t met = 0;
  for (const int64_t kernel : {1, 2, 3, 5}) {
    for (const int64_t stride : {1, 2, 4}) {
      for (const int64_t padding : {0, 1, 2}) {
        for (const int64_t dilation : {1, 2, 3}) {
          const cuda::WindowAxis axis{.size = 12,
                                      .count = 9,
                                      .kernel = kernel,
                                      .stride = stride,
                                      .padding = padding,
                                      .dilation = dilation};
          for (int64_t window = 0; window < axis.count; ++window) {
            const cuda::WindowTaps taps = axis.taps(window);
            for (int64_t tap = 0; tap < kernel; ++tap) {
              const int64_t pixel = window * stride - padding + tap * dilation;
              const bool inside = pixel >= 0 && pixel < axis.size;
              CHECK((tap >= taps.begin && tap < taps.end) == inside);
              if (!inside) continue;
              ++met;
              CHECK(axis.tap(window, pixel) == tap);
              const cuda::WindowRange range = axis.windows(pixel, pixel);
              CHECK((window >= range.first && window < range.last));
            }
          }
        }
      }
    }
  }
  CHECK(met > 1000);
}

TEST_CASE("Places of a batch of planes are found beyond 2^32 elements", "[cuda][pool]") {
  const int64_t height = 7;
  const int64_t width = 11;
  for (const int64_t i : {int64_t{0}, int64_t{76}, int64_t{77}, (int64_t{1} << 32) - 1,
                          (int64_t{1} << 32), (int64_t{1} << 40) + 5}) {
    const cuda::PlanePlace place = cuda::place_of(i, height, width);
    CHECK((place.plane * height + place.row) * width + place.column == i);
    CHECK((place.row >= 0 && place.row < height && place.column >= 0 && place.column < width));
  }
}

TEST_CASE("Gradients of overlapping windows add up in one order", "[cuda][pool][short]") {
  Tensor x = random_tensor({2, 3, 17, 19}, kFloat).requires_grad_();
  Tensor first;
  for (int run = 0; run < 3; ++run) {
    x.mutable_grad() = Tensor();
    (max_pool2d(x, 5, 1, 2) * avg_pool2d(x, 5, 1, 2)).sum().backward();
    if (first.defined()) CHECK(equal(first, x.grad()));
    first = x.grad();
  }
}
