#include "text.h"

#include <cmath>
#include <cstdio>
#include <fstream>

#include <ebb/ebb.h>

namespace tour {

namespace {

/// As Linux tells it; elsewhere only that there is one.
std::string processor() {
  std::ifstream file("/proc/cpuinfo");
  for (std::string line; std::getline(file, line);) {
    const size_t colon = line.find(": ");
    if (line.rfind("model name", 0) == 0 && colon != std::string::npos) {
      return line.substr(colon + 2);
    }
  }
  return "a processor without a name";
}

std::string formatted(const char* format, double value) {
  char text[64];
  std::snprintf(text, sizeof text, format, value);
  return text;
}

}  // namespace

std::string grouped(int64_t value) {
  const std::string digits = std::to_string(value < 0 ? -value : value);
  std::string text = value < 0 ? "-" : "";
  for (size_t i = 0; i < digits.size(); ++i) {
    if (i > 0 && (digits.size() - i) % 3 == 0) text += ',';
    text += digits[i];
  }
  return text;
}

std::string percent(double part) {
  if (std::abs(part) < 0.0005) return "0.0 %";
  return formatted("%+.1f %%", 100 * part);
}

std::string brief(double value) {
  if (value == 0) return "0";
  return formatted(std::abs(value) < 1e-3 ? "%.0e" : "%.4f", value);
}

std::string machine() {
  const int threads = ebb::get_num_threads();
  return processor() + ", " + std::to_string(threads) + (threads == 1 ? " thread" : " threads");
}

}  // namespace tour
