#include "op_cases.h"

#include <ebb/ebb.h>

#include <fstream>
#include <stdexcept>

namespace op_cases {

using ebb::Tensor;

Argument real(std::string name, std::vector<int64_t> sizes) {
  return {std::move(name), std::move(sizes)};
}
Argument above_one(std::string name, std::vector<int64_t> sizes) {
  Argument made = real(std::move(name), std::move(sizes));
  made.shift = 1;
  return made;
}
Argument optional_real(std::string name, std::vector<int64_t> sizes) {
  auto argument = real(std::move(name), std::move(sizes));
  argument.optional = true;
  return argument;
}
Argument constant(std::string name, std::vector<int64_t> sizes) {
  auto argument = real(std::move(name), std::move(sizes));
  argument.differentiable = false;
  return argument;
}
Argument index(std::string name, std::vector<int64_t> sizes, int64_t bound) {
  return {std::move(name), std::move(sizes), Argument::Kind::index, bound, false, false};
}
Argument mask(std::string name, std::vector<int64_t> sizes) {
  return {std::move(name), std::move(sizes), Argument::Kind::mask, 0, false, false};
}
Argument integer(std::string name, std::vector<int64_t> sizes) {
  return {std::move(name), std::move(sizes), Argument::Kind::integer, 0, false, false};
}

Results::Results(bool result) : Tensors{ebb::full({}, result, ebb::kBool)} {}

const std::vector<Case>& all() {
  static const auto cases = [] {
    std::vector<Case> made;
    add_elementwise(made);
    add_shape(made);
    add_reduce(made);
    add_layers(made);
    return made;
  }();
  return cases;
}

Tensors make_arguments(const Case& op_case) {
  ebb::manual_seed(5);
  Tensors arguments;
  for (const auto& argument : op_case.arguments) {
    switch (argument.kind) {
      case Argument::Kind::real:
        arguments.push_back(ebb::rand(argument.sizes) * 0.8 + (0.1 + argument.shift));
        break;
      case Argument::Kind::index:
        arguments.push_back(ebb::randint(0, argument.bound, argument.sizes, ebb::kLong));
        break;
      case Argument::Kind::mask:
        arguments.push_back(ebb::rand(argument.sizes) < 0.5);
        break;
      case Argument::Kind::integer:
        arguments.push_back(ebb::randint(1, 10, argument.sizes, ebb::kInt));
        break;
    }
  }
  return arguments;
}

Tensors call(const Case& op_case, const Tensors& arguments) {
  ebb::manual_seed(6);
  return op_case.call(arguments);
}

const std::vector<Described>& described() {
  static const auto ops = [] {
    std::ifstream table(EBB_SOURCE_DIR "/core/ops/ops.def");
    if (!table) throw std::runtime_error("core/ops/ops.def cannot be read");
    std::vector<Described> read;
    std::string family;
    for (std::string line; std::getline(table, line);) {
      const auto after = [&](const std::string& start) {
        return line.rfind(start, 0) == 0 ? line.substr(start.size()) : std::string();
      };
      if (const auto name = after("family "); !name.empty()) family = name;
      if (const auto name = after("op "); !name.empty()) {
        read.push_back({});
        read.back().name = name;
        read.back().family = family;
      }
      if (read.empty()) continue;
      auto& op = read.back();
      if (!after("  " + op.name + "(").empty()) ++op.overloads;
      if (const auto saves = after("  saves: "); !saves.empty()) op.saves = saves;
      op.in_place |= after("  variants: ").find("inplace") != std::string::npos;
    }
    return read;
  }();
  return ops;
}

}  // namespace op_cases
