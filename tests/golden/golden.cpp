#include "golden/golden.h"

#include <fstream>
#include <sstream>
#include <stdexcept>

#include <ebb/autograd/factories.h>

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
