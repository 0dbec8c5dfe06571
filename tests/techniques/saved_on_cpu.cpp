#include <ebb/core/memory/peak_tracker.h>
#include <ebb/core/memory/pinned.h>
#include <ebb/ebb.h>
#include <ebb/testing/fail_allocation.h>
#include <ebb/testing/measure.h>

#include <vector>

#include "catch.h"

// What backward keeps, in the host's memory. Where there is no device there is nothing to move.

using namespace ebb;
using autograd::PackedTensor;
using autograd::SavedTensorHooks;
using Catch::Matchers::ContainsSubstring;
using testing::measure;

namespace {

constexpr int64_t kRows = 64;
constexpr int64_t kWidth = 96;
constexpr SaveOnCpuOptions kAll{.min_bytes = 0};

int64_t bytes(int64_t numel, int64_t element = 4) {
  return static_cast<int64_t>(memory::rounded(static_cast<size_t>(numel * element)));
}

Tensor numbers(IntArrayRef sizes) {
  const GeneratorGuard guard(Generator(get_default_device(), 5));
  return randn(sizes);
}

/// Whether a test must be left out because tensors are made on the CPU.
bool no_device() {
  if (!get_default_device().is_cpu()) return false;
  SUCCEED("skipped: on the CPU nothing moves; the same test runs on the CUDA device");
  return true;
}

/// The bytes of pinned memory that `f` leaves taken, and how often it asked for some.
template <typename F>
memory::detail::PeakTracker::Reading pinned(F&& f) {
  memory::detail::PeakTracker tracker(memory::pinned_allocator());
  f();
  return tracker.read();
}

}  // namespace

TEST_CASE("On the CPU the scope changes nothing: no copy, the same bytes, the same gradients") {
  const Tensor x = numbers({kRows, kWidth}).cpu().requires_grad_();
  Tensor out;
  const auto step = [&] { out = x.exp().sin().sum(); };
  const auto plain = measure(step, kCPU);
  const Tensor expected = autograd::grad({out}, {x})[0];
  out.reset();
  const auto scoped = measure(
      [&] {
        const SaveOnCpu offload(kAll);
        step();
      },
      kCPU);
  CHECK(scoped.net_bytes == plain.net_bytes);
  CHECK(scoped.peak_bytes == plain.peak_bytes);
  CHECK(scoped.requests == plain.requests);
  CHECK(equal(autograd::grad({out}, {x})[0], expected));
}

TEST_CASE("What is saved leaves the device, once however many ops save it, and comes back exact") {
  if (no_device()) return;
  const Tensor x = numbers({kRows, kWidth}).requires_grad_();
  const Tensor expected = autograd::grad({x.exp().sin().relu().sum()}, {x})[0];
  const int64_t one = bytes(kRows * kWidth);
  for (const bool pin : {true, false}) {
    Tensor out;
    int64_t on_device = 0;
    const auto moved = pinned([&] {
      const SaveOnCpu offload({.pin_memory = pin, .min_bytes = 0});
      on_device = measure([&] { out = x.exp().sin().relu().sum(); }).net_bytes;
    });
    CHECK(on_device == 512);  // the sum
    // exp and sin share one, relu has the other.
    CHECK(moved.requests == (pin ? 2 : 0));
    CHECK(moved.net_bytes == (pin ? 2 * one : 0));
    Tensor grad;
    const auto after = pinned([&] {
      const auto backward = measure([&] { grad = autograd::grad({out}, {x})[0]; });
      // In the node of sin: its gradient, the saved tensor, the cosine of that and their product.
      // The other saved tensor is not on the device.
      CHECK(backward.peak_bytes == 4 * one);
    });
    CHECK(after.net_bytes == (pin ? -2 * one : 0));
    CHECK(equal(grad, expected));
  }
}

TEST_CASE("Memory that was freed while its copy is under way is not written by others before") {
  if (no_device()) return;
  const Tensor w = ones({kRows, kWidth}).requires_grad_();
  std::vector<Tensor> outs;
  {
    const SaveOnCpu offload(kAll);
    for (int i = 0; i < 8; ++i) outs.push_back((w * full({kRows, kWidth}, 1.0 * i)).sum());
  }
  // The memory of the eight is free for these.
  std::vector<Tensor> others;
  for (int i = 0; i < 8; ++i) others.push_back(full({kRows, kWidth}, -1.0));
  for (int i = 0; i < 8; ++i) {
    CHECK(equal(autograd::grad({outs[static_cast<size_t>(i)]}, {w})[0],
                full({kRows, kWidth}, 1.0 * i)));
  }
}

TEST_CASE("Forward and backward may run on any stream") {
  if (no_device()) return;
  const Tensor x = numbers({kRows, kWidth}).requires_grad_();
  const Tensor expected = autograd::grad({x.exp().sin().sum()}, {x})[0];
  cuda::synchronize();
  for (const bool high : {false, true}) {
    const cuda::StreamGuard guard(cuda::getStreamFromPool(high));
    Tensor out;
    {
      const SaveOnCpu offload(kAll);
      out = x.exp().sin().sum();
    }
    const Tensor grad = autograd::grad({out}, {x})[0];
    CHECK(equal(grad, expected));
  }
}

TEST_CASE("Parameters, small tensors and expanded views stay on the device") {
  if (no_device()) return;
  nn::Linear layer(kWidth, kWidth);
  const Tensor x = numbers({kRows, kWidth}).requires_grad_();
  const Tensor small = numbers({kWidth}).requires_grad_();
  const Tensor row = numbers({1, kWidth});
  const auto moves = [&](int64_t min_bytes, auto&& f) {
    return pinned([&] {
             const SaveOnCpu offload({.min_bytes = min_bytes});
             (void)f();
           })
        .requests;
  };
  CHECK(moves(0, [&] { return layer->forward(x); }) == 1);  // the input, not the weight
  CHECK(moves(0, [&] { return small.exp(); }) == 1);
  CHECK(moves(kWidth * 4 + 1, [&] { return small.exp(); }) == 0);
  CHECK(moves(kRows * kWidth * 4, [&] { return x.exp(); }) == 1);
  CHECK(moves(0, [&] { return x * row.expand({kRows, kWidth}); }) == 0);
  CHECK(pinned([&] {
          const SaveOnCpu offload;  // 24 KiB are below the default
          (void)x.exp();
        }).requests == 0);
}

TEST_CASE("Views, other dtypes and empty tensors come back as they were") {
  if (no_device()) return;
  const SaveOnCpu offload(kAll);
  const Tensor base = numbers({3, 4, 5, 6});
  for (const Tensor& saved : {base.permute({2, 0, 3, 1}), base.narrow(3, 1, 4), base.slice(0, 1),
                              base.permute({3, 1, 2, 0}).slice(1, 0, 4, 2)}) {
    const Tensor w = ones(saved.sizes()).requires_grad_();
    CHECK(equal(autograd::grad({(w * saved).sum()}, {w})[0], saved));
  }
  for (const ScalarType dtype : {kDouble, kHalf, kBFloat16}) {
    const Tensor w = numbers({7, 5}).to(dtype).requires_grad_();
    CHECK(equal(autograd::grad({(w * w).sum()}, {w})[0], 2 * w.detach()));
  }
  const Tensor classes = randint(0, 7, {6}, kLong);
  const Tensor table = numbers({7, 5}).requires_grad_();
  CHECK(autograd::grad({embedding(table, classes).sum()}, {table})[0].sum().item<float>() ==
        Approx(30));
  const Tensor none = zeros({0, 7}).requires_grad_();
  CHECK(autograd::grad({(none * none).sum()}, {none})[0].sizes() == IntArrayRef{0, 7});
}

TEST_CASE(
    "A tensor that is written in place after it was saved is an error, and two versions are "
    "two copies") {
  if (no_device()) return;
  const Tensor w = ones({kRows, kWidth}).requires_grad_();
  const Tensor x = full({kRows, kWidth}, 2.0);
  const SaveOnCpu offload(kAll);
  const Tensor first = (w * x).sum();
  x.add_(1);
  const Tensor second = (w * x).sum();
  CHECK_THROWS_WITH(first.backward(), ContainsSubstring("modified by an inplace operation") &&
                                          ContainsSubstring("version 1; expected version 0"));
  CHECK(equal(autograd::grad({second}, {w})[0], full({kRows, kWidth}, 3.0)));
}

TEST_CASE("Inside SaveOnCpu, SaveAs sends half the bytes; gradients of gradients work") {
  if (no_device()) return;
  const Tensor x = numbers({kRows, kWidth}).requires_grad_();
  const Tensor cube = [&] {
    const SaveAs halves(kHalf);
    return autograd::grad({x.exp().sin().sum()}, {x})[0];
  }();
  Tensor out;
  const auto moved = pinned([&] {
    const SaveOnCpu offload(kAll);
    const SaveAs halves(kHalf);
    CHECK(measure([&] { out = x.exp().sin().sum(); }).net_bytes == 512);
  });
  CHECK(moved.requests == 1);
  CHECK(moved.net_bytes == bytes(kRows * kWidth, 2));
  CHECK(equal(autograd::grad({out}, {x})[0], cube));

  const SaveOnCpu offload(kAll);
  const Tensor first = autograd::grad({(x * x * x).sum()}, {x}, {}, true, true)[0];
  CHECK(allclose(autograd::grad({first.sum()}, {x})[0], 6 * x.detach()));
}

TEST_CASE("A user's hooks inside see tensors first; what went to the host is not seen outside") {
  const Tensor x = numbers({kRows, kWidth}).requires_grad_();
  std::vector<std::string> seen;
  const auto hooks = [&](const char* name) {
    return std::make_unique<SavedTensorHooks>(
        [&seen, name](const Tensor& t) {
          seen.emplace_back(name);
          return PackedTensor{{t * 2}, {}};
        },
        [](const PackedTensor& packed) { return packed.tensors[0] / 2; });
  };
  Tensor out;
  {
    const auto outside = hooks("outside");
    const SaveOnCpu offload(kAll);
    const auto inside = hooks("inside");
    out = x.exp().sum();
  }
  CHECK(seen == (get_default_device().is_cpu() ? std::vector<std::string>{"inside", "outside"}
                                               : std::vector<std::string>{"inside"}));
  CHECK(equal(autograd::grad({out}, {x})[0], x.detach().exp()));
}

TEST_CASE(
    "A failed request anywhere leaves nothing on device or host, and the next step is right") {
  const Tensor x = numbers({kRows, kWidth}).requires_grad_();
  const auto step = [&] {
    const SaveOnCpu offload(kAll);
    return autograd::grad({x.exp().sin().relu().sum()}, {x})[0];
  };
  const Tensor expected = step();
  int64_t n = 1;
  for (bool fired = true; fired; ++n) {
    const auto failed = measure([&] {
      testing::FailAllocation fail(n);
      try {
        (void)step();
      } catch (const OutOfMemoryError&) {
      }
      fired = fail.fired();
    });
    CHECK(failed.net_bytes == 0);
    CHECK(equal(step(), expected));
  }
  CHECK(n > 6);
  if (!get_default_device().is_cpu()) CHECK(pinned([&] { (void)step(); }).net_bytes == 0);
}
