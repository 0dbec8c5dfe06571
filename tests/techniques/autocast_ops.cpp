// Every op under autocast does what its class in core/ops/ops.def says.

#include <algorithm>

#include <ebb/autograd/ops/autocast_table.h>
#include <ebb/ebb.h>

#include "catch.h"
#include "op_cases/op_cases.h"

using ebb::ScalarType;
using ebb::Tensor;
using ebb::amp::AutocastGuard;
using ebb::autograd::AutocastClass;
using op_cases::Case;
using op_cases::Tensors;

namespace {

ebb::DeviceType here() { return ebb::get_default_device().type(); }

AutocastClass class_of(const std::string& op) {
  for (const auto& named : ebb::autograd::kAutocastTable) {
    if (named.op == op) return here() == ebb::kCPU ? named.row.cpu : named.row.cuda;
  }
  return AutocastClass::none;
}

/// The floating-point arguments in other dtypes, one after another.
Tensors in_dtypes(const Tensors& arguments, std::initializer_list<ScalarType> dtypes) {
  Tensors result;
  size_t i = 0;
  for (const auto& argument : arguments) {
    const bool real = argument.defined() && argument.is_floating_point();
    result.push_back(real ? argument.to(dtypes.begin()[i++ % dtypes.size()]) : argument);
  }
  return result;
}

/// The dtype of each result that is floating-point.
std::vector<ScalarType> dtypes_of(const Tensors& results) {
  std::vector<ScalarType> dtypes;
  for (const auto& result : results) {
    if (result.defined() && result.is_floating_point()) dtypes.push_back(result.scalar_type());
  }
  return dtypes;
}

bool all_are(const std::vector<ScalarType>& dtypes, ScalarType wanted) {
  return std::all_of(dtypes.begin(), dtypes.end(), [&](ScalarType d) { return d == wanted; });
}

/// A product whose result is no product, but a loss, and as wide as losses are.
bool has_wide_result(const Case& op_case) { return op_case.name == "linear_cross_entropy"; }

/// The overloads of a case that choose a dtype of their own.
bool names_a_dtype(const Case& op_case) { return op_case.name.find("dtype") != std::string::npos; }

}  // namespace

TEST_CASE("Each op gives results in the dtype of its class") {
  int of_class[4] = {};
  for (const auto& op_case : op_cases::all()) {
    if (names_a_dtype(op_case)) continue;
    INFO(op_case.name);
    const auto arguments = op_cases::make_arguments(op_case);
    const auto halves = in_dtypes(arguments, {ebb::kBFloat16});
    const auto mixed = in_dtypes(arguments, {ebb::kBFloat16, ebb::kFloat});
    const auto wanted = class_of(op_case.op());
    ++of_class[static_cast<int>(wanted)];
    const auto plain = dtypes_of(op_cases::call(op_case, arguments));
    const AutocastGuard guard(here(), ebb::kBFloat16);
    switch (wanted) {
      case AutocastClass::none:
        CHECK(dtypes_of(op_cases::call(op_case, arguments)) == plain);
        break;
      case AutocastClass::low:
        for (const auto& inputs : {arguments, mixed}) {
          CHECK(all_are(dtypes_of(op_cases::call(op_case, inputs)),
                        has_wide_result(op_case) ? ebb::kFloat : ebb::kBFloat16));
        }
        break;
      case AutocastClass::fp32:
        CHECK(all_are(dtypes_of(op_cases::call(op_case, halves)), ebb::kFloat));
        CHECK(all_are(dtypes_of(op_cases::call(op_case, mixed)), ebb::kFloat));
        break;
      case AutocastClass::promote:
        CHECK(all_are(dtypes_of(op_cases::call(op_case, mixed)), ebb::kFloat));
        CHECK(all_are(dtypes_of(op_cases::call(op_case, halves)), ebb::kBFloat16));
        break;
    }
  }
  CHECK(of_class[static_cast<int>(AutocastClass::none)] > 100);
  CHECK(of_class[static_cast<int>(AutocastClass::low)] >= 8);
  CHECK(of_class[static_cast<int>(AutocastClass::fp32)] >= 4);
  CHECK(of_class[static_cast<int>(AutocastClass::promote)] >= 2);
}

TEST_CASE("Each op under autocast gives every input a gradient of the input's dtype") {
  int gradients = 0;
  for (const auto& op_case : op_cases::all()) {
    if (names_a_dtype(op_case)) continue;
    INFO(op_case.name);
    const auto leaves = op_cases::make_arguments(op_case);
    for (size_t i = 0; i < leaves.size(); ++i) {
      leaves[i].requires_grad_(op_case.arguments[i].differentiable);
    }
    Tensor total;
    {
      const AutocastGuard guard(here(), ebb::kBFloat16);
      for (const auto& result : op_cases::call(op_case, leaves)) {
        if (!result.defined() || !result.requires_grad()) continue;
        const auto sum = result.to(ebb::kFloat).sum();
        total = total.defined() ? total + sum : sum;
      }
    }
    if (!total.defined()) continue;
    total.backward();
    for (size_t i = 0; i < leaves.size(); ++i) {
      if (!leaves[i].grad().defined()) continue;
      ++gradients;
      CHECK(leaves[i].grad().scalar_type() == ebb::kFloat);
      CHECK(leaves[i].grad().sizes() == leaves[i].sizes());
    }
  }
  CHECK(gradients > 100);
}

TEST_CASE("Each op in place does under autocast what it does without") {
  int in_place = 0;
  for (const auto& op_case : op_cases::all()) {
    if (!op_case.in_place) continue;
    INFO(op_case.name);
    const auto plain = op_cases::make_arguments(op_case);
    const auto cast = op_cases::make_arguments(op_case);
    ebb::manual_seed(6);
    op_case.in_place(plain);
    ebb::manual_seed(6);
    const AutocastGuard guard(here(), ebb::kBFloat16);
    op_case.in_place(cast);
    CHECK(cast[0].scalar_type() == plain[0].scalar_type());
    CHECK(cast[0].equal(plain[0]));
    ++in_place;
  }
  CHECK(in_place > 30);
}
