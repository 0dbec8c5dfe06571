#pragma once

#include <nlohmann/json.hpp>

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include <ebb/ebb.h>

// What the tour finds out: filled by run.cpp, shown by report.cpp.

namespace tour {

struct Options {
  int epochs = 8;
  int64_t batch_size = 64;
  std::string data;
  std::string text;  ///< for the GPT
  std::string json;  ///< files to write; empty: none
  std::string page;
  std::string device = "cpu";
  uint64_t seed = 1;
  int threads = 0;
  int64_t digits = 0;     ///< of each set at most; 0: all of them
  bool is_short = false;  ///< only the account of MNIST, of a part of the digits
  bool is_quick = false;  ///< the account as if short, and fewer steps by each technique
  bool is_small = false;  ///< small shapes for the techniques

  /// Whether the techniques are measured too.
  [[nodiscard]] bool has_techniques() const { return !is_short; }
  /// Whether the account is of a part of the digits, in one epoch.
  [[nodiscard]] bool is_part() const { return is_short || is_quick; }
};

/// One phase of training, over all its calls: the greatest peak above the start of a call, and what
/// the last call left (negative: gave back).
struct Phase {
  std::string name;
  int64_t calls = 0;
  int64_t peak_bytes = 0;
  int64_t net_bytes = 0;
  double seconds = 0;
};

struct CategoryBytes {
  std::string name;
  int64_t bytes = 0;
};

/// Allocated and reserved bytes at one moment.
struct Moment {
  std::string when;
  int64_t allocated = 0;
  int64_t reserved = 0;
};

struct Facts {
  std::string device;  ///< whose memory all figures are about
  double test_accuracy = 0;
  int64_t parameters = 0;
  int64_t peak_bytes = 0;
  double seconds = 0;
  std::vector<Phase> phases;
  std::vector<CategoryBytes> categories;  // at the moment of the peak
  std::vector<Moment> moments;
  int64_t evaluation_peak_no_grad = 0;
  int64_t evaluation_peak_with_grad = 0;
  int64_t host_peak_bytes = 0;  ///< of the CPU's memory, where the device is another
};

/// Trains and evaluates, and reports progress on stderr.
Facts run(const Options& options);

void print(const Facts& facts);
nlohmann::ordered_json to_json(const Facts& facts, const Options& options);
/// Throws if the file cannot be written; an existing one stays as it is then.
void write_json(const std::string& path, const nlohmann::ordered_json& json);
/// Throws if a file of that name could not be written: checked before the work begins.
void check_writable(const std::string& path);

}  // namespace tour
