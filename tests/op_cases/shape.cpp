#include <ebb/ebb.h>

#include "op_cases.h"

namespace op_cases {
namespace {

using ebb::Tensor;
using Op = Results (*)(const Tensor&);
using InPlace = void (*)(const Tensor&);

Case of_self(const std::string& name, Op op, InPlace in_place = nullptr,
             std::vector<int64_t> sizes = {6, 100}) {
  Case made{
      name, {real("self", std::move(sizes))}, [op](const Tensors& a) { return op(a[0]); }, {}};
  if (in_place != nullptr) made.in_place = [in_place](const Tensors& a) { in_place(a[0]); };
  return made;
}

void add_views(std::vector<Case>& cases) {
  for (const auto& made : {
           of_self("view",
                   [](const Tensor& x) -> Results {
                     return ebb::view(x, {100, 6});
                   }),
           of_self("reshape",
                   [](const Tensor& x) -> Results {
                     return ebb::reshape(x, {-1, 6});
                   }),
           of_self("as_strided",
                   [](const Tensor& x) -> Results {
                     return ebb::as_strided(x, {3, 2}, {2, 1}, 1);
                   }),
           of_self("permute",
                   [](const Tensor& x) -> Results {
                     return ebb::permute(x, {1, 0});
                   }),
           of_self(
               "transpose", [](const Tensor& x) -> Results { return ebb::transpose(x, 0, 1); },
               [](const Tensor& x) { ebb::transpose_(x, 0, 1); }),
           of_self(
               "t", [](const Tensor& x) -> Results { return ebb::t(x); },
               [](const Tensor& x) { ebb::t_(x); }),
           of_self("expand",
                   [](const Tensor& x) -> Results {
                     return ebb::expand(x, {2, -1, 100});
                   }),
           of_self("broadcast_to",
                   [](const Tensor& x) -> Results {
                     return ebb::broadcast_to(x, {2, 6, 100});
                   }),
           of_self("narrow", [](const Tensor& x) -> Results { return ebb::narrow(x, 1, 2, 5); }),
           of_self("slice", [](const Tensor& x) -> Results { return ebb::slice(x, 1, 1, 90, 3); }),
           of_self("select", [](const Tensor& x) -> Results { return ebb::select(x, 1, 2); }),
           of_self(
               "squeeze", [](const Tensor& x) -> Results { return ebb::squeeze(x); },
               [](const Tensor& x) { ebb::squeeze_(x); }, {6, 1, 100}),
           of_self(
               "squeeze.dim", [](const Tensor& x) -> Results { return ebb::squeeze(x, 1); },
               [](const Tensor& x) { ebb::squeeze_(x, 1); }, {6, 1, 100}),
           of_self(
               "unsqueeze", [](const Tensor& x) -> Results { return ebb::unsqueeze(x, 1); },
               [](const Tensor& x) { ebb::unsqueeze_(x, 1); }),
           of_self("flatten", [](const Tensor& x) -> Results { return ebb::flatten(x); }),
           of_self("diagonal", [](const Tensor& x) -> Results { return ebb::diagonal(x, 1); }),
           of_self("unbind", [](const Tensor& x) -> Results { return ebb::unbind(x, 0); }),
           of_self("split", [](const Tensor& x) -> Results { return ebb::split(x, 40, 1); }),
           of_self("split.sizes",
                   [](const Tensor& x) -> Results {
                     return ebb::split(x, {40, 60}, 1);
                   }),
           of_self("chunk", [](const Tensor& x) -> Results { return ebb::chunk(x, 3, 1); }),
       }) {
    cases.push_back(made);
  }
  const std::vector<Argument> reshaped = {real("self", {6, 100}), constant("other", {100, 6})};
  cases.push_back(
      {"view_as", reshaped, [](const Tensors& a) { return ebb::view_as(a[0], a[1]); }, {}});
  cases.push_back(
      {"reshape_as", reshaped, [](const Tensors& a) { return ebb::reshape_as(a[0], a[1]); }, {}});
  cases.push_back({"expand_as",
                   {real("self", {6, 100}), constant("other", {2, 6, 100})},
                   [](const Tensors& a) { return ebb::expand_as(a[0], a[1]); },
                   {}});
}

void add_copies(std::vector<Case>& cases) {
  for (const auto& made : {
           of_self("contiguous", [](const Tensor& x) -> Results { return ebb::contiguous(x); }),
           of_self("repeat",
                   [](const Tensor& x) -> Results {
                     return ebb::repeat(x, {2, 1, 3});
                   }),
           of_self("roll", [](const Tensor& x) -> Results { return ebb::roll(x, {2}, {1}); }),
           of_self("flip", [](const Tensor& x) -> Results { return ebb::flip(x, {1}); }),
           of_self(
               "tril", [](const Tensor& x) -> Results { return ebb::tril(x, 1); },
               [](const Tensor& x) { ebb::tril_(x, 1); }),
           of_self(
               "triu", [](const Tensor& x) -> Results { return ebb::triu(x, 1); },
               [](const Tensor& x) { ebb::triu_(x, 1); }),
           of_self("diag", [](const Tensor& x) -> Results { return ebb::diag(x); }),
           of_self("nonzero", [](const Tensor& x) -> Results { return ebb::nonzero(x); }),
       }) {
    cases.push_back(made);
  }
  cases.push_back({"cat",
                   {real("tensors", {6, 100}), real("tensors", {2, 100})},
                   [](const Tensors& a) { return ebb::cat(a, 0); },
                   {}});
  cases.push_back({"stack",
                   {real("tensors", {6, 100}), real("tensors", {6, 100})},
                   [](const Tensors& a) { return ebb::stack(a, 1); },
                   {}});
}

void add_indexing(std::vector<Case>& cases) {
  const auto self = real("self", {6, 100});
  cases.push_back({"index_select",
                   {self, index("index", {4}, 6)},
                   [](const Tensors& a) { return ebb::index_select(a[0], 0, a[1]); },
                   {}});
  cases.push_back({"index_add",
                   {self, index("index", {4}, 6), real("source", {4, 100})},
                   [](const Tensors& a) { return ebb::index_add(a[0], 0, a[1], a[2], 2); },
                   [](const Tensors& a) { ebb::index_add_(a[0], 0, a[1], a[2], 2); }});
  const auto index2 = index("index", {4, 100}, 6);
  cases.push_back(
      {"gather", {self, index2}, [](const Tensors& a) { return ebb::gather(a[0], 0, a[1]); }, {}});
  // One index a column: which of several writes to one place wins is not defined.
  const auto index1 = index("index", {1, 100}, 6);
  cases.push_back({"scatter",
                   {self, index1, real("src", {1, 100})},
                   [](const Tensors& a) { return ebb::scatter(a[0], 0, a[1], a[2]); },
                   [](const Tensors& a) { ebb::scatter_(a[0], 0, a[1], a[2]); }});
  cases.push_back({"scatter.value",
                   {self, index2},
                   [](const Tensors& a) { return ebb::scatter(a[0], 0, a[1], 2); },
                   [](const Tensors& a) { ebb::scatter_(a[0], 0, a[1], 2); }});
  cases.push_back({"scatter_add",
                   {self, index2, real("src", {4, 100})},
                   [](const Tensors& a) { return ebb::scatter_add(a[0], 0, a[1], a[2]); },
                   [](const Tensors& a) { ebb::scatter_add_(a[0], 0, a[1], a[2]); }});
  cases.push_back({"masked_select",
                   {self, mask("mask", {100})},
                   [](const Tensors& a) { return ebb::masked_select(a[0], a[1]); },
                   {}});
  cases.push_back({"one_hot",
                   {index("self", {6}, 4)},
                   [](const Tensors& a) { return ebb::one_hot(a[0], 9); },
                   {}});
}

}  // namespace

void add_shape(std::vector<Case>& cases) {
  add_views(cases);
  add_copies(cases);
  add_indexing(cases);
}

}  // namespace op_cases
