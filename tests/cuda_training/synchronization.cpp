// What a training step asks of the CUDA runtime.

#include "cuda_training/helpers.h"

using namespace training;
using ebb::cuda::emulator::CallTrace;

TEST_CASE("Forward, backward and step never wait for the device") {
  Training training(ebb::kCUDA, ebb::kFloat, 0.5);
  (void)training.step();
  ebb::cuda::synchronize();
  const CallTrace trace;
  training.optimizer->zero_grad();
  Tensor loss = training.loss();
  loss.backward();
  training.optimizer->step();
  INFO(trace.str());
  CHECK(trace.count("launch") > 20);
  CHECK(trace.synchronizations() == 0);
  const double value = loss.item<double>();
  CHECK(value > 0);
  CHECK(trace.count("cudaStreamSynchronize") == 1);
}

TEST_CASE("After the first step no memory is asked of the device") {
  Training training(ebb::kCUDA);
  (void)training.step();
  const CallTrace trace;
  for (int i = 0; i < 3; ++i) (void)training.step();
  CHECK(trace.count("launch") > 60);
  CHECK(trace.count("cudaMalloc") == 0);
  CHECK(trace.count("cudaFree") == 0);
}

TEST_CASE("Tensors of the host and of the device have their own statistics") {
  const auto host = ebb::memory::memory_allocated(ebb::kCPU);
  const auto device = ebb::memory::memory_allocated(ebb::kCUDA);
  const Tensor on_host = ebb::empty({256}, ebb::kCPU);
  CHECK(ebb::memory::memory_allocated(ebb::kCPU) == host + 1024);
  CHECK(ebb::memory::memory_allocated(ebb::kCUDA) == device);
  const Tensor on_device = ebb::empty({512}, ebb::kCUDA);
  CHECK(ebb::memory::memory_allocated(ebb::kCPU) == host + 1024);
  CHECK(ebb::memory::memory_allocated(ebb::kCUDA) == device + 2048);
}
