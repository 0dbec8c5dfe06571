#include <ebb/core/ops/optimizer.h>

#ifdef EBB_CUDA_EMULATED
#include <ebb/cuda/emulator.h>
#endif

#include "cuda_kernels/support.h"

using namespace kernel_tests;

namespace {

/// The tensors of an optimizer: parameter, gradient and state of some parameters.
using Operands = std::vector<Tensor>;

/// Sizes of parameters: more than a block's share, less than a pack, none.
const std::vector<std::vector<int64_t>> kShapes = {{70, 33}, {33}, {5, 1, 3}, {}, {0}, {2048}};

/// `count` tensors of numbers without infinities and NaN, the states not negative.
Operands make(const std::vector<int64_t>& sizes, ScalarType dtype, int count, Device device) {
  Operands all;
  for (int i = 0; i < count; ++i) {
    const Tensor x = numbers(sizes, dtype, static_cast<unsigned>(i));
    const Tensor finite = where(x.isfinite(), x, zeros_like(x));
    all.push_back((i < 2 ? finite : finite.abs()).to(device));
  }
  return all;
}

std::vector<Operands> make_all(ScalarType dtype, int count, Device device) {
  std::vector<Operands> all;
  for (const auto& sizes : kShapes) all.push_back(make(sizes, dtype, count, device));
  return all;
}

ops::SgdOperands sgd_operands(const Operands& x, const ops::SgdStep& step) {
  return {x[0], x[1], x.size() > 2 ? x[2] : Tensor(), step};
}
ops::AdamOperands adam_operands(const Operands& x, const ops::AdamStep& step) {
  return {x[0], x[1], x[2], x[3], x.size() > 4 ? x[4] : Tensor(), step};
}

int64_t differences(const std::vector<Operands>& a, const std::vector<Operands>& b) {
  int64_t count = 0;
  for (size_t k = 0; k < a.size(); ++k) {
    for (size_t i = 0; i < a[k].size(); ++i) count += kernel_tests::differences(a[k][i], b[k][i]);
  }
  return count;
}

const ops::SgdStep kSgd = {0.1, 0.9, 0.2, 0.01, false, false};
const ops::AdamStep kAdam = {0.01, 0.9, 0.9, 0.99, 1e-8, 0.01, 0.999};

}  // namespace

TEST_CASE("steps of many parameters at once are those of the CPU, parameter by parameter") {
  for (const ScalarType dtype : kFloatDtypes) {
    for (int count = 2; count <= 5; ++count) {
      INFO(count << " operands of " << dtype);
      const auto host = make_all(dtype, count, kCPU);
      const auto device = make_all(dtype, count, kCUDA);
      std::vector<ops::SgdOperands> sgd;
      std::vector<ops::AdamOperands> adam;
      for (size_t k = 0; k < host.size(); ++k) {
        if (count <= 3) {
          const auto one = sgd_operands(host[k], kSgd);
          ops::sgd_step_(one.parameter, one.grad, one.momentum_buffer, one.step);
          sgd.push_back(sgd_operands(device[k], kSgd));
        } else {
          const auto one = adam_operands(host[k], kAdam);
          ops::adam_step_(one.parameter, one.grad, one.exp_avg, one.exp_avg_sq, one.max_exp_avg_sq,
                          one.step);
          adam.push_back(adam_operands(device[k], kAdam));
        }
      }
      ops::sgd_steps_(sgd);
      ops::adam_steps_(adam);
      CHECK(differences(host, device) == 0);
    }
  }
}

TEST_CASE("parameters with other layouts, dtypes and numbers among them are stepped alike") {
  const auto make_mixed = [](Device device) {
    std::vector<Operands> all;
    for (int i = 0; i < 12; ++i) {
      Operands x = make({16, 18}, i % 5 == 3 ? kHalf : kFloat, 3, device);
      if (i % 4 == 1) x[0] = x[0].t().contiguous().t();  // not contiguous
      if (i % 4 == 2) x[1] = x[1].to(kDouble);           // another dtype
      if (i % 3 == 0) x[2] = x[2].flatten().narrow(0, 0, 288).view({16, 18});
      all.push_back(x);
    }
    return all;
  };
  const auto host = make_mixed(kCPU);
  const auto device = make_mixed(kCUDA);
  std::vector<ops::SgdOperands> on_host, on_device;
  for (size_t k = 0; k < host.size(); ++k) {
    ops::SgdStep step = kSgd;
    step.nesterov = k % 6 == 5;
    step.first = k > 8;
    on_host.push_back(sgd_operands(host[k], step));
    on_device.push_back(sgd_operands(device[k], step));
  }
  ops::sgd_steps_(on_host);
  ops::sgd_steps_(on_device);
  CHECK(differences(host, device) == 0);
}

#ifdef EBB_CUDA_EMULATED  // which counts the calls of the runtime
TEST_CASE("a hundred contiguous parameters take three launches") {
  std::vector<Operands> all;
  std::vector<ops::SgdOperands> operands;
  for (int i = 0; i < 100; ++i) {
    all.push_back(make({3, 5}, kFloat, 2, kCUDA));
    operands.push_back(sgd_operands(all.back(), kSgd));
  }
  const cuda::emulator::CallTrace trace;
  ops::sgd_steps_(operands);
  CHECK(trace.count("launch") == 3);
}
#endif

TEST_CASE("unscaling multiplies gradients and notes one that is not finite", "[short]") {
  for (const ScalarType dtype : kFloatDtypes) {
    for (const int bad : {-1, 0, 4}) {
      INFO("gradients of " << dtype << ", number " << bad << " is not finite");
      std::vector<Operands> host, device;
      std::vector<TensorBase> on_host, on_device;
      for (int i = 0; i < 5; ++i) {
        Operands x = make({9, 14}, dtype, 1, kCPU);
        if (i == bad) x[0].select(0, 8).select(0, 13).fill_(i == 0 ? NAN : INFINITY);
        host.push_back(x);
        device.push_back({x[0].to(kCUDA)});
        if (i == 2) host[2][0] = host[2][0].t(), device[2][0] = device[2][0].t();
        on_host.push_back(host.back()[0]);
        on_device.push_back(device.back()[0]);
      }
      const Tensor scale = full({}, 0.25, TensorOptions(kFloat).device(kCPU));
      const Tensor found = zeros({}, TensorOptions(kFloat).device(kCPU));
      const Tensor found_there = found.to(kCUDA);
      ops::unscale_(on_host, scale, found);
      ops::unscale_(on_device, scale.to(kCUDA), found_there);
      CHECK(differences(host, device) == 0);
      CHECK(found.item<float>() == (bad < 0 ? 0.0f : 1.0f));
      CHECK(found_there.item<float>() == found.item<float>());
    }
  }
}

TEST_CASE("norms of many tensors are those that each has alone") {
  for (const ScalarType dtype : kFloatDtypes) {
    for (const double p : {1.0, 2.0, static_cast<double>(INFINITY)}) {
      INFO("order " << p << " of " << dtype);
      std::vector<TensorBase> tensors;
      for (const auto& sizes : kShapes) tensors.push_back(make(sizes, dtype, 1, kCUDA)[0]);
      tensors.push_back(make({9000}, dtype, 1, kCUDA)[0].narrow(0, 1, 8999));
      tensors.push_back(make({40, 50}, dtype, 1, kCUDA)[0].t());
      const Tensor all(ops::norms(tensors, p));
      const Tensor host = all.cpu();
      REQUIRE(host.numel() == static_cast<int64_t>(tensors.size()));
      for (size_t k = 0; k < tensors.size(); ++k) {
        const Tensor exact = Tensor(tensors[k]).cpu().to(kDouble);
        const double alone = exact.numel() == 0 ? 0 : exact.norm(p).item<double>();
        // The one that is not contiguous goes alone, and rounds its norm to its dtype.
        const double tolerance = tensors[k].is_contiguous() ? 1e-14 : 8e-3;
        CHECK(host.data_ptr<double>()[k] == Approx(alone).epsilon(tolerance));
      }
    }
  }
}

#ifdef EBB_CUDA_EMULATED
TEST_CASE("norms of many tensors take two launches") {
  std::vector<TensorBase> few = {make({5000}, kFloat, 1, kCUDA)[0], make({3}, kFloat, 1, kCUDA)[0]};
  Tensor(few[1]).fill_(NAN);
  const cuda::emulator::CallTrace trace;
  const Tensor norms(ops::norms(few, INFINITY));
  CHECK(trace.count("launch") == 3);  // and one to fill the result
  CHECK(trace.synchronizations() == 0);
  CHECK(std::isnan(norms.select(0, 1).item<double>()));
  CHECK(norms.select(0, 0).item<double>() == 5.0);
}
#endif
