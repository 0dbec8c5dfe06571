#include <ebb/core/ops/elementwise.h>
#include <ebb/core/ops/functors/table.h>

#include "cuda_kernels/support.h"

using namespace kernel_tests;

namespace {

/// What a test must know of an elementwise kernel.
struct Kernel {
  ElementwiseOp op;
  int arity;
  functors::Result result;
  functors::Types types;
};

template <typename... Functors>
void add_family(std::vector<Kernel>& kernels, ElementwiseFamily family,
                functors::List<Functors...>) {
  int place = 0;
  (kernels.push_back({static_cast<ElementwiseOp>(static_cast<int>(family) * 256 + place++),
                      Functors::arity, Functors::result, Functors::types}),
   ...);
}

std::vector<Kernel> all_kernels() {
  std::vector<Kernel> kernels;
  add_family(kernels, ElementwiseFamily::unary, functors::UnaryList());
  add_family(kernels, ElementwiseFamily::activation, functors::ActivationList());
  add_family(kernels, ElementwiseFamily::binary, functors::BinaryList());
  add_family(kernels, ElementwiseFamily::compare, functors::CompareList());
  return kernels;
}

bool computes(const Kernel& kernel, ScalarType dtype) {
  if (kernel.types == functors::Types::integral) return !is_floating_point(dtype);
  return kernel.types == functors::Types::all || kernel.result == functors::Result::floating ||
         is_floating_point(dtype);
}

constexpr Scalar kParameters[] = {Scalar(2), Scalar(3)};

TensorBase run(const Kernel& kernel, const std::vector<Tensor>& inputs) {
  switch (kernel.arity) {
    case 1:
      return ops::elementwise(kernel.op, {inputs[0]}, kParameters);
    case 2:
      return ops::elementwise(kernel.op, {inputs[0], inputs[1]}, kParameters);
    default:
      return ops::elementwise(kernel.op, {inputs[0], inputs[1], inputs[2]}, kParameters);
  }
}

/// The operands 1 to `count` in that layout, on the CPU and on the device.
void make_inputs(const Arrangement& arrangement, const std::vector<ScalarType>& dtypes,
                 std::vector<Tensor>& host, std::vector<Tensor>& device) {
  for (size_t i = 0; i < dtypes.size(); ++i) {
    const Tensor base = numbers(arrangement.base, dtypes[i], static_cast<unsigned>(i));
    host.push_back(arrangement.view(base, static_cast<int>(i) + 1));
    device.push_back(arrangement.view(base.to(kCUDA), static_cast<int>(i) + 1));
  }
}

}  // namespace

TEST_CASE("each elementwise kernel agrees with the CPU's in each dtype and layout") {
  int64_t compared = 0;
  for (const Kernel& kernel : all_kernels()) {
    for (const ScalarType dtype : kAllDtypes) {
      if (!computes(kernel, dtype)) continue;
      for (const Arrangement& arrangement : arrangements()) {
        INFO("kernel " << static_cast<int>(kernel.op) << " of " << dtype << ", "
                       << arrangement.name);
        std::vector<Tensor> host, device;
        make_inputs(arrangement, std::vector<ScalarType>(static_cast<size_t>(kernel.arity), dtype),
                    host, device);
        const Tensor expected(run(kernel, host));
        const Tensor got(run(kernel, device));
        REQUIRE(got.is_cuda());
        REQUIRE(differences(expected, got) == 0);
        compared += expected.numel();
      }
    }
  }
  REQUIRE(compared > 1'000'000);
}

TEST_CASE("elementwise kernels convert each dtype that they read and write") {
  const Kernel add = {ElementwiseOp::Add, 2, functors::Result::same, functors::Types::all};
  const Kernel less = {ElementwiseOp::Lt, 2, functors::Result::boolean, functors::Types::all};
  const Kernel where = {ElementwiseOp::Where, 3, functors::Result::same, functors::Types::all};
  for (const ScalarType a : kAllDtypes) {
    for (const ScalarType b : kAllDtypes) {
      for (const Arrangement& arrangement :
           {arrangements()[2], arrangements()[7], arrangements()[10]}) {
        INFO(a << " and " << b << ", " << arrangement.name);
        std::vector<Tensor> host, device;
        make_inputs(arrangement, {a, b}, host, device);
        CHECK(differences(Tensor(run(add, host)), Tensor(run(add, device))) == 0);
        CHECK(differences(Tensor(run(less, host)), Tensor(run(less, device))) == 0);
        if (can_cast(promote_types(a, b), a)) {
          ops::elementwise_(ElementwiseOp::Add, host[0], {host[0], host[1]}, kParameters);
          ops::elementwise_(ElementwiseOp::Add, device[0], {device[0], device[1]}, kParameters);
          CHECK(differences(host[0], device[0]) == 0);
        }
        host.clear();
        device.clear();
        make_inputs(arrangement, {kBool, a, b}, host, device);
        CHECK(differences(Tensor(run(where, host)), Tensor(run(where, device))) == 0);
      }
    }
  }
}

TEST_CASE("numbers beside tensors, and elements repeated by the device, act as on the CPU",
          "[short]") {
  for (const ScalarType dtype : kAllDtypes) {
    for (const int64_t n : {1, 5, 16, 1031}) {
      INFO(n << " elements of " << dtype);
      const Tensor host = numbers({n}, dtype, 1);
      const Tensor device = host.to(kCUDA);
      const Tensor one = numbers({}, dtype, 9);
      CHECK(differences(host * 3, device * 3) == 0);
      if (dtype != kBool) CHECK(differences(rsub(host, 2.5, 2), rsub(device, 2.5, 2)) == 0);
      CHECK(differences(host < 1, device < 1) == 0);
      CHECK(differences(host * one, device * one.to(kCUDA)) == 0);
      CHECK(differences(host * one, device * one) == 0);
      const Tensor mask = numbers({n}, kBool, 3);
      CHECK(differences(host.masked_fill(mask, 7), device.masked_fill(mask.to(kCUDA), 7)) == 0);
    }
  }
}
