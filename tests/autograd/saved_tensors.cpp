#include "helpers.h"

#include <ebb/autograd/saved_tensor.h>

using namespace ebb;
using autograd::PackedTensor;
using autograd::SavedTensorHooks;

namespace {

int64_t saved_bytes() { return memory::category_bytes(memory::Category::saved); }

}  // namespace

TEST_CASE("A saved tensor has the memory, the geometry and the place of what was saved",
          "[saved]") {
  Tensor x = leaf({1, 2, 3, 4, 5, 6});
  const Tensor view = (x * 2).view({2, 3}).t();
  const autograd::SavedTensor saved(view);
  const Tensor back = saved.unpack({});
  CHECK_FALSE(back.is_same(view));
  CHECK(back.data_ptr() == view.data_ptr());
  CHECK(back.strides() == view.strides());
  CHECK(back.grad_fn() == view.grad_fn());
  CHECK(back._version() == 0);
  back.detach().add_(1);
  CHECK(view._version() == 1);
  CHECK_THAT(error_of([&] { (void)saved.unpack({}); }), says("modified by an inplace"));

  const autograd::SavedTensor of_leaf(x);
  CHECK(of_leaf.unpack({}).is_same(x));
  CHECK_FALSE(of_leaf.unpack({}, /*with_history=*/false).requires_grad());
  CHECK_FALSE(autograd::SavedTensor().defined());
  CHECK_FALSE(autograd::SavedTensor(Tensor()).unpack({}).defined());
}

TEST_CASE("A leaf that got other data is saved with the data it had", "[saved]") {
  Tensor x = leaf({1, 2});
  const autograd::SavedTensor saved(x);
  x.set_data(constant({5, 6}));
  const Tensor back = saved.unpack({});
  CHECK(values(back) == Values{1, 2});
  CHECK(back.requires_grad());
  CHECK(back.is_leaf());
  (back * back).sum().backward();
  CHECK(values(x.grad()) == Values{2, 4});
}

TEST_CASE("What nodes keep is released when they have run", "[saved]") {
  const auto bytes = memory::memory_allocated();
  Tensor x = leaf({1, 2});
  const auto start = memory::memory_allocated();
  Tensor y = (x * x).exp().sum();
  const auto after_forward = memory::memory_allocated();
  CHECK(after_forward > start);
  y.backward();
  // The result of exp went with its node; y and the gradient are left.
  CHECK(memory::memory_allocated() ==
        start + static_cast<int64_t>(memory::rounded(8) + memory::rounded(16)));
  y = Tensor();
  x = Tensor();
  CHECK(memory::memory_allocated() == bytes);
}

TEST_CASE("Hooks see what is saved, and give back what they like", "[saved]") {
  Tensor x = leaf({1, 2});
  std::vector<Values> packed;
  int unpacked = 0;
  Tensor out;
  {
    const SavedTensorHooks hooks(
        [&](const Tensor& tensor) {
          packed.push_back(values(tensor));
          return PackedTensor{{}, values(tensor)};
        },
        [&](const PackedTensor& state) {
          ++unpacked;
          return constant(std::any_cast<const Values&>(state.state));
        });
    out = (x * x).sum();
  }
  const Tensor unseen = (x * x).sum();
  CHECK(packed == std::vector<Values>{{1, 2}, {1, 2}});
  out.backward();
  CHECK(unpacked == 2);
  CHECK(values(x.grad()) == Values{2, 4});
  unseen.backward();
  CHECK(packed.size() == 2);
}

TEST_CASE("What inner hooks pack to tensors passes to the outer ones", "[saved]") {
  Tensor x = leaf({1, 2});
  std::vector<std::string> calls;
  const auto scale = [&](const std::string& name, double factor) {
    return std::make_unique<SavedTensorHooks>(
        [&calls, name, factor](const Tensor& tensor) {
          calls.push_back("pack " + name);
          return PackedTensor{{tensor * factor}, {}};
        },
        [&calls, name, factor](const PackedTensor& state) {
          calls.push_back("unpack " + name);
          return state.tensors[0] / factor;
        });
  };
  Tensor out;
  {
    const auto outer = scale("outer", 2);
    const auto inner = scale("inner", 8);
    out = x.exp();  // saves its result
    const autograd::NoSavedTensorHooks none;
    out = out * constant({1, 1});
  }
  CHECK(calls == std::vector<std::string>{"pack inner", "pack outer"});
  calls.clear();
  out.sum().backward();
  CHECK(calls == std::vector<std::string>{"unpack outer", "unpack inner"});
  CHECK(x.grad()[1].item<double>() == Approx(std::exp(2.0)));
}

TEST_CASE("Packed tensors keep their place in the graph", "[saved]") {
  Tensor x = leaf({2});
  const SavedTensorHooks hooks(
      [](const Tensor& tensor) {
        return PackedTensor{{tensor.clone()}, {}};
      },
      [](const PackedTensor& packed) { return packed.tensors[0]; });
  const Tensor y = x * 1;
  const auto slope = autograd::grad({(y * y * y).sum()}, {x}, {}, true, true)[0];
  CHECK(values(slope) == Values{12});
  CHECK(values(autograd::grad({slope.sum()}, {x})[0]) == Values{12});
}

TEST_CASE("A pack hook must not write, and an unpack hook must give the same kind", "[saved]") {
  Tensor x = leaf({1, 2});
  {
    const SavedTensorHooks writes(
        [](const Tensor& tensor) {
          tensor.add_(1);
          return PackedTensor{{tensor}, {}};
        },
        [](const PackedTensor& packed) { return packed.tensors[0]; });
    CHECK_THAT(error_of([&] { (void)x.exp(); }), says("in place"));
  }
  Tensor out;
  {
    const SavedTensorHooks other([](const Tensor&) { return PackedTensor{}; },
                                 [](const PackedTensor&) { return ebb::ones({3}, kDouble); });
    out = x.exp().sum();
  }
  CHECK_THAT(error_of([&] { out.backward(); }), says("unpack hook") && says("[3]") && says("[2]"));
  // The hooks are gone after an exception, too.
  CHECK(values(x.exp()).size() == 2);
}

TEST_CASE("Saved memory is counted while nodes hold it", "[saved]") {
  const int64_t before = saved_bytes();
  Tensor x = leaf({1, 2});
  const Tensor y = x * 1;
  Tensor out = y.exp();
  CHECK(saved_bytes() == before + static_cast<int64_t>(memory::rounded(16)));
  Tensor twice = out * out;
  CHECK(saved_bytes() == before + static_cast<int64_t>(memory::rounded(16)));
  twice.sum().backward();
  CHECK(saved_bytes() == before);
}
