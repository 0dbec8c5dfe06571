// Tests a kernel on a machine without a GPU: against a plain loop, under eight orders of threads.
// Exits with 0 if all is well.

#include <cmath>
#include <cstdio>
#include <vector>

#include <ebb/cuda/emulator.h>

#include "row_softmax.h"

namespace {

std::vector<float> reference(const std::vector<float>& in, int rows, int columns) {
  std::vector<float> out(in.size());
  for (int row = 0; row < rows; ++row) {
    double sum = 0;
    for (int i = 0; i < columns; ++i) sum += std::exp(in[row * columns + i]);
    for (int i = 0; i < columns; ++i) {
      out[row * columns + i] = static_cast<float>(std::exp(in[row * columns + i]) / sum);
    }
  }
  return out;
}

/// The largest difference from the reference; infinite if the device reports a fault.
double largest_error(int rows, int columns) {
  std::vector<float> in(static_cast<size_t>(rows) * columns), out(in.size());
  for (size_t i = 0; i < in.size(); ++i) in[i] = std::sin(static_cast<float>(i));
  const size_t bytes = in.size() * sizeof(float);
  float *device_in = nullptr, *device_out = nullptr;
  cudaMalloc(&device_in, bytes);
  cudaMalloc(&device_out, bytes);
  cudaMemcpy(device_in, in.data(), bytes, cudaMemcpyHostToDevice);
  row_softmax(device_in, device_out, rows, columns, nullptr);
  cudaMemcpy(out.data(), device_out, bytes, cudaMemcpyDeviceToHost);
  cudaFree(device_in);
  cudaFree(device_out);
  if (cudaGetLastError() != cudaSuccess) return INFINITY;
  const std::vector<float> expected = reference(in, rows, columns);
  double largest = 0;
  for (size_t i = 0; i < in.size(); ++i) {
    const double difference = std::fabs(out[i] - expected[i]);
    if (!(difference <= largest)) largest = difference;  // NaN too
  }
  return largest;
}

}  // namespace

int main() {
  namespace emulator = ebb::cuda::emulator;
  using namespace emulator::literals;
  emulator::enable({.devices = 1, .memory = 64_MiB});
  for (uint64_t seed = 1; seed <= 8; ++seed) {
    emulator::set_seed(seed);
    for (const int columns : {1, 31, 128, 1000}) {
      const double error = largest_error(5, columns);
      if (!(error < 1e-6)) {
        std::printf("seed %d, %d columns: off by %g\n", static_cast<int>(seed), columns, error);
        return 1;
      }
    }
  }
  std::printf("row_softmax is right for 4 widths under 8 seeds\n");
  return 0;
}
