// An ordinary CUDA kernel, with the edits that let it run without a GPU. They are marked.

#include "row_softmax.h"

#include <cmath>

#include <ebb/cuda/runtime/device_code.h>  // was: <cuda_runtime.h>
#include <ebb/cuda/runtime/launch.h>

using namespace ebb::cuda;

namespace {

constexpr int kThreads = 128;

__global__ void row_softmax_kernel(const float* in, float* out, int columns) {
  EBB_SHARED(partial, float[kThreads]);  // was: __shared__ float partial[kThreads];
  float* values = dynamic_shared<float>();  // was: extern __shared__ float values[];
  in += int64_t{blockIdx.x} * columns;
  out += int64_t{blockIdx.x} * columns;

  float largest = -INFINITY;
  for (int i = threadIdx.x; i < columns; i += blockDim.x) {
    values[i] = in[i];
    largest = std::fmax(largest, values[i]);
  }
  // Was: __shfl_xor_sync(0xffffffff, largest, distance).
  for (int distance = 16; distance > 0; distance /= 2) {
    largest = std::fmax(largest, shuffle_xor(largest, distance));
  }
  partial[threadIdx.x] = largest;
  __syncthreads();
  for (int warp = 0; warp < kThreads; warp += kWarpSize) {
    largest = std::fmax(largest, partial[warp]);
  }

  float sum = 0;
  for (int i = threadIdx.x; i < columns; i += blockDim.x) {
    values[i] = std::exp(values[i] - largest);
    sum += values[i];
  }
  // A reduction over the block is there ready-made.
  sum = block_reduce(sum, [](float a, float b) { return a + b; }, 0.0f);
  for (int i = threadIdx.x; i < columns; i += blockDim.x) out[i] = values[i] / sum;
}

}  // namespace

void row_softmax(const float* in, float* out, int rows, int columns, cudaStream_t stream) {
  // Was: row_softmax_kernel<<<rows, kThreads, columns * sizeof(float), stream>>>(in, out, columns);
  launch(row_softmax_kernel, rows, kThreads, columns * sizeof(float), stream, in, out, columns);
}
