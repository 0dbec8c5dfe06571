#include "cuda_kernels/support.h"

using namespace kernel_tests;

TEST_CASE("copies between all layouts and dtypes agree with the CPU's") {
  int64_t compared = 0;
  for (const ScalarType from : kAllDtypes) {
    for (const ScalarType to : kAllDtypes) {
      for (const Arrangement& arrangement : arrangements()) {
        INFO(from << " to " << to << ", " << arrangement.name);
        const Tensor source = numbers(arrangement.base, from, 1);
        const Tensor target = numbers(arrangement.base, to, 2);
        const Tensor on_device = target.to(kCUDA);
        arrangement.view(target, 0).copy_(arrangement.view(source, 1));
        arrangement.view(on_device, 0).copy_(arrangement.view(source.to(kCUDA), 1));
        REQUIRE(differences(target, on_device) == 0);
        compared += target.numel();
      }
    }
  }
  CHECK(compared > 300'000);
}

TEST_CASE("matrices are turned whatever their sizes, alone and in stacks", "[short]") {
  for (const ScalarType dtype : {kUInt8, kHalf, kFloat, kDouble}) {
    for (const auto& [rows, columns] : {std::pair<int64_t, int64_t>{16, 16}, {31, 33}, {100, 40}}) {
      INFO(rows << " x " << columns << " of " << dtype);
      const Tensor matrix = numbers({rows, columns}, dtype, 1);
      CHECK(differences(matrix.t().contiguous(), matrix.to(kCUDA).t().contiguous()) == 0);
      const Tensor stack = numbers({3, rows, 2, columns}, dtype, 2);
      CHECK(differences(stack.permute({2, 3, 0, 1}).contiguous(),
                        stack.to(kCUDA).permute({2, 3, 0, 1}).contiguous()) == 0);
    }
  }
}

TEST_CASE("what is filled is what the CPU fills, and nothing beside it") {
  for (const ScalarType dtype : kAllDtypes) {
    for (const Arrangement& arrangement : arrangements()) {
      INFO(dtype << ", " << arrangement.name);
      const Tensor host = numbers(arrangement.base, dtype, 1);
      const Tensor device = host.to(kCUDA);
      arrangement.view(host, 0).fill_(3.5);
      arrangement.view(device, 0).fill_(3.5);
      REQUIRE(differences(host, device) == 0);
    }
  }
}

TEST_CASE("triangles and ranges agree with the CPU's") {
  const TensorOptions on_device = TensorOptions(kDouble).device(kCUDA);
  const TensorOptions on_host = TensorOptions(kDouble).device(kCPU);
  for (const ScalarType dtype : kAllDtypes) {
    INFO(dtype);
    const Tensor stack = numbers({3, 7, 9}, dtype, 1);
    for (const int64_t diagonal : {-8, -2, 0, 3, 9}) {
      CHECK(differences(stack.tril(diagonal), stack.to(kCUDA).tril(diagonal)) == 0);
      CHECK(differences(stack.transpose(1, 2).triu(diagonal),
                        stack.to(kCUDA).transpose(1, 2).triu(diagonal)) == 0);
    }
    if (dtype == kBool) continue;
    CHECK(differences(arange(2, 90, 3, on_host.dtype(dtype)),
                      arange(2, 90, 3, on_device.dtype(dtype))) == 0);
  }
  CHECK(differences(arange(0.1, 77.7, 0.3, on_host), arange(0.1, 77.7, 0.3, on_device)) == 0);
  CHECK(differences(linspace(-1, 2, 301, on_host), linspace(-1, 2, 301, on_device)) == 0);
  CHECK(differences(linspace(5, 6, 1, on_host), linspace(5, 6, 1, on_device)) == 0);
}
