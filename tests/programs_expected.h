#pragma once

#include <cmath>
#include <cstdint>
#include <fstream>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include <ebb/ebb.h>
#include "catch.h"

// What LibTorch printed for the programs in tests/programs, label by label, for tests that compute
// the same with parts of them.

namespace programs {

/// sin(0.7 i + phase) over the elements in row-major order, as tests/programs/show.h has it.
inline ebb::Tensor wave(ebb::IntArrayRef sizes, double phase = 0.0,
                        ebb::Dtype dtype = ebb::kFloat) {
  const auto values = ebb::zeros(sizes, ebb::TensorOptions(ebb::kDouble).device(ebb::kCPU));
  auto* data = values.data_ptr<double>();
  for (int64_t i = 0; i < values.numel(); ++i) {
    data[i] = std::sin(0.7 * static_cast<double>(i) + phase);
  }
  return values.to(dtype).to(ebb::get_default_device());
}

/// The lines of tests/programs/NAME.expected by their labels.
class Expected {
 public:
  explicit Expected(const std::string& name) {
    std::ifstream file(EBB_SOURCE_DIR "/tests/programs/" + name + ".expected");
    for (std::string line; std::getline(file, line);) {
      const auto space = line.find(' ');
      if (space != std::string::npos) lines_[line.substr(0, space)] = line.substr(space + 1);
    }
  }
  /// The text behind a label; fails the test if there is no such label.
  [[nodiscard]] std::string text(const std::string& label) const {
    const auto found = lines_.find(label);
    INFO("label " << label);
    REQUIRE(found != lines_.end());
    return found->second;
  }
  /// Checks sizes and values of `actual` against the line of a label.
  void check(const std::string& label, const ebb::Tensor& actual, double tolerance) const {
    const std::string line = text(label);
    const auto bracket = line.find(']');
    INFO("label " << label);
    std::ostringstream sizes;
    sizes << actual.sizes();
    CHECK(line.substr(0, bracket + 1) == sizes.str());
    std::istringstream numbers(line.substr(bracket + 1));
    const auto values = actual.detach().cpu().to(ebb::kDouble).contiguous();
    const auto* data = values.data_ptr<double>();
    for (int64_t i = 0; i < values.numel(); ++i) {
      double expected = 0;
      REQUIRE(numbers >> expected);
      INFO("element " << i);
      CHECK(data[i] == Approx(expected).margin(tolerance).epsilon(0));
    }
  }
  void check(const std::string& label, double actual, double tolerance) const {
    INFO("label " << label);
    CHECK(actual == Approx(std::stod(text(label))).margin(tolerance).epsilon(0));
  }

 private:
  std::map<std::string, std::string> lines_;
};

}  // namespace programs
