#include "golden/golden.h"

#include <fstream>
#include <sstream>
#include <stdexcept>

#include <set>
#include <ebb/autograd/factories.h>

#include "catch.h"

namespace {

ebb::ScalarType parse_dtype(const std::string& name) {
  if (name == "float64") return ebb::kDouble;
  if (name == "float32") return ebb::kFloat;
  if (name == "int64") return ebb::kLong;
  if (name == "bool") return ebb::kBool;
  throw std::runtime_error("unknown dtype " + name);
}

/// "2,3", or "-" for a tensor without dimensions.
std::vector<int64_t> parse_sizes(const std::string& text) {
  std::vector<int64_t> sizes;
  if (text == "-") return sizes;
  std::istringstream stream(text);
  for (std::string size; std::getline(stream, size, ',');) sizes.push_back(std::stoll(size));
  return sizes;
}

/// dtype, sizes, elements.
ebb::Tensor parse_tensor(std::istringstream& line) {
  std::string dtype, sizes, number;
  line >> dtype >> sizes;
  std::vector<double> values;
  while (line >> number) values.push_back(std::stod(number));
  return ebb::tensor(values, ebb::kDouble).reshape(parse_sizes(sizes)).to(parse_dtype(dtype));
}

}  // namespace

std::vector<GoldenCase> load_golden(const std::string& path) {
  std::ifstream file(path);
  if (!file) throw std::runtime_error("cannot read " + path);
  std::vector<GoldenCase> cases;
  for (std::string text, kind; std::getline(file, text);) {
    std::istringstream line(text);
    line >> kind;
    if (kind == "case") {
      cases.push_back({text.substr(5), {}, {}, {}});
    } else if (kind == "input") {
      cases.back().inputs.push_back(parse_tensor(line));
    } else if (kind == "output") {
      cases.back().outputs.push_back(parse_tensor(line));
    } else {
      size_t input = 0;
      line >> input;
      cases.back().grads.emplace_back(input, parse_tensor(line));
    }
  }
  return cases;
}

void check_close(const ebb::Tensor& ours, const ebb::Tensor& expected, double epsilon) {
  REQUIRE(ours.sizes().vec() == expected.sizes().vec());
  REQUIRE(ours.scalar_type() == expected.scalar_type());
  const ebb::Tensor a = ours.detach().cpu().to(ebb::kDouble).contiguous();
  const ebb::Tensor b = expected.cpu().to(ebb::kDouble).contiguous();
  for (int64_t i = 0; i < a.numel(); ++i) {
    INFO("element " << i);
    CHECK(a.data_ptr<double>()[i] ==
          Approx(b.data_ptr<double>()[i]).epsilon(epsilon).margin(epsilon / 10));
  }
}

void check_gradients(const GoldenCase& golden, const std::vector<ebb::Tensor>& leaves,
                     const std::vector<ebb::Tensor>& outputs, double epsilon) {
  if (golden.grads.empty()) return;
  ebb::Tensor total = ebb::zeros({}, ebb::kDouble);
  for (const ebb::Tensor& output : outputs) {
    if (!output.requires_grad()) continue;
    const ebb::Tensor weight =
        ebb::arange(output.numel(), ebb::kDouble).cos().reshape(output.sizes());
    total = total + (output * weight).sum();
  }
  total.backward();
  for (const auto& [input, expected] : golden.grads) {
    INFO("gradient of input " << input);
    REQUIRE(leaves[input].grad().defined());
    check_close(leaves[input].grad(), expected, epsilon);
  }
}

void check_golden(const std::string& path, const GoldenTable& table, double epsilon) {
  std::set<std::string> seen;
  for (const GoldenCase& golden : load_golden(path)) {
    const auto op = table.find(golden.name);
    if (op == table.end()) continue;
    INFO(golden.name);
    seen.insert(golden.name);
    std::vector<ebb::Tensor> leaves;
    for (const ebb::Tensor& input : golden.inputs) {
      leaves.push_back(input.clone());
      if (input.is_floating_point()) leaves.back().requires_grad_();
    }
    const std::vector<ebb::Tensor> outputs = op->second(leaves);
    REQUIRE(outputs.size() == golden.outputs.size());
    for (size_t i = 0; i < outputs.size(); ++i) check_close(outputs[i], golden.outputs[i], epsilon);
    check_gradients(golden, leaves, outputs, epsilon);
  }
  for (const auto& [name, op] : table) {
    INFO(name << " is not in " << path << ": run tools/make_golden.py");
    CHECK(seen.count(name) == 1);
  }
}
