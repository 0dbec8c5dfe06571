#include <limits>

#ifdef EBB_CUDA_EMULATED
#include <ebb/cuda/emulator.h>
#endif
#include <ebb/cuda/runtime/blas_settings.h>
#include <ebb/testing/measure.h>

#include "ops/reduce_reference.h"

// What products do on the device beyond what tests/ops/matmul.cpp asks of every device.

using namespace ebb;
using namespace ebb::testing;

namespace {

/// The product of the same tensors on the CPU.
Values on_cpu(const Tensor& a, const Tensor& b) { return values(matmul(a.cpu(), b.cpu())); }

struct AllowTf32 {
  AllowTf32() { cuda::set_allow_tf32_matmul(true); }
  ~AllowTf32() { cuda::set_allow_tf32_matmul(false); }
};

}  // namespace

TEST_CASE("Batches with any strides multiply on the device as on the CPU", "[cuda][matmul]") {
  // One stride, two that do not merge (a list of pointers), repeated factors, more dimensions than
  // a kernel indexes.
  const Tensor heads = random_tensor({2, 5, 3, 4}, kFloat);
  const Tensor a = heads.transpose(1, 2);
  const Tensor b = random_tensor({2, 6, 3, 4}, kFloat, -1, 1, 2).permute({0, 2, 3, 1});
  check_close(matmul(a, b), on_cpu(a, b), 1e-6);
  check_close(matmul(a, b.select(0, 1)), on_cpu(a, b.select(0, 1)), 1e-6);
  check_close(matmul(heads, heads.transpose(2, 3)), on_cpu(heads, heads.transpose(2, 3)), 1e-6);
  std::vector<int64_t> many(10, 2);
  std::vector<int64_t> turned(10);
  for (int64_t d = 0; d < 8; ++d) turned[static_cast<size_t>(d)] = 7 - d;
  turned[8] = 8;
  turned[9] = 9;
  const Tensor left = random_tensor(many, kFloat, -1, 1, 3);
  const Tensor right = random_tensor(many, kFloat, -1, 1, 4).permute(turned);
  check_close(matmul(left, right), on_cpu(left, right), 1e-6);
  check_close(matmul(left.to(kLong), right.to(kLong)), on_cpu(left.to(kLong), right.to(kLong)));
}

TEST_CASE("Factors that cuBLAS cannot read by strides are copied, repeats once",
          "[cuda][matmul][short]") {
  const Tensor row = random_tensor({1, 40}, kFloat);
  const Tensor repeated = row.expand({30, 40});
  const Tensor b = random_tensor({40, 20}, kFloat, -1, 1, 2);
  check_close(mm(repeated, b), on_cpu(repeated, b), 1e-5);
  const Tensor every_second = random_tensor({30, 80}, kFloat).slice(1, 0, 80, 2);
  check_close(mm(every_second, b), on_cpu(every_second, b), 1e-5);
  // The copy [30, 40] and the result [30, 20] of float32.
  CHECK(measure([&] { return mm(every_second, b); }).peak_bytes ==
        static_cast<int64_t>(memory::rounded(30 * 40 * 4) + memory::rounded(30 * 20 * 4)));
  const Tensor batch = every_second.expand({50, 30, 40});
  CHECK(measure([&] {
          return matmul(batch, b.expand({50, 40, 20}));
        }).peak_bytes ==
        static_cast<int64_t>(memory::rounded(30 * 40 * 4) + memory::rounded(50 * 30 * 20 * 4)));
}

TEST_CASE("addmm_ writes to any strides of self", "[cuda][matmul]") {
  for (const ScalarType dtype : {kFloat, kHalf, kInt}) {
    const double high = dtype == kInt ? 9 : 1;
    const Tensor a = random_tensor({17, 20}, dtype, -high, high, 1);
    const Tensor b = random_tensor({20, 19}, dtype, -high, high, 2);
    for (const Tensor& self : layouts(random_tensor({17, 19}, dtype, -high, high, 3))) {
      const Tensor expected = self.cpu().clone();
      expected.addmm_(a.cpu(), b.cpu(), 2, 3);
      self.addmm_(a, b, 2, 3);
      check_close(self, values(expected), dtype == kHalf ? 2e-3 : 1e-6);
    }
  }
}

TEST_CASE("TF32 is used where it is allowed, for float32 alone", "[cuda][matmul]") {
  const Tensor a = full({4, 4}, 1 + 0x1p-12, kFloat);  // needs twelve bits
  const Tensor one = eye(4, TensorOptions(kFloat).device(get_default_device()));
  CHECK_FALSE(cuda::allow_tf32_matmul());
  check_close(mm(a, one), Values(16, 1 + 0x1p-12), 0);
  const AllowTf32 allowed;
  check_close(mm(a, one), Values(16, 1), 0);
  check_close(mm(a.to(kDouble), one.to(kDouble)), Values(16, 1 + 0x1p-12), 0);
}

TEST_CASE("16-bit products are summed in float32 on the device", "[cuda][matmul]") {
  // 4096 + 1 is not a Half or BFloat16, but the sum 4096 + 1 - 4096 in float32 is 1.
  for (const ScalarType dtype : {kHalf, kBFloat16}) {
    const Tensor a = made_of({4096, 1, -4096}, {1, 3}, dtype);
    check_close(mm(a, ones({3, 1}, dtype)), {1}, 0);
  }
}

#ifdef EBB_CUDA_EMULATED  // which counts the calls of the runtime
TEST_CASE("Products make no synchronisation, and one call of cuBLAS each", "[cuda][matmul]") {
  const Tensor a = random_tensor({2, 8, 3, 8}, kFloat);
  const Tensor heads = a.transpose(1, 2);
  const Tensor b = random_tensor({8, 8}, kFloat);
  const Tensor warm = matmul(b, b);
  const cuda::emulator::CallTrace trace;
  const Tensor single = matmul(b, b);
  CHECK(trace.count("cublasGemmEx") == 1);
  const Tensor batch = matmul(a, a.transpose(2, 3));
  CHECK(trace.count("cublasGemmStridedBatchedEx") == 1);
  const Tensor pointers = matmul(heads, heads);
  CHECK(trace.count("cublasGemmBatchedEx") == 1);
  CHECK(trace.synchronizations() == 0);
}
#endif
