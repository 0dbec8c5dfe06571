#include <ebb/ebb.h>
#include <ebb/testing/fail_allocation.h>
#include <ebb/testing/gradcheck.h>
#include <ebb/testing/measure.h>

#include <thread>
#include <vector>

#include "catch.h"

// What backward keeps, in fewer bits.

using namespace ebb;
using autograd::PackedTensor;
using autograd::SavedTensorHooks;
using Catch::Matchers::ContainsSubstring;
using testing::measure;

namespace {

constexpr int64_t kRows = 64;
constexpr int64_t kWidth = 96;

int64_t bytes(int64_t numel, int64_t element = 4) {
  return static_cast<int64_t>(memory::rounded(static_cast<size_t>(numel * element)));
}

/// The bytes that so many elements take in one of SaveAs's dtypes.
int64_t narrow_bytes(int64_t numel, ScalarType dtype) {
  return dtype == kByte ? bytes(numel, 1) + bytes((numel + 255) / 256) : bytes(numel, 2);
}

/// The most that an element may be off, given the largest magnitude of all elements.
Tensor bound(const Tensor& x, ScalarType dtype) {
  if (dtype == kHalf) return x.abs() * 0x1p-11 + 0x1p-25;
  if (dtype == kBFloat16) return x.abs() * 0x1p-8;
  Tensor result = empty_like(x);
  for (int64_t start = 0; start < x.numel(); start += 256) {
    const int64_t count = std::min<int64_t>(256, x.numel() - start);
    const Tensor largest = x.flatten().narrow(0, start, count).abs().max();
    result.view({-1}).narrow(0, start, count).copy_(largest / 142);
  }
  return result;
}

const std::vector<ScalarType> kDtypes = {kHalf, kBFloat16, kByte};

Tensor numbers(IntArrayRef sizes) {
  const GeneratorGuard guard(Generator(get_default_device(), 5));
  return randn(sizes);
}

bool within(const Tensor& got, const Tensor& exact, const Tensor& bound) {
  return ((got - exact).abs() <= bound).all().item<bool>();
}

}  // namespace

TEST_CASE("Saved tensors take half the bytes, or a quarter and four for each block of 256") {
  const Tensor a = numbers({kRows, kWidth}).requires_grad_();
  const int64_t numel = kRows * kWidth;
  Tensor out;
  const auto plain = measure([&] { out = a.exp().sin().cos(); });
  CHECK(plain.net_bytes == 3 * bytes(numel));  // results of exp and sin, kept, and of cos
  for (const ScalarType dtype : kDtypes) {
    out.reset();
    const auto narrow = measure([&] {
      const SaveAs save(dtype);
      out = a.exp().sin().cos();
    });
    // exp saves its result and sin the same tensor: rounded once.
    CHECK(narrow.net_bytes == bytes(numel) + 2 * narrow_bytes(numel, dtype));
    const auto backward = measure([&] { static_cast<void>(autograd::grad({out.sum()}, {a})); });
    CHECK(backward.net_bytes == -2 * narrow_bytes(numel, dtype));
  }
}

TEST_CASE("Forward is exact, and each gradient is off by no more than what was saved for it") {
  const Tensor x = numbers({kRows, kWidth}).requires_grad_();
  const Tensor w = numbers({kWidth, kRows}).requires_grad_();
  const Tensor y = x.detach() * w.t();
  for (const ScalarType dtype : kDtypes) {
    Tensor product;
    Tensor elements;
    {
      const SaveAs save(dtype);
      product = mm(x, w);
      elements = x * w.t().contiguous();
    }
    CHECK(equal(product, mm(x, w)));
    CHECK(equal(elements, y));

    const Tensor grad = numbers({kRows, kWidth}).t().contiguous().t() + 1;
    const auto of_elements = autograd::grad({elements}, {x}, {grad})[0];
    const Tensor saved = w.t().contiguous().detach();
    // A rounding of the product beside that of the saved element.
    CHECK(within(of_elements, grad * saved,
                 grad.abs() * bound(saved, dtype) + (grad * saved).abs() * 0x1p-23));
    CHECK_FALSE(equal(of_elements, grad * saved));

    const Tensor g = numbers({kRows, kRows});
    const auto of_product = autograd::grad({product}, {w}, {g})[0];
    const Tensor slack = mm(x.detach().abs().t(), g.abs()) * (kRows * 0x1p-24);  // of float sums
    CHECK(within(of_product, mm(x.detach().t(), g),
                 mm(bound(x.detach(), dtype).t(), g.abs()) + 2 * slack));
  }
}

TEST_CASE("relu keeps its mask, down to small elements, in every dtype") {
  const Tensor x = numbers({kRows, kWidth}).requires_grad_();
  const auto slope = [&] { return autograd::grad({x.relu().sum()}, {x})[0]; };
  const Tensor exact = slope();
  for (const ScalarType dtype : kDtypes) {
    const SaveAs save(dtype);
    CHECK(equal(slope(), exact));
  }
}

TEST_CASE("Parameters, whole numbers, narrow and small tensors are saved as they are") {
  nn::Linear layer(kWidth, kWidth);
  const Tensor classes = randint(0, kRows, {kRows}, kLong);
  const Tensor mask = numbers({kRows, kWidth}) > 0;
  const Tensor x = numbers({kRows, kWidth});
  const Tensor half = x.to(kHalf).requires_grad_();
  const Tensor small = numbers({kWidth}).requires_grad_();
  const Tensor leaf = numbers({kRows, kWidth}).requires_grad_();
  const Tensor row = numbers({1, kWidth});

  std::vector<std::pair<ScalarType, int64_t>> seen;
  const auto outer = std::make_unique<SavedTensorHooks>(
      [&](const Tensor& t) {
        seen.emplace_back(t.scalar_type(), t.numel());
        return PackedTensor{{t}, {}};
      },
      [](const PackedTensor& packed) { return packed.tensors[0]; });
  const auto saved = [&](auto&& f) {
    seen.clear();
    const SaveAs save(kHalf);
    (void)f();
    return seen;
  };
  using Seen = std::vector<std::pair<ScalarType, int64_t>>;
  // The weight, for the gradient of an input that wants one.
  CHECK(saved([&] { return layer->forward(leaf); }) ==
        Seen{{kHalf, kRows * kWidth}, {kFloat, kWidth * kWidth}});
  CHECK(saved([&] { return leaf.masked_fill(mask, 0); }) == Seen{{kBool, kRows * kWidth}});
  CHECK(saved([&] { return embedding(leaf, classes); }) == Seen{{kLong, kRows}});
  CHECK(saved([&] { return half.exp(); }) == Seen{{kHalf, kRows * kWidth}});
  CHECK(saved([&] { return small.exp(); }) == Seen{{kFloat, kWidth}});  // 384 bytes
  CHECK(saved([&] {
          return leaf * row.expand({kRows, kWidth});
        }) == Seen{{kFloat, kRows * kWidth}});
}

TEST_CASE("Other shapes and dtypes come back as they were") {
  for (const ScalarType dtype : kDtypes) {
    const SaveAs save(dtype, {.min_bytes = 0});
    const Tensor permuted = numbers({3, 4, 5, 6}).permute({2, 0, 3, 1});
    const Tensor w = ones({5, 3, 6, 4}).requires_grad_();
    const Tensor back = autograd::grad({(w * permuted).sum()}, {w})[0];
    CHECK(back.sizes() == permuted.sizes());
    CHECK(allclose(back, permuted, 0.01, 0.05));
    const Tensor scalar = full({}, 3.0, kDouble).requires_grad_();
    CHECK((scalar * scalar).scalar_type() == kDouble);
    CHECK(autograd::grad({scalar * scalar}, {scalar})[0].item<double>() == 6);
    const Tensor none = zeros({0, 7}).requires_grad_();
    CHECK(autograd::grad({(none * none).sum()}, {none})[0].sizes() == IntArrayRef{0, 7});
  }
}

TEST_CASE(
    "A write in place after the save changes nothing for backward, and one between two saves "
    "makes two copies") {
  const Tensor w = ones({kRows, kWidth}).requires_grad_();
  const Tensor x = full({kRows, kWidth}, 2.0);
  const SaveAs save(kHalf);
  const Tensor first = w * x;
  x.add_(1);
  const Tensor second = w * x;
  x.fill_(100);
  CHECK(equal(autograd::grad({first.sum()}, {w})[0], full({kRows, kWidth}, 2.0)));
  CHECK(equal(autograd::grad({second.sum()}, {w})[0], full({kRows, kWidth}, 3.0)));
}

TEST_CASE("Gradients of gradients go through rounded tensors too") {
  const Tensor x = numbers({kRows, kWidth}).requires_grad_();
  const auto second = [&] {
    const Tensor first = autograd::grad({(x * x * x).sum()}, {x}, {}, true, true)[0];
    return autograd::grad({first.sum()}, {x})[0];
  };
  const Tensor exact = 6 * x.detach();
  const SaveAs save(kBFloat16);
  CHECK(within(second(), exact, exact.abs() * 0x1p-7));  // two roundings of 2^-8
}

TEST_CASE("Scopes and a user's hooks nest: the inner rounds first, the outer sees what it made") {
  const Tensor x = numbers({kRows, kWidth}).requires_grad_();
  std::vector<ScalarType> seen;
  Tensor out;
  {
    const SavedTensorHooks outer(
        [&](const Tensor& t) {
          seen.push_back(t.scalar_type());
          return PackedTensor{{t}, {}};
        },
        [](const PackedTensor& packed) { return packed.tensors[0]; });
    const SaveAs bytes_outside(kByte);
    const SaveAs halves(kHalf);
    out = x.exp();
  }
  // Halves are wider than bytes, so what is kept was rounded twice: codes, and what scales them.
  CHECK(seen == std::vector<ScalarType>{kByte, kFloat});
  const Tensor exact = x.detach().exp();
  CHECK(within(autograd::grad({out.sum()}, {x})[0], exact,
               bound(exact, kHalf) + 1.001 * bound(exact, kByte)));
}

TEST_CASE("A failed request anywhere leaves nothing behind, and the next step is right") {
  const Tensor x = numbers({kRows, kWidth}).requires_grad_();
  const auto step = [&](ScalarType dtype) {
    const SaveAs save(dtype);
    return autograd::grad({x.exp().sin().relu().sum()}, {x})[0];
  };
  for (const ScalarType dtype : kDtypes) {
    const Tensor expected = step(dtype);
    int64_t n = 1;
    for (bool fired = true; fired; ++n) {
      const auto failed = measure([&] {
        testing::FailAllocation fail(n);
        try {
          (void)step(dtype);
        } catch (const OutOfMemoryError&) {
        }
        fired = fail.fired();
      });
      CHECK(failed.net_bytes == 0);
      CHECK(equal(step(dtype), expected));
    }
    CHECK(n > 8);  // three results, three copies, sums and gradients
  }
}

TEST_CASE("Each thread has its own scopes, and any thread may run backward", "[threads]") {
  const Tensor x = numbers({kRows, kWidth});
  const Tensor expected = [&] {
    const SaveAs save(kHalf);
    const Tensor leaf = x.clone().requires_grad_();
    return autograd::grad({leaf.exp().sin().sum()}, {leaf})[0];
  }();
  std::vector<Tensor> leaves;
  std::vector<Tensor> losses(2);
  for (size_t i = 0; i < 2; ++i) leaves.push_back(x.clone().requires_grad_());
  const auto both = [](auto&& f) {
    std::thread first([&] { f(0); });
    std::thread second([&] { f(1); });
    first.join();
    second.join();
  };
  both([&](size_t i) {
    const SaveAs save(kHalf);
    losses[i] = leaves[i].exp().sin().sum();
  });
  both([&](size_t i) { losses[1 - i].backward(); });
  for (const Tensor& leaf : leaves) CHECK(equal(leaf.grad(), expected));
}

TEST_CASE("SaveAs says which dtypes there are") {
  CHECK_THROWS_WITH(SaveAs(kFloat),
                    ContainsSubstring("Half, BFloat16") && ContainsSubstring("not as Float"));
  CHECK_THROWS_WITH(SaveAs(kChar), ContainsSubstring("Char"));
  // The scope that was not opened is not in force.
  const Tensor x = numbers({kRows, kWidth}).requires_grad_();
  CHECK(equal(autograd::grad({(x * x).sum()}, {x})[0], 2 * x.detach()));
}
