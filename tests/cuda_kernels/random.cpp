#include <array>

#include <ebb/core/ops/optimizer.h>
#include <ebb/core/random/generator.h>

#include "cuda_kernels/support.h"

using namespace kernel_tests;

namespace {

/// Runs `draw` on a tensor of the CPU and one of the device, from the same seed, in each layout,
/// and counts the elements that differ.
template <typename Draw>
int64_t differences_of(ScalarType dtype, Draw&& draw) {
  int64_t count = 0;
  for (const Arrangement& arrangement : arrangements()) {
    const Tensor host = numbers(arrangement.base, dtype, 1);
    const Tensor device = host.to(kCUDA);
    manual_seed(7);
    draw(arrangement.view(host, 0));
    manual_seed(7);
    draw(arrangement.view(device, 0));
    const int64_t found = differences(host, device);
    INFO(arrangement.name << " of " << dtype);
    CHECK(found == 0);
    count += found;
  }
  return count;
}

}  // namespace

TEST_CASE("random numbers of the device are those of the CPU, whatever the layout") {
  for (const ScalarType dtype : kFloatDtypes) {
    CHECK(differences_of(dtype, [](Tensor x) { x.uniform_(-0.3, 1.7); }) == 0);
    CHECK(differences_of(dtype, [](Tensor x) { x.normal_(1.5, 0.5); }) == 0);
  }
  for (const ScalarType dtype : kAllDtypes) {
    CHECK(differences_of(dtype, [](Tensor x) { x.bernoulli_(0.3); }) == 0);
    CHECK(differences_of(dtype, [](Tensor x) { x.random_(0, 2); }) == 0);
  }
}

TEST_CASE("dropout and draws with probabilities of their own agree with the CPU's", "[short]") {
  for (const ScalarType dtype : kFloatDtypes) {
    for (const Arrangement& arrangement : arrangements()) {
      INFO(arrangement.name << " of " << dtype);
      const Tensor base = numbers(arrangement.base, dtype, 1);
      const Tensor host = arrangement.view(base, 1);
      const Tensor device = arrangement.view(base.to(kCUDA), 1);
      manual_seed(7);
      const Tensor expected = dropout(host, 0.4, true);
      manual_seed(7);
      CHECK(differences(expected, dropout(device, 0.4, true)) == 0);
      const Tensor p = host.isfinite().to(dtype) * 0.5;
      manual_seed(7);
      const Tensor drawn = bernoulli(p);
      manual_seed(7);
      CHECK(differences(drawn, bernoulli(p.to(kCUDA))) == 0);
    }
  }
}

TEST_CASE("steps that round bfloat16 stochastically are those of the CPU") {
  const auto stepped = [](Device device) {
    manual_seed(7);
    const Tensor x = numbers({70, 1000}, kBFloat16, 1);
    const Tensor p = where(x.isfinite(), x, zeros_like(x)).to(device);
    const Tensor grad = p * 0.5, mean = zeros_like(p), square = zeros_like(p);
    const Tensor scratch = empty({3 * ops::kRoundedChunk}, TensorOptions(kFloat).device(device));
    ops::AdamStep numbers = {0.01, 1, 0.9, 0.99, 1e-8};
    numbers.rounds_stochastically = true;
    const ops::AdamOperands operands[] = {{p, grad, mean, square, {}, numbers}};
    for (int i = 0; i < 3; ++i) ops::adam_steps_(operands, scratch);
    return std::array{p, mean, square};
  };
  const auto host = stepped(kCPU), device = stepped(Device(kCUDA, 0));
  for (size_t i = 0; i < 3; ++i) CHECK(differences(host[i], device[i]) == 0);
  CHECK(host[1].ne(0).any().item<bool>());
}
