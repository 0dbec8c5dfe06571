// What holds for every op: good arguments in any layout, and bad ones of any kind.

#include <algorithm>
#include <cctype>

#include "support.h"

namespace {

const std::vector<std::vector<int64_t>> kOtherSizes = {{},     {0},    {1},       {7},
                                                       {0, 3}, {7, 3}, {3, 0, 2}, {1, 2, 3, 2, 1}};
const std::vector<ebb::ScalarType> kDtypes = {
    ebb::kFloat, ebb::kDouble, ebb::kHalf, ebb::kBFloat16, ebb::kLong,
    ebb::kInt,   ebb::kShort,  ebb::kChar, ebb::kByte,     ebb::kBool};

/// The same elements with gaps between them, and the dimensions in the reverse order in memory.
Tensor scattered(const Tensor& tensor) {
  std::vector<int64_t> reversed(static_cast<size_t>(tensor.dim()));
  for (size_t i = 0; i < reversed.size(); ++i) {
    reversed[i] = tensor.dim() - 1 - static_cast<int64_t>(i);
  }
  const auto dense = tensor.permute(reversed).contiguous();
  return ebb::stack({ebb::zeros_like(dense), dense}, -1).select(-1, 1).permute(reversed);
}

Tensors scattered(const Tensors& tensors) {
  Tensors result;
  for (const auto& tensor : tensors) result.push_back(scattered(tensor));
  return result;
}

std::string lower(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(), [](char c) { return std::tolower(c); });
  return text;
}

/// Whether an error speaks of what is wrong with the arguments: of the sizes or the dtype of one,
/// or of the part of them that matters. A kernel knows an index and what it must be below.
bool says_what_is_wrong(const std::string& message, const Tensors& arguments) {
  for (const std::string part :
       {" dimension", " elements", "ZeroDivisionError", "found by a kernel"}) {
    if (contains(message, part)) return true;
  }
  return std::any_of(arguments.begin(), arguments.end(), [&](const Tensor& argument) {
    return contains(message, sizes_of(argument)) ||
           contains(lower(message), lower(ebb::toString(argument.scalar_type())));
  });
}

void check_error(const Case& op_case, const Tensors& arguments, const std::string& message) {
  INFO(message);
  CHECK(contains(message, op_case.op()));
  CHECK(says_what_is_wrong(message, arguments));
}

/// Waits for kernels, which report an index out of range when the host waits.
Tensors finished(Tensors results) {
  for (const auto& result : results) {
    if (result.is_cuda()) (void)result.cpu();
  }
  return results;
}

/// Calls the op and its backward: results or a good error.
void check_result_or_error(const Case& op_case, const Tensors& arguments) {
  INFO(op_case.name << describe(arguments));
  want_gradients(op_case, arguments);
  Tensors results;
  if (const auto error = error_of([&] { results = finished(call(op_case, arguments)); })) {
    check_error(op_case, arguments, *error);
    return;
  }
  CHECK_NOTHROW(run_backward(results));
  for (const auto& argument : arguments) {
    if (argument.requires_grad() && argument.grad().defined()) {
      CHECK(argument.grad().sizes() == argument.sizes());
    }
  }
}

}  // namespace

TEST_CASE("Every overload of every op in the table has a case") {
  REQUIRE(op_cases::described().size() > 150);
  for (const auto& op : op_cases::described()) {
    INFO(op.name);
    int cases = 0;
    int in_place = 0;
    for (const auto& op_case : op_cases::all()) {
      if (op_case.op() != op.name) continue;
      ++cases;
      if (op_case.in_place) ++in_place;
    }
    CHECK(cases >= op.overloads);
    CHECK((in_place > 0) == op.in_place);
  }
}

TEST_CASE("Arguments with gaps and reversed dimensions give what dense ones give") {
  for (const auto& op_case : op_cases::all()) {
    INFO(op_case.name);
    const auto dense = make_arguments(op_case);
    const auto strided = scattered(dense);
    // as_strided speaks of memory, and view cannot copy.
    if (op_case.op() == "as_strided") continue;
    if (op_case.op() == "view" || op_case.op() == "view_as") {
      const auto error = error_of([&] { (void)call(op_case, strided); });
      REQUIRE(error);
      CHECK(contains(*error, "reshape"));
      continue;
    }
    want_gradients(op_case, dense);
    want_gradients(op_case, strided);
    const auto expected = call(op_case, dense);
    const auto results = call(op_case, strided);
    CHECK(same(results, expected));
    run_backward(expected);
    run_backward(results);
    for (size_t i = 0; i < dense.size(); ++i) CHECK(same(strided[i].grad(), dense[i].grad()));
  }
}

TEST_CASE("The form in place gives what the form out of place gives, in any layout") {
  for (const auto& op_case : op_cases::all()) {
    if (!op_case.in_place) continue;
    INFO(op_case.name << "_");
    const auto arguments = make_arguments(op_case);
    auto expected = call(op_case, arguments)[0];
    // In place a result takes the dtype of what it is written to.
    expected = expected.to(arguments[0].scalar_type());
    for (const bool dense : {true, false}) {
      auto written = arguments;
      written[0] = dense ? arguments[0].clone() : scattered(arguments[0]);
      const auto version = written[0]._version();
      ebb::manual_seed(6);
      op_case.in_place(written);
      CHECK(same(written[0], expected));
      CHECK(written[0]._version() > version);
    }
  }
}

TEST_CASE(
    "An undefined tensor is an Error that names the op, and an optional one may be left out") {
  for (const auto& op_case : op_cases::all()) {
    for (size_t i = 0; i < op_case.arguments.size(); ++i) {
      INFO(op_case.name << " without " << op_case.arguments[i].name);
      auto arguments = make_arguments(op_case);
      arguments[i] = Tensor();
      const auto error = error_of([&] { (void)call(op_case, arguments); });
      if (op_case.arguments[i].optional) {
        CHECK_FALSE(error);
        continue;
      }
      REQUIRE(error);
      INFO(*error);
      CHECK(contains(*error, op_case.op()));
      CHECK((contains(*error, "undefined") || contains(*error, "must be given")));
      if (op_case.in_place) {
        const auto in_place = error_of([&] { op_case.in_place(arguments); });
        REQUIRE(in_place);
        CHECK(contains(*in_place, op_case.op()));
      }
    }
  }
}

TEST_CASE("Any sizes of any argument give a result or an Error that names op and sizes") {
  for (const auto& op_case : op_cases::all()) {
    for (size_t i = 0; i < op_case.arguments.size(); ++i) {
      for (const auto& sizes : kOtherSizes) {
        auto arguments = make_arguments(op_case);
        const auto dtype = arguments[i].scalar_type();
        arguments[i] = ebb::ones(sizes, dtype);
        check_result_or_error(op_case, arguments);
      }
    }
  }
}

TEST_CASE("Arguments that all have the same unusual sizes give a result or an Error") {
  for (const auto& op_case : op_cases::all()) {
    for (const auto& sizes : kOtherSizes) {
      auto arguments = make_arguments(op_case);
      for (auto& argument : arguments) argument = ebb::ones(sizes, argument.scalar_type());
      check_result_or_error(op_case, arguments);
    }
  }
}

TEST_CASE("Any dtype of any argument gives a result or an Error that names op and dtype") {
  for (const auto& op_case : op_cases::all()) {
    for (size_t i = 0; i < op_case.arguments.size(); ++i) {
      for (const auto dtype : kDtypes) {
        auto arguments = make_arguments(op_case);
        arguments[i] = arguments[i].to(dtype);
        check_result_or_error(op_case, arguments);
      }
    }
  }
}

TEST_CASE("Arguments that all have one dtype give a result or an Error") {
  for (const auto& op_case : op_cases::all()) {
    for (const auto dtype : kDtypes) {
      auto arguments = make_arguments(op_case);
      for (auto& argument : arguments) {
        if (argument.is_floating_point()) argument = argument.to(dtype);
      }
      check_result_or_error(op_case, arguments);
    }
  }
}

TEST_CASE("A bad form in place is an Error, and changes nothing") {
  for (const auto& op_case : op_cases::all()) {
    if (!op_case.in_place) continue;
    for (size_t i = 0; i < op_case.arguments.size(); ++i) {
      for (const auto& sizes : kOtherSizes) {
        auto arguments = make_arguments(op_case);
        arguments[i] = ebb::ones(sizes, arguments[i].scalar_type());
        INFO(op_case.name << "_" << describe(arguments));
        const auto before = arguments[0].clone();
        const auto error = error_of([&] {
          op_case.in_place(arguments);
          (void)finished(arguments);
        });
        if (!error) continue;
        check_error(op_case, arguments, *error);
        CHECK(same(arguments[0], before));
        CHECK(arguments[0]._version() == 0);
      }
    }
  }
}

TEST_CASE("A tensor on another device is an Error that names the op and both devices") {
  if (!ebb::get_default_device().is_cuda()) return;  // there is but one device
  for (const auto& op_case : op_cases::all()) {
    if (op_case.arguments.size() < 2) continue;
    for (size_t i = 0; i < op_case.arguments.size(); ++i) {
      auto arguments = make_arguments(op_case);
      if (arguments[i].dim() == 0) continue;  // a number may lie on the host
      // These read a number wherever it lies, or only the sizes of the other tensor.
      const auto ops = {"fill", "view_as", "reshape_as", "expand_as"};
      if (std::count(ops.begin(), ops.end(), op_case.op()) != 0) continue;
      arguments[i] = arguments[i].cpu();
      INFO(op_case.name << describe(arguments) << " with " << op_case.arguments[i].name
                        << " on the host");
      const auto error = error_of([&] { (void)call(op_case, arguments); });
      // Where only the sizes of the other tensor count its device does not matter.
      if (!op_case.arguments[i].differentiable && !error) continue;
      REQUIRE(error);
      INFO(*error);
      CHECK(contains(*error, op_case.op()));
      CHECK(contains(*error, "cuda:0"));
      CHECK(contains(*error, "cpu"));
    }
  }
}
