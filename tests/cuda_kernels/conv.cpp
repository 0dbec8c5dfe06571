#ifdef EBB_CUDA_EMULATED
#include <ebb/cuda/emulator.h>
#endif
#include <ebb/testing/measure.h>

#include "ops/reduce_reference.h"

// What convolutions do on the device beyond what tests/ops/conv.cpp asks of every device.

using namespace ebb;
using namespace ebb::testing;

namespace {

constexpr int64_t kChunkBytes = int64_t{32} << 20;

struct Gradients {
  Tensor output;
  Tensor input;
  Tensor weight;
};

Gradients run(const Tensor& image, const Tensor& kernel, IntArrayRef stride, IntArrayRef padding,
              int64_t groups) {
  Tensor x = image.detach().requires_grad_();
  Tensor w = kernel.detach().requires_grad_();
  const Tensor y = conv2d(x, w, {}, stride, padding, 1, groups);
  (y * y).sum().backward();
  return {y.detach(), x.grad(), w.grad()};
}

void check_against_cpu(const Tensor& image, const Tensor& kernel, IntArrayRef stride,
                       IntArrayRef padding, int64_t groups, double tolerance) {
  const Gradients device = run(image, kernel, stride, padding, groups);
  const Gradients host = run(image.cpu(), kernel.cpu(), stride, padding, groups);
  check_close(device.output, values(host.output), tolerance);
  check_close(device.input, values(host.input), tolerance);
  check_close(device.weight, values(host.weight), tolerance);
}

}  // namespace

TEST_CASE("An image whose windows do not fit in scratch is convolved in strips", "[cuda][conv]") {
  // 9 channels x 9 taps x 320 x 330 windows of float32: 34 MiB, so at least two strips of each
  // pass.
  const Tensor x = random_tensor({1, 9, 320, 330}, kFloat);
  const Tensor w = random_tensor({2, 9, 3, 3}, kFloat, -1, 1, 2);
  check_against_cpu(x, w, 1, 1, 1, 1e-3);  // sums of 10^5 products
  const auto measured = measure([&] { return conv2d(x, w, {}, 1, 1); });
  CHECK(measured.peak_bytes <= 2 * 320 * 330 * 4 + kChunkBytes);
  CHECK(measured.peak_bytes >= kChunkBytes / 2);
}

TEST_CASE("A batch whose windows do not fit in scratch is convolved some images at a time",
          "[cuda][conv]") {
  // 5 MiB of windows an image: six images at a time, and one.
  const Tensor x = random_tensor({7, 4, 190, 190}, kHalf);
  const Tensor w = random_tensor({2, 4, 3, 3}, kHalf, -1, 1, 2);
  const Gradients device = run(x, w, 1, 1, 1);
  const Gradients host = run(x.cpu(), w.cpu(), 1, 1, 1);
  check_close(device.output, values(host.output), 2e-3);
  check_close(device.input, values(host.input), 2e-2);
  check_close(device.weight, values(host.weight), 2e-3);  // float32 sums, rounded once
}

TEST_CASE("Convolutions with stride, groups and strided images agree with the CPU",
          "[cuda][conv][short]") {
  const Tensor x = random_tensor({3, 6, 11, 9}, kFloat);
  const Tensor w = random_tensor({4, 3, 3, 2}, kFloat, -1, 1, 2);
  for (const Tensor& image : layouts(x)) check_against_cpu(image, w, {2, 3}, {2, 1}, 2, 1e-4);
  const Tensor depthwise = random_tensor({6, 1, 3, 3}, kFloat, -1, 1, 3);
  check_against_cpu(x, depthwise, 1, 1, 6, 1e-4);
  // Steps over most pixels: these get no gradient.
  check_against_cpu(x, random_tensor({2, 6, 1, 1}, kFloat), 4, 0, 1, 1e-4);
}

TEST_CASE("A convolution of single pixels reads the image where it is", "[cuda][conv]") {
  const Tensor x = random_tensor({2, 8, 6, 5}, kFloat);
  const Tensor w = random_tensor({4, 8, 1, 1}, kFloat, -1, 1, 2);
  check_against_cpu(x, w, 1, 0, 1, 1e-5);
  CHECK(measure([&] { return conv2d(x, w); }).peak_bytes ==
        static_cast<int64_t>(memory::rounded(2 * 4 * 30 * 4)));
  check_against_cpu(x.transpose(2, 3), w, 1, 0, 1, 1e-5);
}

#ifdef EBB_CUDA_EMULATED  // which counts the calls of the runtime
TEST_CASE("Convolutions make no synchronisation", "[cuda][conv]") {
  const Tensor x = random_tensor({2, 3, 8, 8}, kFloat);
  const Tensor w = random_tensor({4, 3, 3, 3}, kFloat);
  static_cast<void>(run(x, w, 1, 1, 1));
  const cuda::emulator::CallTrace trace;
  static_cast<void>(run(x, w, 1, 1, 1));
  CHECK(trace.synchronizations() == 0);
  CHECK(trace.count() > 0);
}
#endif
