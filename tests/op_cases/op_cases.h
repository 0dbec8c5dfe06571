#pragma once

#include <functional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include <ebb/autograd/tensor.h>

// One call of every op and overload, for tests that hold for all ops alike.

namespace op_cases {

using Tensors = std::vector<ebb::Tensor>;

/// A tensor argument of a case.
struct Argument {
  enum class Kind { real, index, mask, integer };

  std::string name;
  std::vector<int64_t> sizes;
  Kind kind = Kind::real;
  int64_t bound = 0;      ///< indices lie in [0, bound)
  bool optional = false;  ///< may be undefined

  /// Whether the op has a gradient for it.
  bool differentiable = true;

  double shift = 0;  ///< added to real elements
};

/// Float32 elements in (0.1, 0.9), in the domain of every op.
Argument real(std::string name, std::vector<int64_t> sizes);
/// Float32 elements in (1.1, 1.9).
Argument above_one(std::string name, std::vector<int64_t> sizes);
/// As real, of an argument that may be undefined.
Argument optional_real(std::string name, std::vector<int64_t> sizes);
/// As real, of an argument that gets no gradient.
Argument constant(std::string name, std::vector<int64_t> sizes);
/// Int64 elements in [0, bound).
Argument index(std::string name, std::vector<int64_t> sizes, int64_t bound);
Argument mask(std::string name, std::vector<int64_t> sizes);
/// Int32 elements in [1, 9], for ops that know only integers.
Argument integer(std::string name, std::vector<int64_t> sizes);

/// What an op gives, as tensors.
struct Results : Tensors {
  Results(ebb::Tensor result) : Tensors{std::move(result)} {}
  Results(bool result);
  Results(const std::tuple<ebb::Tensor, ebb::Tensor>& results)
      : Tensors{std::get<0>(results), std::get<1>(results)} {}
  Results(Tensors results) : Tensors(std::move(results)) {}
};

/// A call of an op with good arguments.
struct Case {
  /// The op's name in core/ops/ops.def, and after a point which overload or option it is.
  std::string name;
  std::vector<Argument> arguments;
  std::function<Results(const Tensors&)> call;
  /// The form in place, which changes the first argument; empty if there is none.
  std::function<void(const Tensors&)> in_place;

  [[nodiscard]] std::string op() const { return name.substr(0, name.find('.')); }
};

/// All cases.
const std::vector<Case>& all();
/// Arguments of a case, the same at each call, dense, none requiring grad.
Tensors make_arguments(const Case& op_case);
/// Calls the op; random ops draw the same numbers each time.
Tensors call(const Case& op_case, const Tensors& arguments);

/// An op as core/ops/ops.def describes it.
struct Described {
  std::string name;
  std::string family;
  std::string saves;
  int overloads = 0;
  bool in_place = false;
};
/// All ops of core/ops/ops.def.
const std::vector<Described>& described();

// The parts of all().
void add_elementwise(std::vector<Case>& cases);
void add_shape(std::vector<Case>& cases);
void add_reduce(std::vector<Case>& cases);
void add_layers(std::vector<Case>& cases);

}  // namespace op_cases
