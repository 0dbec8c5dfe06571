#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <stdexcept>

#include "facts.h"
#include "text.h"

namespace tour {

namespace {

void print_row(const std::string& label, int64_t first, int64_t second) {
  std::printf("  %-34s %14s %14s\n", label.c_str(), grouped(first).c_str(),
              grouped(second).c_str());
}

void print_header(const char* title, const char* first, const char* second) {
  std::printf("\n  %-34s %14s %14s\n", title, first, second);
}

/// Whether `path` is a device or a pipe, which is written to and must not be replaced by a file.
bool is_special(const std::string& path) {
  std::error_code status;
  return std::filesystem::is_other(path, status);
}

/// A file beside `path`, to be renamed to it once it is whole.
std::string temporary_name(const std::string& path) {
  return is_special(path) ? path : path + ".part";
}

[[noreturn]] void fail_to_write(const std::string& path) {
  const std::string why = errno == 0 ? "it is a folder" : std::strerror(errno);
  throw std::runtime_error("cannot write " + path + ": " + why);
}

}  // namespace

void print(const Facts& facts) {
  std::printf("\ntest accuracy %.2f %%, %s parameters, %.1f s, peak %s bytes on %s\n",
              100 * facts.test_accuracy, grouped(facts.parameters).c_str(), facts.seconds,
              grouped(facts.peak_bytes).c_str(), facts.device.c_str());
  if (facts.host_peak_bytes > 0) {
    std::printf("the host's tensors (digits and batches on their way): peak %s bytes on cpu\n",
                grouped(facts.host_peak_bytes).c_str());
  }

  print_header("phase (bytes above its start)", "peak", "net, last call");
  for (const Phase& phase : facts.phases) print_row(phase.name, phase.peak_bytes, phase.net_bytes);

  std::printf("\n  %-34s %14s\n", "what was live at the peak", "bytes");
  int64_t total = 0;
  for (const CategoryBytes& category : facts.categories) {
    total += category.bytes;
    if (category.bytes != 0) {
      std::printf("  %-34s %14s\n", category.name.c_str(), grouped(category.bytes).c_str());
    }
  }
  std::printf("  %-34s %14s\n", "together", grouped(total).c_str());

  print_header("moment (bytes)", "allocated", "reserved");
  for (const Moment& moment : facts.moments) {
    print_row(moment.when, moment.allocated, moment.reserved);
  }
  std::printf(
      "  Allocated bytes belong to tensors; reserved bytes are what the allocator holds from the\n"
      "  system. When the model goes out of scope its blocks become free but stay reserved, so "
      "that\n"
      "  the next request needs no system call; empty_cache() gives segments that are wholly free\n"
      "  back.\n");

  std::printf("\n  %-34s %14s\n", "evaluation of one batch", "peak bytes");
  std::printf("  %-34s %14s\n", "with the graph recorded",
              grouped(facts.evaluation_peak_with_grad).c_str());
  std::printf("  %-34s %14s\n", "under NoGradGuard",
              grouped(facts.evaluation_peak_no_grad).c_str());
}

void check_writable(const std::string& path) {
  errno = 0;
  std::error_code status;
  if (std::filesystem::is_directory(path, status)) {
    errno = EISDIR;
    fail_to_write(path);
  }
  if (is_special(path)) return;  // a pipe has to wait for its reader
  const std::string temporary = temporary_name(path);
  const bool can_open = std::ofstream(temporary).is_open();
  if (!can_open) fail_to_write(path);
  std::filesystem::remove(temporary, status);
}

nlohmann::ordered_json to_json(const Facts& facts, const Options& options) {
  nlohmann::ordered_json json;
  json["test_accuracy"] = facts.test_accuracy;
  json["device"] = facts.device;
  json["peak_bytes"] = facts.peak_bytes;
  if (facts.host_peak_bytes > 0) json["host_peak_bytes"] = facts.host_peak_bytes;
  json["parameters"] = facts.parameters;
  json["seconds"] = facts.seconds;
  json["epochs"] = options.epochs;
  json["batch_size"] = options.batch_size;
  json["seed"] = options.seed;
  json["threads"] = ebb::get_num_threads();
  for (const Phase& phase : facts.phases) {
    json["phases"][phase.name] = {{"calls", phase.calls},
                                  {"peak_bytes", phase.peak_bytes},
                                  {"net_bytes", phase.net_bytes},
                                  {"seconds", phase.seconds}};
  }
  for (const CategoryBytes& category : facts.categories) {
    json["categories"][category.name] = category.bytes;
  }
  for (const Moment& moment : facts.moments) {
    json["moments"].push_back({{"when", moment.when},
                               {"allocated_bytes", moment.allocated},
                               {"reserved_bytes", moment.reserved}});
  }
  json["evaluation"] = {{"peak_bytes_with_graph", facts.evaluation_peak_with_grad},
                        {"peak_bytes_no_grad", facts.evaluation_peak_no_grad}};
  return json;
}

void write_json(const std::string& path, const nlohmann::ordered_json& json) {
  const std::string temporary = temporary_name(path);
  errno = 0;
  std::ofstream file(temporary);
  file << json.dump(2) << '\n';
  file.close();
  std::error_code status;
  if (file && temporary != path) {
    std::filesystem::rename(temporary, path, status);
  }
  if (!file || status) {
    if (status) errno = status.value();
    if (temporary != path) std::filesystem::remove(temporary, status);
    fail_to_write(path);
  }
}

}  // namespace tour
