#include <ebb/ebb.h>

#include "op_cases.h"

namespace op_cases {
namespace {

using ebb::Tensor;
using Op = Results (*)(const Tensor&);

Case of_self(const std::string& name, Op op) {
  return {name, {real("self", {6, 100})}, [op](const Tensors& a) { return op(a[0]); }, {}};
}

}  // namespace

void add_reduce(std::vector<Case>& cases) {
  for (const auto& made : {
           of_self("sum", [](const Tensor& x) -> Results { return ebb::sum(x); }),
           of_self("sum.dim", [](const Tensor& x) -> Results { return ebb::sum(x, {1}); }),
           of_self("mean", [](const Tensor& x) -> Results { return ebb::mean(x); }),
           of_self("mean.dim", [](const Tensor& x) -> Results { return ebb::mean(x, {1}); }),
           of_self("prod", [](const Tensor& x) -> Results { return ebb::prod(x); }),
           of_self("prod.dim", [](const Tensor& x) -> Results { return ebb::prod(x, 0); }),
           of_self("max", [](const Tensor& x) -> Results { return ebb::max(x); }),
           of_self("max.dim", [](const Tensor& x) -> Results { return ebb::max(x, 1); }),
           of_self("min", [](const Tensor& x) -> Results { return ebb::min(x); }),
           of_self("min.dim", [](const Tensor& x) -> Results { return ebb::min(x, 1); }),
           of_self("amax", [](const Tensor& x) -> Results { return ebb::amax(x, {1}); }),
           of_self("amin", [](const Tensor& x) -> Results { return ebb::amin(x, {1}); }),
           of_self("argmax", [](const Tensor& x) -> Results { return ebb::argmax(x, 1); }),
           of_self("argmin", [](const Tensor& x) -> Results { return ebb::argmin(x, 1); }),
           of_self("all", [](const Tensor& x) -> Results { return ebb::all(x); }),
           of_self("all.dim", [](const Tensor& x) -> Results { return ebb::all(x, 1); }),
           of_self("any", [](const Tensor& x) -> Results { return ebb::any(x); }),
           of_self("any.dim", [](const Tensor& x) -> Results { return ebb::any(x, 1); }),
           of_self("var", [](const Tensor& x) -> Results { return ebb::var(x); }),
           of_self("var.dim", [](const Tensor& x) -> Results { return ebb::var(x, {1}); }),
           of_self("std", [](const Tensor& x) -> Results { return ebb::std(x); }),
           of_self("std.dim", [](const Tensor& x) -> Results { return ebb::std(x, {1}); }),
           of_self("norm", [](const Tensor& x) -> Results { return ebb::norm(x); }),
           of_self("norm.dim", [](const Tensor& x) -> Results { return ebb::norm(x, 3, {1}); }),
           of_self("logsumexp", [](const Tensor& x) -> Results { return ebb::logsumexp(x, {1}); }),
           of_self("cumsum", [](const Tensor& x) -> Results { return ebb::cumsum(x, 1); }),
           of_self("cumprod", [](const Tensor& x) -> Results { return ebb::cumprod(x, 0); }),
           of_self("topk", [](const Tensor& x) -> Results { return ebb::topk(x, 2, 0); }),
           of_self("sort", [](const Tensor& x) -> Results { return ebb::sort(x, 0); }),
           of_self("argsort", [](const Tensor& x) -> Results { return ebb::argsort(x, 0); }),
           of_self("softmax", [](const Tensor& x) -> Results { return ebb::softmax(x, 1); }),
           of_self("log_softmax",
                   [](const Tensor& x) -> Results { return ebb::log_softmax(x, 1); }),
       }) {
    cases.push_back(made);
  }
  const std::vector<Argument> two = {real("grad_output", {6, 100}), real("result", {6, 100})};
  cases.push_back({"softmax_backward",
                   two,
                   [](const Tensors& a) { return ebb::softmax_backward(a[0], a[1], 1); },
                   {}});
  cases.push_back({"log_softmax_backward",
                   two,
                   [](const Tensors& a) { return ebb::log_softmax_backward(a[0], a[1], 1); },
                   {}});
}

}  // namespace op_cases
