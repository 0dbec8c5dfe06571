#include <cmath>
#include <memory>
#include <vector>

#include <ebb/ebb.h>
#include <ebb/testing/fail_allocation.h>
#include <ebb/testing/measure.h>
#include "catch.h"

namespace optim = ebb::optim;
using Catch::Matchers::ContainsSubstring;
using ebb::Tensor;
using ebb::memory::Category;
using ebb::memory::category_bytes;
using ebb::memory::rounded;

namespace {

Tensor parameter(ebb::IntArrayRef sizes, ebb::Dtype dtype = ebb::kFloat) {
  return ebb::randn(sizes).to(dtype).detach().requires_grad_(true);
}

void give_gradient(const Tensor& p) { p.mutable_grad() = ebb::randn_like(p.detach()); }

/// A step of the reference: the formulas in double, element by element, out of place.
Tensor sgd_reference(const Tensor& p, const Tensor& grad, Tensor& buffer, double lr,
                     double momentum, double weight_decay, bool nesterov) {
  const Tensor d = grad + weight_decay * p;
  buffer = buffer.defined() ? momentum * buffer + d : d;
  return p - lr * (nesterov ? d + momentum * buffer : buffer);
}

/// An optimizer of the user's.
struct SignOptions : optim::OptimizerCloneableOptions<SignOptions> {
  explicit SignOptions(double lr) : lr_(lr) {}
  EBB_ARG(double, lr);
};
struct Sign : optim::Optimizer {
  explicit Sign(std::vector<Tensor> params)
      : Optimizer(std::move(params), std::make_unique<SignOptions>(0.5)) {}
  Tensor step(LossClosure = nullptr) override {
    const ebb::NoGradGuard no_grad;
    for (auto& group : param_groups()) {
      const auto& options = static_cast<SignOptions&>(group.options());
      for (auto& p : group.params()) p.sub_(p.grad().sign(), options.lr());
    }
    return {};
  }
};

}  // namespace

TEST_CASE("options out of range are refused, for the defaults and for groups") {
  const auto p = parameter({2});
  using optim::AdamOptions;
  using optim::SGDOptions;
  CHECK_THROWS_WITH(optim::SGD({p}, SGDOptions(-1)),
                    ContainsSubstring("Invalid learning rate: -1"));
  CHECK_THROWS_WITH(optim::SGD({p}, SGDOptions(1).momentum(-0.5)), ContainsSubstring("momentum"));
  CHECK_THROWS_WITH(optim::SGD({p}, SGDOptions(1).weight_decay(-1)),
                    ContainsSubstring("weight_decay"));
  CHECK_THROWS_WITH(optim::SGD({p}, SGDOptions(1).nesterov(true)),
                    ContainsSubstring("Nesterov momentum requires a momentum and zero dampening"));
  CHECK_THROWS_WITH(optim::SGD({p}, SGDOptions(NAN)), ContainsSubstring("learning rate"));
  CHECK_THROWS_WITH(optim::Adam({p}, AdamOptions(-1)), ContainsSubstring("Adam: Invalid learning"));
  CHECK_THROWS_WITH(optim::Adam({p}, AdamOptions().eps(-1)), ContainsSubstring("epsilon"));
  CHECK_THROWS_WITH(optim::Adam({p}, AdamOptions().betas({1.0, 0.9})),
                    ContainsSubstring("beta parameter at index 0: 1"));
  CHECK_THROWS_WITH(optim::AdamW({p}, optim::AdamWOptions().betas({0.9, -0.1})),
                    ContainsSubstring("AdamW: Invalid beta parameter at index 1"));
  optim::SGD optimizer({p}, SGDOptions(1));
  CHECK_THROWS_WITH(optimizer.add_param_group(optim::OptimizerParamGroup(
                        {parameter({1})}, std::make_unique<SGDOptions>(-2))),
                    ContainsSubstring("learning rate: -2"));
  CHECK_THROWS_WITH(optimizer.add_param_group(optim::OptimizerParamGroup(
                        {parameter({1})}, std::make_unique<AdamOptions>(1))),
                    ContainsSubstring("must be SGDOptions"));
  CHECK(optimizer.param_groups().size() == 1);
}

TEST_CASE("only leaves are optimized, and each once") {
  const auto p = parameter({2});
  CHECK_THROWS_WITH(optim::SGD({p * 2}, optim::SGDOptions(1)),
                    ContainsSubstring("can't optimize a non-leaf Tensor"));
  CHECK_THROWS_WITH(optim::SGD({Tensor()}, optim::SGDOptions(1)), ContainsSubstring("undefined"));
  CHECK_THROWS_WITH(optim::SGD({p, p}, optim::SGDOptions(1)), ContainsSubstring("more than once"));
  optim::SGD optimizer({p}, optim::SGDOptions(1));
  CHECK_THROWS_WITH(optimizer.add_param_group(std::vector<Tensor>{p}),
                    ContainsSubstring("more than once"));
  const auto q = parameter({1});
  optimizer.add_parameters({q});
  CHECK(optimizer.parameters().size() == 2);
  CHECK(optimizer.param_groups().size() == 1);
}

TEST_CASE("options and groups are copied, not shared") {
  const auto p = parameter({2});
  std::vector<optim::OptimizerParamGroup> groups;
  groups.emplace_back(std::vector<Tensor>{p});
  CHECK_THROWS_WITH(groups[0].options().get_lr(), ContainsSubstring("no options"));
  optim::Adam first(groups, optim::AdamOptions(0.5));
  optim::Adam second(first.param_groups());
  second.param_groups()[0].options().set_lr(0.1);
  CHECK(first.param_groups()[0].options().get_lr() == 0.5);
  CHECK(first.defaults().get_lr() == 0.5);
  CHECK_FALSE(groups[0].has_options());
}

TEST_CASE("zero_grad drops the gradients, or zeroes them in place") {
  const auto p = parameter({3});
  optim::SGD optimizer({p, parameter({1})}, optim::SGDOptions(0.1));
  give_gradient(p);
  const Tensor grad = p.grad();
  optimizer.zero_grad(/*set_to_none=*/false);
  CHECK(p.grad().is_same(grad));
  CHECK(grad.abs().sum().item<float>() == 0);
  optimizer.zero_grad();
  CHECK_FALSE(p.grad().defined());
}

TEST_CASE("a step changes parameters in place, without recording, and raises their version") {
  const auto p = parameter({4});
  optim::SGD optimizer({p}, optim::SGDOptions(0.1));
  give_gradient(p);
  const void* data = p.data_ptr();
  const auto version = p._version();
  optimizer.step();
  CHECK(p.data_ptr() == data);
  CHECK(p._version() == version + 1);
  CHECK(p.is_leaf());
  // Backward notices a parameter that was stepped after the forward pass used it.
  const Tensor loss = (p * p).sum();
  optimizer.step();
  CHECK_THROWS_WITH(loss.backward(), ContainsSubstring("version"));
}

TEST_CASE("a parameter without gradient keeps its value and has no state") {
  const auto p = parameter({4});
  const Tensor before = p.detach().clone();
  optim::Adam optimizer({p}, optim::AdamOptions(0.1));
  optimizer.step();
  CHECK(ebb::equal(p.detach(), before));
  CHECK(optimizer.state().empty());
}

TEST_CASE("large, strided and empty parameters step like small ones") {
  for (const bool nesterov : {false, true}) {
    Tensor large = ebb::randn({300, 401}, ebb::kDouble);
    const std::vector<Tensor> parameters{
        large.detach().clone().requires_grad_(),
        large.t().detach().clone().t().detach().requires_grad_(),
        large.detach().clone().narrow(1, 3, 200).detach().requires_grad_(),
        ebb::empty({0, 3}, ebb::kDouble).requires_grad_(),
        ebb::randn({}, ebb::kDouble).requires_grad_()};
    optim::SGD optimizer(
        parameters, optim::SGDOptions(0.1).momentum(0.9).weight_decay(0.01).nesterov(nesterov));
    std::vector<Tensor> wanted, buffers(parameters.size());
    for (const Tensor& p : parameters) wanted.push_back(p.detach().clone());
    for (int step = 0; step < 3; ++step) {
      for (size_t i = 0; i < parameters.size(); ++i) {
        const Tensor grad = ebb::randn(parameters[i].sizes(), ebb::kDouble);
        parameters[i].mutable_grad() = grad;
        wanted[i] = sgd_reference(wanted[i], grad, buffers[i], 0.1, 0.9, 0.01, nesterov);
      }
      optimizer.step();
    }
    for (size_t i = 0; i < parameters.size(); ++i) {
      INFO("parameter " << i);
      CHECK(ebb::allclose(parameters[i].detach(), wanted[i], 1e-12, 1e-12));
    }
  }
}

TEST_CASE("results do not depend on the number of threads") {
  const int threads = ebb::get_num_threads();
  std::vector<Tensor> results;
  for (const int count : {1, 4}) {
    ebb::set_num_threads(count);
    ebb::manual_seed(11);
    const auto p = parameter({200000});
    optim::Adam optimizer({p}, optim::AdamOptions(0.1).amsgrad(true));
    for (int step = 0; step < 3; ++step) {
      give_gradient(p);
      optimizer.step();
    }
    results.push_back(p.detach());
  }
  ebb::set_num_threads(threads);
  CHECK(ebb::equal(results[0], results[1]));
}

TEST_CASE("half and bfloat16 parameters are computed in float") {
  for (const auto dtype : {ebb::kHalf, ebb::kBFloat16}) {
    const auto p = parameter({1000}, dtype);
    const auto q = p.detach().to(ebb::kFloat).requires_grad_(true);
    optim::Adam half({p}, optim::AdamOptions(0.1));
    optim::Adam single({q}, optim::AdamOptions(0.1));
    give_gradient(p);
    q.mutable_grad() = p.grad().to(ebb::kFloat);
    half.step();
    single.step();
    CHECK(p.scalar_type() == dtype);
    CHECK(ebb::equal(p.detach(), q.detach().to(dtype)));
    auto& state = static_cast<optim::AdamParamState&>(*half.state().at(p.unsafeGetTensorImpl()));
    CHECK(state.exp_avg().scalar_type() == dtype);
  }
}

TEST_CASE("state is there after the first step, and has its category to the byte") {
  const auto before = category_bytes(Category::optimizer_state);
  const auto p = parameter({1000});
  const auto q = parameter({3});
  const auto one = static_cast<int64_t>(rounded(4000) + rounded(12));
  const auto state_bytes = [&](optim::Optimizer& optimizer) {
    give_gradient(p);
    give_gradient(q);
    CHECK(category_bytes(Category::optimizer_state) == before);
    optimizer.step();
    const auto bytes = category_bytes(Category::optimizer_state) - before;
    const auto second = ebb::testing::measure([&] { optimizer.step(); });
    CHECK(second.requests == 0);
    return bytes;
  };
  {
    optim::SGD optimizer({p, q}, optim::SGDOptions(0.1));
    CHECK(state_bytes(optimizer) == 0);
  }
  {
    optim::SGD optimizer({p, q}, optim::SGDOptions(0.1).momentum(0.9));
    CHECK(state_bytes(optimizer) == one);
  }
  {
    optim::Adam optimizer({p, q}, optim::AdamOptions(0.1));
    CHECK(state_bytes(optimizer) == 2 * one);
    const auto& state =
        static_cast<optim::AdamParamState&>(*optimizer.state().at(p.unsafeGetTensorImpl()));
    CHECK(state.step() == 2);
    CHECK_FALSE(state.max_exp_avg_sq().defined());
  }
  {
    optim::AdamW optimizer({p, q}, optim::AdamWOptions(0.1).amsgrad(true));
    CHECK(state_bytes(optimizer) == 3 * one);
  }
  CHECK(category_bytes(Category::optimizer_state) == before);
}

TEST_CASE("a step that runs out of memory changes nothing, whichever allocation fails") {
  const auto check = [](auto make) {
    const auto p = parameter({100});
    const auto q = parameter({7});
    give_gradient(p);
    give_gradient(q);
    const Tensor p_before = p.detach().clone();
    const Tensor q_before = q.detach().clone();
    auto optimizer = make(std::vector<Tensor>{p, q});
    const auto allocated = ebb::memory::memory_allocated();
    int failures = 0;
    for (int n = 1;; ++n) {
      ebb::testing::FailAllocation failure(n);
      try {
        optimizer->step();
      } catch (const ebb::OutOfMemoryError&) {
        failure.clear();
        ++failures;
        CHECK(ebb::memory::memory_allocated() == allocated);
        CHECK(optimizer->state().empty());
        CHECK(ebb::equal(p.detach(), p_before));
        CHECK(ebb::equal(q.detach(), q_before));
        continue;
      }
      break;
    }
    CHECK(failures > 0);
    auto twin = make({p_before.clone().requires_grad_(), q_before.clone().requires_grad_()});
    twin->param_groups()[0].params()[0].mutable_grad() = p.grad();
    twin->param_groups()[0].params()[1].mutable_grad() = q.grad();
    twin->step();
    CHECK(ebb::equal(p.detach(), twin->parameters()[0].detach()));
    CHECK(ebb::equal(q.detach(), twin->parameters()[1].detach()));
    return failures;
  };
  CHECK(check([](std::vector<Tensor> params) -> std::unique_ptr<optim::Optimizer> {
          return std::make_unique<optim::SGD>(std::move(params),
                                              optim::SGDOptions(0.1).momentum(0.9));
        }) == 2);
  CHECK(check([](std::vector<Tensor> params) -> std::unique_ptr<optim::Optimizer> {
          return std::make_unique<optim::Adam>(std::move(params),
                                               optim::AdamOptions(0.1).amsgrad(true));
        }) == 6);
}

TEST_CASE("a gradient that does not fit stops the step before anything changes") {
  const auto p = parameter({3});
  const auto q = parameter({4});
  give_gradient(p);
  q.mutable_grad() = ebb::ones({5});
  const Tensor before = p.detach().clone();
  optim::SGD optimizer({p, q}, optim::SGDOptions(0.1).momentum(0.9));
  CHECK_THROWS_WITH(optimizer.step(), ContainsSubstring("SGD::step") && ContainsSubstring("[5]"));
  CHECK(ebb::equal(p.detach(), before));
  CHECK(optimizer.state().empty());
}

TEST_CASE("momentum can be switched on and off between steps") {
  const auto p = parameter({5}, ebb::kDouble);
  Tensor wanted = p.detach().clone();
  Tensor buffer;
  optim::SGD optimizer({p}, optim::SGDOptions(0.1));
  auto& options = static_cast<optim::SGDOptions&>(optimizer.param_groups()[0].options());
  for (const double momentum : {0.0, 0.9, 0.9, 0.5}) {
    options.momentum(momentum);
    give_gradient(p);
    Tensor none;
    wanted =
        sgd_reference(wanted, p.grad(), momentum == 0 ? none : buffer, 0.1, momentum, 0, false);
    optimizer.step();
  }
  CHECK(ebb::allclose(p.detach(), wanted, 1e-12, 1e-12));
}

TEST_CASE("an optimizer of the user's steps through the same base") {
  const auto p = ebb::tensor({1.0, -1.0}).requires_grad_(true);
  Sign optimizer({p});
  p.mutable_grad() = ebb::tensor({3.0, -0.1});
  optimizer.step();
  CHECK(ebb::equal(p.detach(), ebb::tensor({0.5, -0.5})));
  CHECK_THROWS_WITH(optimizer.param_groups()[0].options().get_lr(), ContainsSubstring("get_lr"));
}

TEST_CASE("the state of a parameter can be copied") {
  const auto p = parameter({2});
  give_gradient(p);
  optim::Adam optimizer({p}, optim::AdamOptions(0.1));
  optimizer.step();
  const auto copy = optimizer.state().at(p.unsafeGetTensorImpl())->clone();
  CHECK(static_cast<optim::AdamParamState&>(*copy).step() == 1);
}
