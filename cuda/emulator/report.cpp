#include <ebb/cuda/emulator/report.h>

#include <cstdio>
#include <fstream>
#include <utility>
#include <vector>

#include <ebb/cuda/emulator/state.h>
#include <ebb/cuda/emulator/streams.h>

namespace ebb::cuda::emulator {

namespace {

std::vector<std::string>& reports() {
  static auto& reports = *new std::vector<std::string>;
  return reports;
}

/// The program as it was called, up to its first option.
std::string program() {
  std::ifstream file("/proc/self/cmdline", std::ios::binary);
  std::string name;
  std::getline(file, name, '\0');
  return name.empty() ? "the program" : name;
}

}  // namespace

std::string reproduction() {
  const State& s = state();
  std::string line = "EBB_CUDA_EMULATOR_SEED=" + std::to_string(s.seed) + " " + program();
  if (!s.test.empty()) line += " \"" + s.test + "\"";
  return line;
}

void report(const std::string& text, cudaError_t error) {
  const std::string whole =
      "ebb CUDA emulator: " + text + "\n  reproduce: " + reproduction() + "\n";
  if (state().print_reports) std::fputs(whole.c_str(), stderr);
  reports().push_back(whole);
  state().sticky = error;
  state().fault = whole;
  drop_everything();
}

std::string fault_report() {
  const std::lock_guard lock(mutex());
  return state().fault;
}

std::vector<std::string> take_reports() {
  const std::lock_guard lock(mutex());
  return std::exchange(reports(), {});
}

void set_print_reports(bool print) {
  const std::lock_guard lock(mutex());
  state().print_reports = print;
}

std::vector<std::string> recover() {
  const std::lock_guard lock(mutex());
  drop_everything();
  state().sticky = cudaSuccess;
  state().fault.clear();
  last_error() = cudaSuccess;
  return std::exchange(reports(), {});
}

std::string str(const Place& place) {
  return std::string(place.file) + ":" + std::to_string(place.line);
}

std::string str(const uint3& index) {
  return "(" + std::to_string(index.x) + ", " + std::to_string(index.y) + ", " +
         std::to_string(index.z) + ")";
}

std::string describe(const Launch& launch) {
  return "kernel " + kernel_name(launch.kernel->address()) + "<<<" + str(uint3(launch.grid)) +
         ", " + str(uint3(launch.block)) + ">>>\n  launched at " + str(launch.place);
}

}  // namespace ebb::cuda::emulator
