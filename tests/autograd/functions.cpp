#include "helpers.h"

using namespace ebb;
using autograd::AutogradContext;
using autograd::Function;
using autograd::variable_list;

namespace {

/// x^n, with n among the saved data.
struct Power : Function<Power> {
  static Tensor forward(AutogradContext* ctx, Tensor x, int64_t n) {
    ctx->save_for_backward({x});
    ctx->saved_data["n"] = n;
    return x.pow(n);
  }
  static variable_list backward(AutogradContext* ctx, variable_list grad) {
    const auto n = ctx->saved_data["n"].toInt();
    return {grad[0] * n * ctx->get_saved_variables()[0].pow(n - 1), Tensor()};
  }
};

/// exp, from its saved output.
struct Exp : Function<Exp> {
  static Tensor forward(AutogradContext* ctx, const Tensor& x) {
    Tensor y = x.exp();
    ctx->save_for_backward({y});
    return y;
  }
  static variable_list backward(AutogradContext* ctx, variable_list grad) {
    return {grad[0] * ctx->get_saved_variables()[0]};
  }
};

/// The sum of a list of tensors, plus one that may be absent.
struct SumAll : Function<SumAll> {
  static inline std::vector<bool> needed_forward;
  static inline std::vector<bool> needed_backward;

  static Tensor forward(AutogradContext* ctx, std::vector<Tensor> list, std::optional<Tensor> extra,
                        const char*) {
    needed_forward.clear();
    for (size_t i = 0; i < list.size(); ++i) needed_forward.push_back(ctx->needs_input_grad(i));
    ctx->saved_data["count"] = static_cast<int64_t>(list.size());
    Tensor sum = list[0].clone();
    for (size_t i = 1; i < list.size(); ++i) sum = sum + list[i];
    return extra.has_value() ? sum + *extra : sum;
  }
  static variable_list backward(AutogradContext* ctx, variable_list grad) {
    const auto count = static_cast<size_t>(ctx->saved_data["count"].toInt());
    needed_backward.clear();
    for (size_t i = 0; i <= count; ++i) needed_backward.push_back(ctx->needs_input_grad(i));
    variable_list grads(count + 1, grad[0]);
    grads.emplace_back();
    return grads;
  }
};

struct Double_ : Function<Double_> {
  static Tensor forward(AutogradContext* ctx, Tensor x) {
    x.mul_(2);
    ctx->mark_dirty({x});
    return x;
  }
  static variable_list backward(AutogradContext*, variable_list grad) { return {grad[0] * 2}; }
};

struct Identity : Function<Identity> {
  static Tensor forward(AutogradContext*, Tensor x) { return x; }
  static variable_list backward(AutogradContext*, variable_list grad) { return {grad[0] * 3}; }
};

struct FirstRow : Function<FirstRow> {
  static Tensor forward(AutogradContext* ctx, Tensor x) {
    ctx->saved_data["sizes"] = x.sizes();
    return x.select(0, 0);
  }
  static variable_list backward(AutogradContext* ctx, variable_list grad) {
    Tensor full = ebb::zeros(ctx->saved_data["sizes"].toIntVector(), kDouble);
    full.select(0, 0).copy_(grad[0]);
    return {full};
  }
};

struct Two : Function<Two> {
  static inline std::vector<bool> defined;
  static variable_list forward(AutogradContext* ctx, Tensor x, bool materialize) {
    ctx->set_materialize_grads(materialize);
    Tensor places = ebb::ones({2}, kLong);
    Tensor mask = x * 0;
    ctx->mark_non_differentiable({mask});
    return {x * 2, x * 3, mask, places};
  }
  static variable_list backward(AutogradContext*, variable_list grads) {
    defined.clear();
    Tensor total;
    for (size_t i = 0; i < 2; ++i) {
      defined.push_back(grads[i].defined());
      if (!grads[i].defined()) continue;
      const Tensor part = grads[i] * static_cast<double>(i + 2);
      total = total.defined() ? total + part : part;
    }
    return {total, Tensor()};
  }
};

struct TooMany : Function<TooMany> {
  static Tensor forward(AutogradContext*, Tensor x) { return x * 2; }
  static variable_list backward(AutogradContext*, variable_list grad) { return {grad[0], grad[0]}; }
};
struct ForNumber : Function<ForNumber> {
  static Tensor forward(AutogradContext*, Tensor x, int) { return x * 2; }
  static variable_list backward(AutogradContext*, variable_list grad) { return {grad[0], grad[0]}; }
};
struct WrongSizes : Function<WrongSizes> {
  static Tensor forward(AutogradContext*, Tensor x) { return x * 2; }
  static variable_list backward(AutogradContext*, variable_list) {
    return {ebb::ones({7}, kDouble)};
  }
};

/// Computes its gradient with a backward of its own.
struct Nested : Function<Nested> {
  static Tensor forward(AutogradContext* ctx, Tensor x) {
    ctx->save_for_backward({x});
    return x.sin();
  }
  static variable_list backward(AutogradContext* ctx, variable_list grad) {
    const AutoGradMode recording(true);
    const Tensor x = ctx->get_saved_variables()[0].detach().requires_grad_();
    return {autograd::grad({x.sin()}, {x}, {grad[0].detach()})[0]};
  }
};

}  // namespace

TEST_CASE("A Function has the gradient that it gives, to any order", "[function]") {
  Tensor x = leaf({1, -2, 3});
  const Tensor y = Power::apply(x, 3);
  CHECK(values(y) == Values{1, -8, 27});
  CHECK_THAT(y.grad_fn()->name(), says("Power"));
  y.sum().backward();
  CHECK(values(x.grad()) == Values{3, 12, 27});
  CHECK_THAT(error_of([&] { y.sum().backward(); }), says("second time"));
  const std::vector<Tensor> at = {leaf({0.5, 2})};
  CHECK(testing::gradcheck([](const auto& in) { return Power::apply(in[0], 4); }, at));
  CHECK(testing::gradgradcheck([](const auto& in) { return Power::apply(in[0], 4); }, at));
  CHECK(testing::gradgradcheck([](const auto& in) { return Exp::apply(in[0]); }, at));
}

TEST_CASE("A Function of constants, or under no-grad, is not recorded", "[function]") {
  Tensor x = leaf({1});
  const int64_t nodes = autograd::live_nodes();
  CHECK_FALSE(Power::apply(x.detach(), 2).requires_grad());
  {
    const NoGradGuard no_grad;
    CHECK_FALSE(Power::apply(x, 2).requires_grad());
  }
  CHECK(autograd::live_nodes() == nodes);
}

TEST_CASE("Arguments may be lists of tensors, optional tensors and anything else", "[function]") {
  Tensor a = leaf({1, 2});
  const Tensor b = constant({3, 4});
  Tensor c = leaf({5, 6});
  const Tensor sum = SumAll::apply(std::vector<Tensor>{a, b}, std::optional<Tensor>(c), "any");
  CHECK(values(sum) == Values{9, 12});
  CHECK(SumAll::needed_forward == std::vector<bool>{true, false});
  (sum * constant({1, 10})).sum().backward();
  CHECK(SumAll::needed_backward == std::vector<bool>{true, false, true});
  CHECK(values(a.grad()) == Values{1, 10});
  CHECK(values(c.grad()) == Values{1, 10});
  SumAll::apply(std::vector<Tensor>{a, a}, std::optional<Tensor>(), "any").sum().backward();
  CHECK(values(a.grad()) == Values{3, 12});
}

TEST_CASE("A write to what a Function saved is noticed", "[function]") {
  Tensor x = leaf({2});
  const Tensor input = x * 1;
  const Tensor cube = Power::apply(input, 3);
  input.add_(1);
  CHECK_THAT(error_of([&] { cube.backward(); }), says("modified by an inplace") && says("Power"));
  const Tensor result = Exp::apply(x);
  result.mul_(2);
  CHECK_THAT(error_of([&] { result.backward(); }), says("modified by an inplace"));
}

TEST_CASE("A Function that changes its input in place is part of its history", "[function]") {
  Tensor x = leaf({1, 2});
  const Tensor y = x * 3;
  const Tensor doubled = Double_::apply(y);
  CHECK(doubled.data_ptr() == y.data_ptr());
  CHECK(y._version() == 1);
  (y * y).sum().backward();
  CHECK(values(x.grad()) == Values{72, 144});
  CHECK_THAT(error_of([&] { (void)Double_::apply(x); }), says("leaf"));

  x.mutable_grad() = Tensor();
  const Tensor base = leaf({1, 2}) * 1;
  const Tensor viewed = x * 1;
  Double_::apply(viewed.narrow(0, 0, 1));
  viewed.sum().backward();
  CHECK(values(x.grad()) == Values{2, 1});
}

TEST_CASE("An input that is returned is an output of its own", "[function]") {
  Tensor x = leaf({1, 2});
  const Tensor y = Identity::apply(x);
  CHECK_FALSE(y.is_same(x));
  CHECK(y.data_ptr() == x.data_ptr());
  y.sum().backward();
  CHECK(values(x.grad()) == Values{3, 3});
  CHECK_THAT(error_of([&] { Identity::apply(x * 1).mul_(2); }), says("custom Function"));
}

TEST_CASE("A view that a Function returns is not written in place", "[function]") {
  Tensor x = ebb::ones({2, 3}, kDouble).requires_grad_();
  const Tensor row = FirstRow::apply(x);
  CHECK_THAT(error_of([&] { row.mul_(2); }), says("custom Function") && says("clone"));
  row.sum().backward();
  CHECK(values(x.grad()) == Values{1, 1, 1, 0, 0, 0});
}

TEST_CASE("Gradients that nothing depends on are zeros or undefined", "[function]") {
  Tensor x = leaf({1, 2});
  auto out = Two::apply(x, true);
  CHECK(out[0].requires_grad());
  CHECK_FALSE(out[2].requires_grad());
  CHECK_FALSE(out[3].requires_grad());
  out[1].sum().backward();
  CHECK(Two::defined == std::vector<bool>{true, true});
  CHECK(values(x.grad()) == Values{3, 3});
  Two::apply(x, false)[0].sum().backward();
  CHECK(Two::defined == std::vector<bool>{true, false});
  CHECK(values(x.grad()) == Values{5, 5});
}

TEST_CASE("Wrong gradients of a Function are errors that name it", "[function]") {
  Tensor x = leaf({1, 2});
  CHECK_THAT(error_of([&] { TooMany::apply(x).sum().backward(); }),
             says("TooMany") && says("expected 1, got 2"));
  CHECK_THAT(error_of([&] { ForNumber::apply(x, 1).sum().backward(); }),
             says("ForNumber") && says("not a tensor"));
  CHECK_THAT(error_of([&] { WrongSizes::apply(x).sum().backward(); }),
             says("WrongSizes") && says("[7]") && says("[2]"));
  CHECK_FALSE(x.grad().defined());
}

TEST_CASE("saved_data tells its kinds apart", "[function]") {
  IValue value = 3;
  CHECK(value.toInt() == 3);
  CHECK_THAT(error_of([&] { (void)value.toDouble(); }), says("double"));
  value = 2.5;
  CHECK(value.toDouble() == 2.5);
  value = true;
  CHECK(value.toBool());
  value = "text";
  CHECK(value.toString() == "text");
  value = constant({1});
  CHECK(value.isTensor());
  CHECK(value.toTensor().defined());
  value = std::vector<int64_t>{1, 2};
  CHECK(value.toIntVector().size() == 2);
  CHECK(IValue().isNone());
}

TEST_CASE("backward may run within backward", "[function]") {
  Tensor x = leaf({0.5, 1});
  const Tensor y = Nested::apply(x * 2);
  y.sum().backward();
  CHECK(values(x.grad())[0] == Approx(2 * std::cos(1.0)));
  CHECK(values(x.grad())[1] == Approx(2 * std::cos(2.0)));

  // From a hook, on another graph that ends in the same leaf.
  x.mutable_grad() = Tensor();
  const Tensor z = x * 3;
  z.register_hook([&](const Tensor&) {
    const AutoGradMode recording(true);
    (x * 10).sum().backward();
  });
  z.sum().backward();
  CHECK(values(x.grad()) == Values{13, 13});
}
