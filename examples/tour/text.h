#pragma once

#include <cstdint>
#include <string>

namespace tour {

/// "1,234,567"
std::string grouped(int64_t value);
/// "-12.3 %"
std::string percent(double part);
/// A number in so few digits as a table has room for: "0", "0.0123", "4e-07".
std::string brief(double value);
/// The processor's name, and how many threads ebb uses.
std::string machine();

}  // namespace tour
