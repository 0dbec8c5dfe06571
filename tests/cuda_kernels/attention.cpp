#ifdef EBB_CUDA_EMULATED
#include <ebb/cuda/emulator.h>
#endif

#include "ops/reduce_reference.h"

// What attention does on the device beyond what tests/ops/attention.cpp asks of every device.

using namespace ebb;
using namespace ebb::testing;

namespace {

std::vector<Tensor> run(const std::vector<Tensor>& inputs, double dropout_p, bool is_causal) {
  std::vector<Tensor> leaves;
  for (const Tensor& input : inputs) leaves.push_back(input.detach().requires_grad_());
  const Tensor result =
      scaled_dot_product_attention(leaves[0], leaves[1], leaves[2], {}, dropout_p, is_causal);
  (result * result).sum().backward();
  return {result.detach(), leaves[0].grad(), leaves[1].grad(), leaves[2].grad()};
}

}  // namespace

TEST_CASE("Attention on the device agrees with the CPU, the same weights dropped",
          "[cuda][attention]") {
  for (const ScalarType dtype : {kFloat, kDouble, kHalf, kBFloat16}) {
    const double tolerance = dtype == kDouble  ? 1e-12
                             : dtype == kFloat ? 1e-5
                             : dtype == kHalf  ? 4e-3
                                               : 3e-2;
    std::vector<Tensor> inputs;
    std::vector<Tensor> on_cpu;
    for (uint32_t i = 0; i < 3; ++i) {
      inputs.push_back(random_tensor({2, 70, 12}, dtype, -1, 1, i + 1));
      on_cpu.push_back(inputs.back().cpu());
    }
    for (const bool is_causal : {false, true}) {
      manual_seed(11);
      const std::vector<Tensor> device = run(inputs, 0.2, is_causal);
      manual_seed(11);
      const std::vector<Tensor> host = run(on_cpu, 0.2, is_causal);
      for (size_t t = 0; t < 4; ++t) {
        CAPTURE(dtype, is_causal, t);
        check_close(device[t], values(host[t]), tolerance);
      }
    }
  }
}

TEST_CASE("Attention is the same bits on each run, and makes no synchronisation",
          "[cuda][attention][short]") {
  std::vector<Tensor> inputs;
  for (uint32_t i = 0; i < 3; ++i)
    inputs.push_back(random_tensor({1, 90, 8}, kFloat, -1, 1, i + 1));
  const std::vector<Tensor> first = run(inputs, 0, false);
#ifdef EBB_CUDA_EMULATED
  const cuda::emulator::CallTrace trace;
#endif
  const std::vector<Tensor> second = run(inputs, 0, false);
#ifdef EBB_CUDA_EMULATED
  CHECK(trace.count("launch") > 0);
  CHECK(trace.synchronizations() == 0);
#endif
  for (size_t t = 0; t < 4; ++t) CHECK(equal(first[t], second[t]));
}
