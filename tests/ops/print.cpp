#include <fstream>
#include <iomanip>
#include <map>
#include <sstream>

#include <ebb/autograd/factories.h>
#include <ebb/core/memory/memory.h>

#include "catch.h"

namespace torch {
using namespace ebb;
}
#include "golden/print_cases.h"

namespace {

/// "CPU" or "CUDA": what the type of a tensor on the default device begins with.
std::string device_name() { return ebb::get_default_device().is_cpu() ? "CPU" : "CUDA"; }

/// The sections of tests/golden/print.txt: what LibTorch prints for tensors of the default device,
/// by name.
std::map<std::string, std::string> golden() {
  std::ifstream file(EBB_SOURCE_DIR "/tests/golden/print.txt");
  std::map<std::string, std::string> sections;
  std::string line, name;
  while (std::getline(file, line)) {
    if (line.rfind("== ", 0) == 0) {
      name = line.substr(3);
    } else {
      const size_t type = line.rfind("[ CPU", 0) == 0 ? 2 : std::string::npos;
      if (type != std::string::npos) line.replace(type, 3, device_name());
      sections[name] += line + "\n";
    }
  }
  return sections;
}

std::string printed(const ebb::Tensor& tensor) {
  std::ostringstream stream;
  stream << tensor << '\n';
  return stream.str();
}

}  // namespace

TEST_CASE("tensors print as LibTorch prints them") {
  const auto expected = golden();
  size_t cases = 0;
  print_cases([&](const std::string& name, const ebb::Tensor& tensor) {
    INFO(name);
    REQUIRE(expected.count(name) == 1);
    CHECK(printed(tensor) == expected.at(name));
    ++cases;
  });
  CHECK(cases == expected.size());
}

TEST_CASE("printing leaves the stream's settings as they were") {
  std::ostringstream stream;
  stream << std::setprecision(3) << std::scientific << ebb::tensor({1.5, 2.5}) << 1234.5678;
  CHECK(stream.str().substr(stream.str().find(']') + 1) == "1.235e+03");
}

TEST_CASE("printing allocates no tensor memory") {
  const ebb::Tensor tensor = ebb::arange(1000).reshape({10, 100}).t();
  ebb::memory::reset_peak_memory_stats();
  const int64_t before = ebb::memory::memory_allocated();
  static_cast<void>(printed(tensor));
  CHECK(ebb::memory::max_memory_allocated() == before);
}

TEST_CASE("a tensor's type is named after device and dtype") {
  CHECK(ebb::zeros({1}).toString() == device_name() + "FloatType");
  CHECK(ebb::zeros({1}, ebb::kBFloat16).toString() == device_name() + "BFloat16Type");
  CHECK(ebb::zeros({1}, ebb::kLong).toString() == device_name() + "LongType");
}
