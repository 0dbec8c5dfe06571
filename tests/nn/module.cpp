#include "networks.h"

#include <algorithm>

#include <ebb/testing/fail_allocation.h>
#include <ebb/testing/measure.h>

using namespace networks;
using Catch::Matchers::ContainsSubstring;
using ebb::memory::Category;
using ebb::memory::category;
using ebb::memory::category_bytes;
using ebb::memory::rounded;

namespace {

/// A module without anything.
struct Empty : nn::Module {};
struct Named : nn::Module {
  Named() : Module("encoder") {}
};
/// Registers a submodule in its constructor, where clone() cannot see it.
struct ForgetfulImpl : nn::Cloneable<ForgetfulImpl> {
  ForgetfulImpl() { register_module("late", nn::ReLU()); }
  void reset() override {}
};
/// Registers the same tensor in every reset().
struct SharingImpl : nn::Cloneable<SharingImpl> {
  SharingImpl() { reset(); }
  void reset() override { register_parameter("shared", tensor); }
  Tensor tensor = ebb::ones({2});
};

Category category_of(const Tensor& tensor) { return category(tensor.storage().block()); }

int64_t bytes(const std::vector<Tensor>& tensors) {
  int64_t sum = 0;
  for (const Tensor& tensor : tensors) sum += static_cast<int64_t>(rounded(tensor.nbytes()));
  return sum;
}

}  // namespace

TEST_CASE("parameters and buffers have the names of the path to them, in order of registration") {
  Net net;
  CHECK(net->named_parameters().keys() ==
        std::vector<std::string>{"scale", "stem.0.weight", "stem.0.bias", "stem.2.weight",
                                 "stem.2.bias", "blocks.0.gain", "blocks.0.first.weight",
                                 "blocks.0.first.bias", "blocks.0.second.weight", "blocks.1.gain",
                                 "blocks.1.first.weight", "blocks.1.first.bias",
                                 "blocks.1.second.weight", "head.weight", "head.bias"});
  CHECK(net->named_buffers().keys() ==
        std::vector<std::string>{"blocks.0.offset", "blocks.1.offset"});
  CHECK(net->named_parameters(/*recurse=*/false).keys() == std::vector<std::string>{"scale"});
  CHECK(net->parameters().size() == 15);
  CHECK(net->parameters(/*recurse=*/false).size() == 1);
  CHECK(net->buffers().size() == 2);
  CHECK(net->named_children().keys() == std::vector<std::string>{"stem", "blocks", "head"});
  CHECK(net->children().size() == 3);
  CHECK(net->named_parameters()["head.weight"].is_same(net->head->weight));
  CHECK_THROWS_WITH(net->named_parameters()["tail"], ContainsSubstring("'tail' is not defined"));
}

TEST_CASE("modules are listed with their paths, parents first") {
  Net net;
  const auto modules = net->named_modules();
  CHECK(modules.keys() == std::vector<std::string>{"", "stem", "stem.0", "stem.1", "stem.2",
                                                   "stem.3", "blocks", "blocks.0", "blocks.0.first",
                                                   "blocks.0.second", "blocks.1", "blocks.1.first",
                                                   "blocks.1.second", "head"});
  CHECK(modules["head"] == net->head.ptr());
  CHECK(net->modules(/*include_self=*/false).size() == 13);
  CHECK(net->named_modules("net").keys()[1] == "net.stem");
}

TEST_CASE("a module on the stack has no list that includes itself") {
  BlockImpl block(2);
  CHECK_THROWS_WITH(block.modules(), ContainsSubstring("shared_ptr"));
  CHECK(block.modules(/*include_self=*/false).size() == 2);
}

TEST_CASE("a parameter or module that is registered twice is listed once") {
  Empty module;
  const Tensor tied = ebb::ones({3});
  module.register_parameter("a", tied);
  module.register_parameter("b", tied);
  CHECK(module.named_parameters().keys() == std::vector<std::string>{"a"});

  auto parent = std::make_shared<Empty>();
  nn::Linear layer(2, 2);
  parent->register_module("x", layer);
  parent->register_module("y", layer);
  CHECK(parent->parameters().size() == 2);
  CHECK(parent->named_modules().keys() == std::vector<std::string>{"", "x"});
}

TEST_CASE("registration refuses bad names, duplicates and what cannot be trained") {
  Empty module;
  const Tensor tensor = ebb::ones({2});
  CHECK_THROWS_WITH(module.register_parameter("", tensor), ContainsSubstring("must not be empty"));
  CHECK_THROWS_WITH(module.register_parameter("a.b", tensor),
                    ContainsSubstring("must not contain a dot (got 'a.b')"));
  module.register_parameter("w", tensor);
  CHECK_THROWS_WITH(module.register_parameter("w", tensor),
                    ContainsSubstring("Parameter 'w' already defined"));
  CHECK_THROWS_WITH(module.register_buffer("", tensor), ContainsSubstring("must not be empty"));
  CHECK_THROWS_WITH(module.register_buffer("x.y", tensor), ContainsSubstring("dot"));
  module.register_buffer("b", Tensor());
  CHECK_THROWS_WITH(module.register_buffer("b", tensor), ContainsSubstring("already defined"));
  CHECK_THROWS_WITH(module.register_module("", nn::ReLU()), ContainsSubstring("must not be empty"));
  CHECK_THROWS_WITH(module.register_module("m.n", nn::ReLU()), ContainsSubstring("dot"));
  module.register_module("m", nn::ReLU());
  CHECK_THROWS_WITH(module.register_module("m", nn::ReLU()),
                    ContainsSubstring("Submodule 'm' already defined"));
  CHECK_THROWS_WITH(module.register_module("n", nn::Linear(nullptr)), ContainsSubstring("empty"));
  CHECK_THROWS_WITH(module.register_parameter("i", ebb::ones({2}, ebb::kLong)),
                    ContainsSubstring("dtype Long cannot require grad"));
  CHECK_THROWS_WITH(module.register_parameter("r", ebb::ones({2}).requires_grad_() * 2),
                    ContainsSubstring("detach() it first"));
  CHECK(module.named_parameters().keys() == std::vector<std::string>{"w"});
}

TEST_CASE("a registered parameter requires grad, unless told otherwise") {
  Empty module;
  CHECK(module.register_parameter("a", ebb::ones({2})).requires_grad());
  CHECK_FALSE(module.register_parameter("b", ebb::ones({2}), false).requires_grad());
  CHECK_FALSE(module.register_parameter("c", ebb::ones({2}, ebb::kLong), false).requires_grad());
  CHECK_FALSE(module.register_buffer("d", ebb::ones({2})).requires_grad());
  CHECK_FALSE(module.register_parameter("e", Tensor()).defined());
  CHECK(module.parameters().size() == 3);
}

TEST_CASE("a submodule can be replaced or taken away") {
  auto module = std::make_shared<Empty>();
  module->register_module("layer", nn::Linear(2, 3));
  module->replace_module("layer", nn::Linear(2, 5));
  CHECK(module->named_parameters()["layer.bias"].size(0) == 5);
  CHECK_THROWS_WITH(module->replace_module("other", nn::ReLU()), ContainsSubstring("'other'"));
  module->unregister_module("layer");
  CHECK(module->children().empty());
  CHECK_THROWS_WITH(module->unregister_module("layer"),
                    ContainsSubstring("No Module with name `layer` is registered"));
}

TEST_CASE("a holder shares its module, and an empty one says so") {
  nn::Linear layer(2, 3);
  nn::Linear same = layer;
  CHECK(same.ptr() == layer.ptr());
  nn::Linear empty = nullptr;
  CHECK(empty.is_empty());
  CHECK_FALSE(empty);
  CHECK_THROWS_WITH(empty->weight, ContainsSubstring("Accessing empty ModuleHolder"));
  CHECK_THROWS_WITH(empty(ebb::ones({1, 2})), ContainsSubstring("Accessing empty ModuleHolder"));
  empty = layer;
  CHECK(empty.get() == layer.get());
  CHECK(nn::Linear(std::make_shared<nn::LinearImpl>(2, 3))->options.out_features() == 3);
}

TEST_CASE("as() casts to modules and holders") {
  Block block(2);
  std::shared_ptr<nn::Module> module = block.ptr();
  CHECK(module->as<Block>() == block.get());
  CHECK(module->as<BlockImpl>() == block.get());
  CHECK(module->as<nn::Module>() == module.get());
  CHECK(module->as<nn::Linear>() == nullptr);
  CHECK(std::as_const(*module).as<nn::LinearImpl>() == nullptr);
}

TEST_CASE("apply visits all modules, with and without names and pointers") {
  Net net;
  int linear_layers = 0;
  net->apply([&](nn::Module& m) { linear_layers += m.as<nn::Linear>() != nullptr; });
  CHECK(linear_layers == 7);
  std::vector<std::string> names;
  net->apply([&](const std::string& name, nn::Module&) { names.push_back(name); });
  CHECK(names == net->named_modules().keys());
  names.clear();
  net->apply(
      [&](const std::string& name, const std::shared_ptr<nn::Module>& m) {
        names.push_back(name + ":" + std::to_string(m->children().size()));
      },
      "net");
  CHECK(names.front() == "net:3");
  int count = 0;
  net->apply([&](const std::shared_ptr<nn::Module>&) { ++count; });
  std::as_const(*net).apply([&](const nn::Module&) { ++count; });
  std::as_const(*net).apply([&](const std::string&, const nn::Module&) { ++count; });
  CHECK(count == 3 * 14);
}

TEST_CASE("train and eval reach all modules") {
  Net net;
  const auto all = [&](bool training) {
    const auto modules = net->modules();
    return std::all_of(modules.begin(), modules.end(),
                       [&](const auto& m) { return m->is_training() == training; });
  };
  CHECK(all(true));
  net->eval();
  CHECK(all(false));
  net->train();
  CHECK(all(true));
  net->stem->eval();
  CHECK_FALSE(all(true));
  CHECK(net->is_training());
}

TEST_CASE("a module is called as its class or as it was named") {
  CHECK(Empty().name().find("Empty") != std::string::npos);
  CHECK(nn::Linear(1, 1)->name() == "ebb::nn::LinearImpl");
  CHECK(Named().name() == "encoder");
}

TEST_CASE("a model is printed as a tree") {
  auto model = std::make_shared<Named>();
  CHECK(printed(*model) == "encoder");
  model->register_module("layers", nn::Sequential(nn::Linear(3, 4), nn::ReLU()));
  model->register_module("norm", nn::BatchNorm2d(4));
  CHECK(printed(*model) ==
        "encoder(\n"
        "  (layers): ebb::nn::Sequential(\n"
        "    (0): ebb::nn::Linear(in_features=3, out_features=4, bias=true)\n"
        "    (1): ebb::nn::ReLU()\n"
        "  )\n"
        "  (norm): ebb::nn::BatchNorm2d(4, eps=1e-05, momentum=0.1, affine=true, "
        "track_running_stats=true)\n"
        ")");
}

TEST_CASE("zero_grad drops gradients, or zeroes them in place") {
  nn::Linear layer(2, 3);
  layer(ebb::ones({1, 2})).sum().backward();
  const Tensor grad = layer->weight.grad();
  layer->zero_grad(/*set_to_none=*/false);
  CHECK(layer->weight.grad().is_same(grad));
  CHECK(grad.abs().sum().item<float>() == 0);
  layer->zero_grad();
  CHECK_FALSE(layer->weight.grad().defined());
  CHECK_FALSE(layer->bias.grad().defined());
}

TEST_CASE("a clone has equal values and memory of its own") {
  Block block(3);
  block->eval();
  block->first->weight.set_requires_grad(false);
  const auto copy = std::dynamic_pointer_cast<BlockImpl>(block->clone());
  REQUIRE(copy != nullptr);
  const Tensor x = ebb::randn({4, 3});
  CHECK(ebb::equal(copy->forward(x), block(x)));
  CHECK_FALSE(copy->is_training());
  CHECK_FALSE(copy->first->is_training());
  CHECK_FALSE(copy->first->weight.requires_grad());
  CHECK(copy->second->weight.requires_grad());
  const auto originals = block->named_parameters();
  for (const auto& parameter : copy->named_parameters()) {
    CHECK_FALSE(parameter.value().is_alias_of(originals[parameter.key()]));
    CHECK(parameter.value().is_leaf());
    CHECK(category_of(parameter.value()) == Category::parameter);
  }
  CHECK(copy->named_parameters()["first.weight"].is_same(copy->first->weight));
  CHECK_FALSE(copy->offset.is_alias_of(block->offset));
  CHECK(category_of(copy->offset) == Category::buffer);
  {
    const ebb::NoGradGuard no_grad;
    copy->second->weight.zero_();
    copy->offset.fill_(0);
  }
  CHECK_FALSE(ebb::equal(copy->forward(x), block(x)));
  CHECK(block->offset[0].item<float>() == 0.5f);
}

TEST_CASE("a module that cannot be cloned says why") {
  CHECK_THROWS_WITH(Net()->clone(), ContainsSubstring("nn::Cloneable"));
  CHECK_THROWS_WITH(ForgetfulImpl().clone(), ContainsSubstring("reset()"));
  CHECK_THROWS_WITH(SharingImpl().clone(), ContainsSubstring("'shared' of the original"));
}

TEST_CASE("to() converts floating-point tensors and keeps integers, identity and gradients") {
  nn::BatchNorm2d norm(3);
  nn::Sequential model(nn::Conv2d(2, 3, 1), norm);
  model->forward(ebb::randn({2, 2, 4, 4})).sum().backward();
  const Tensor weight = norm->weight;
  model->to(ebb::kDouble);
  CHECK(norm->weight.is_same(weight));
  CHECK(weight.scalar_type() == ebb::kDouble);
  CHECK(weight.is_leaf());
  CHECK(weight.requires_grad());
  CHECK(weight.grad().scalar_type() == ebb::kDouble);
  CHECK(norm->running_mean.scalar_type() == ebb::kDouble);
  CHECK(norm->num_batches_tracked.scalar_type() == ebb::kLong);
  CHECK(category_of(weight) == Category::parameter);
  CHECK(category_of(weight.grad()) == Category::gradient);
  CHECK(category_of(norm->running_mean) == Category::buffer);
  model->zero_grad();
  model->forward(ebb::randn({2, 2, 4, 4}, ebb::kDouble)).sum().backward();
  CHECK(weight.grad().scalar_type() == ebb::kDouble);
  CHECK_THROWS_WITH(model->to(ebb::kLong), ContainsSubstring("floating-point"));
}

TEST_CASE("to() a dtype or device that is there already allocates nothing") {
  Block block(4);
  const void* data = block->gain.data_ptr();
  const auto used = ebb::testing::measure([&] {
    block->to(ebb::kFloat);
    block->to(ebb::get_default_device());
    block->to(ebb::get_default_device(), ebb::kFloat);
  });
  CHECK(used.requests == 0);
  CHECK(block->gain.data_ptr() == data);
}

TEST_CASE("to() that runs out of memory changes nothing, whichever allocation fails") {
  Block block(8);
  const auto before = ebb::memory::memory_allocated();
  const Tensor weight = block->first->weight.detach().clone();
  int failures = 0;
  for (int n = 1;; ++n) {
    ebb::testing::FailAllocation failure(n);
    try {
      block->to(ebb::kDouble);
    } catch (const ebb::OutOfMemoryError&) {
      ++failures;
      for (const Tensor& p : block->parameters()) CHECK(p.scalar_type() == ebb::kFloat);
      CHECK(block->offset.scalar_type() == ebb::kFloat);
      CHECK(ebb::memory::memory_allocated() ==
            before + static_cast<int64_t>(rounded(weight.nbytes())));
      continue;
    }
    break;
  }
  CHECK(failures == 5);
  CHECK(block->offset.scalar_type() == ebb::kDouble);
  CHECK(ebb::equal(block->first->weight.detach(), weight.to(ebb::kDouble)));
}

TEST_CASE("registered memory has the category of its role, to the byte") {
  const auto parameters = category_bytes(Category::parameter);
  const auto buffers = category_bytes(Category::buffer);
  {
    nn::Sequential model(nn::Conv2d(3, 20, 5), nn::BatchNorm2d(20), nn::Flatten(),
                         nn::Linear(100, 300), nn::Embedding(7, 9),
                         nn::LayerNorm(nn::LayerNormOptions({300})));
    CHECK(category_bytes(Category::parameter) - parameters == bytes(model->parameters()));
    CHECK(category_bytes(Category::buffer) - buffers == bytes(model->buffers()));
    CHECK(bytes(model->parameters()) ==
          static_cast<int64_t>(rounded(4 * 3 * 20 * 25) + 3 * rounded(4 * 20) +
                               rounded(4 * 100 * 300) + 3 * rounded(4 * 300) + rounded(4 * 63)));
    CHECK(bytes(model->buffers()) == static_cast<int64_t>(2 * rounded(4 * 20) + rounded(8)));
    model->to(ebb::kHalf);
    CHECK(category_bytes(Category::parameter) - parameters == bytes(model->parameters()));
    CHECK(category_bytes(Category::buffer) - buffers == bytes(model->buffers()));
  }
  CHECK(category_bytes(Category::parameter) == parameters);
  CHECK(category_bytes(Category::buffer) == buffers);
}

TEST_CASE("modules that are called open scopes of their name where scopes are on") {
  ebb::memory::reset_scopes();
  nn::Sequential model(nn::Linear(4, 4), nn::ReLU());
  const Tensor x = ebb::randn({2, 4});
  model(x);
  CHECK(ebb::memory::scope_reports().empty());
  ebb::memory::set_scopes_enabled(true);
  model(x);
  ebb::memory::set_scopes_enabled(false);
  const auto reports = ebb::memory::scope_reports();
  ebb::memory::reset_scopes();
  REQUIRE(reports.size() == 1);
  CHECK(reports[0].name == "Sequential");
  REQUIRE(reports[0].children.size() == 2);
  CHECK(reports[0].children[0].name == "Linear");
  CHECK(reports[0].children[0].requests == 1);
  CHECK(reports[0].children[1].name == "ReLU");
}

TEST_CASE("an ordered dict keeps the order, finds keys and refuses duplicates") {
  ebb::OrderedDict<std::string, int> dict("Number");
  dict.insert("one", 1);
  dict.insert("two", 2);
  dict.insert("three", 3);
  CHECK(dict.size() == 3);
  CHECK(dict.values() == std::vector<int>{1, 2, 3});
  CHECK(dict["two"] == 2);
  CHECK(dict[0].key() == "one");
  CHECK(dict.back().value() == 3);
  CHECK(dict.find("four") == nullptr);
  CHECK_THROWS_WITH(dict.insert("one", 5), ContainsSubstring("Number 'one' already defined"));
  CHECK_THROWS_WITH(dict["four"], ContainsSubstring("Number 'four' is not defined"));
  CHECK_THROWS_AS(dict[size_t(3)], ebb::IndexError);
  dict.erase("one");
  CHECK(dict.keys() == std::vector<std::string>{"two", "three"});
  CHECK(*dict.find("three") == 3);
  ebb::OrderedDict<std::string, int> more{{"four", 4}, {"five", 5}};
  dict.update(more);
  CHECK(dict.pairs().back() == std::pair<std::string, int>("five", 5));
  dict.clear();
  CHECK(dict.is_empty());
}
