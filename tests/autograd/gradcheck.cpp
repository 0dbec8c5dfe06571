#include "helpers.h"

using namespace ebb;
using autograd::AutogradContext;
using autograd::variable_list;
using Inputs = std::vector<Tensor>;

namespace {

struct Wrong : autograd::Function<Wrong> {
  static Tensor forward(AutogradContext*, Tensor x) { return x * 2; }
  static variable_list backward(AutogradContext*, variable_list grads) { return {grads[0] * 3}; }
};

/// Right to first order, but its gradient is taken for a constant.
struct NotTwice : autograd::Function<NotTwice> {
  static Tensor forward(AutogradContext* ctx, Tensor x) {
    ctx->save_for_backward({x});
    return x * x;
  }
  static variable_list backward(AutogradContext* ctx, variable_list grads) {
    return {grads[0] * ctx->get_saved_variables()[0].detach() * 2};
  }
};

struct Moody : autograd::Function<Moody> {
  static inline int calls = 0;
  static Tensor forward(AutogradContext*, Tensor x) { return x * 2; }
  static variable_list backward(AutogradContext*, variable_list grads) {
    return {grads[0] * (2 + 1e-7 * ++calls)};
  }
};

}  // namespace

TEST_CASE("gradcheck passes right gradients of several inputs and outputs", "[gradcheck]") {
  const testing::TensorFunction fn = [](const Inputs& in) {
    return Inputs{in[0] * in[1].exp() + in[2], in[0] > 0, (in[0] / in[1]).sum()};
  };
  const Inputs inputs = {leaf({0.3, -0.7}), leaf({1.1, 0.4}), constant({1, 2})};
  CHECK(testing::gradcheck(fn, inputs));
  CHECK(testing::gradgradcheck(fn, inputs));
}

TEST_CASE("gradcheck takes inputs of any strides", "[gradcheck]") {
  const Tensor x = ebb::linspace(0.1, 0.6, 6, kDouble).view({2, 3}).t().detach().requires_grad_();
  CHECK(testing::gradcheck([](const Inputs& in) { return in[0].exp() * in[0]; }, {x}));
}

TEST_CASE("gradcheck names what differs", "[gradcheck]") {
  const std::string message = error_of([] {
    testing::gradcheck([](const Inputs& in) { return Wrong::apply(in[1]) + in[0]; },
                       {leaf({1}), leaf({2})});
  });
  CHECK_THAT(message, says("output 0[0]") && says("input 1[0]") && says("is 2") && says("3"));
  CHECK_THAT(error_of([] {
               testing::gradgradcheck([](const Inputs& in) { return NotTwice::apply(in[0]); },
                                      {leaf({1, 2})});
             }),
             says("gradcheck"));
  CHECK(
      testing::gradcheck([](const Inputs& in) { return NotTwice::apply(in[0]); }, {leaf({1, 2})}));
  CHECK_THAT(error_of([] {
               testing::gradcheck([](const Inputs& in) { return Moody::apply(in[0]); },
                                  {leaf({1})});
             }),
             says("other gradients"));
}

TEST_CASE("gradcheck refuses what it cannot check", "[gradcheck]") {
  const auto twice = [](const Inputs& in) { return in[0] * 2; };
  CHECK_THAT(error_of([&] { testing::gradcheck(twice, {constant({1})}); }), says("no input"));
  CHECK_THAT(error_of([&] { testing::gradcheck(twice, {ebb::ones({2}).requires_grad_()}); }),
             says("float64"));
  CHECK_THAT(error_of([&] {
               testing::gradcheck([](const Inputs& in) { return in[0] > 1; }, {leaf({1})});
             }),
             says("no output"));
}
