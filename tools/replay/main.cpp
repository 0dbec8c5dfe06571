// Replays what a program asked for through the caching allocator under other settings, and says
// what each of them would reserve for it.

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <iostream>
#include <string>
#include <vector>

#include <ebb/core/error.h>

#include "replay.h"
#include "trace.h"

namespace {

struct Options {
  std::string file;
  std::vector<std::string> settings{""};
  size_t capacity = ebb::memory::AddressSource::kCapacity;
  std::string policy;
  bool json = false;
};

/// A trace under one of the settings.
struct Row {
  const replay::Trace* trace = nullptr;
  std::string settings;
  replay::Result result;
};

/// Parses the options, or exits: with 0 after --help, with 2 and one line on stderr after a
/// mistake.
Options parse(int argc, char** argv) {
  Options options;
  CLI::App app(
      "Replays a recorded history (a snapshot in JSON), or lines `a ID BYTES` and `f ID`, through "
      "the allocator, and prints what it reserves at most. Takes no memory of tensors. Exits with "
      "1 where a request finds no memory.",
      "replay");
  app.add_option("file", options.file, "The history; -: standard input")->required();
  app.add_option("--conf", options.settings,
                 "Settings as in EBB_ALLOC_CONF; each --conf gives a row")
      ->allow_extra_args(false);
  app.add_option("--capacity", options.capacity, "Bytes of the device, such as 80GiB")
      ->transform(CLI::AsSizeValue(false));
  app.add_option("--policy", options.policy,
                 "Which allocator: host gives idle segments back as sizes change, device keeps "
                 "them (as recorded; device for lines)")
      ->check(CLI::IsMember({"host", "device"}));
  app.add_flag("--json", options.json, "Print JSON");
  try {
    app.parse(argc, argv);
  } catch (const CLI::CallForHelp& help) {
    std::exit(app.exit(help));
  } catch (const CLI::ParseError& error) {
    std::cerr << "replay: " << error.what() << " (see --help)\n";
    std::exit(2);
  }
  return options;
}

replay::Setup setup_for(const replay::Trace& trace, const std::string& settings,
                        const Options& options) {
  const ebb::memory::ParsedConfig parsed = ebb::memory::parse_config(settings);
  for (const std::string& warning : parsed.warnings) {
    std::cerr << "replay: warning: " << warning << "\n";
  }
  const bool is_host = options.policy.empty() ? trace.device == "cpu" : options.policy == "host";
  return {parsed.config, options.capacity, is_host};
}

/// 1234567 as "1,234,567".
std::string grouped(int64_t number) {
  std::string text = std::to_string(number);
  for (size_t i = text.size(); i > 3;) text.insert(i -= 3, 1, ',');
  return text;
}

void print(const std::vector<Row>& rows) {
  size_t width = 9;  // of "(default)"
  for (const Row& row : rows) width = std::max(width, row.settings.size());
  const int columns = static_cast<int>(width);
  const replay::Trace* trace = nullptr;
  for (const Row& row : rows) {
    if (row.trace != trace) {
      std::printf("%s%s requests%s%s\n", trace == nullptr ? "" : "\n",
                  grouped(static_cast<int64_t>(row.trace->requests())).c_str(),
                  row.trace->device.empty() ? "" : " on ", row.trace->device.c_str());
      std::printf("%-*s %18s %18s %7s %9s\n", columns, "settings", "peak reserved",
                  "peak allocated", "ratio", "segments");
      trace = row.trace;
    }
    const replay::Result& result = row.result;
    std::printf("%-*s %18s %18s %7.3f %9s\n", columns,
                row.settings.empty() ? "(default)" : row.settings.c_str(),
                grouped(result.peak_reserved).c_str(), grouped(result.peak_allocated).c_str(),
                result.ratio(), grouped(result.segments_taken).c_str());
    if (result.failure) {
      std::printf("  ended at request %s: %s\n",
                  grouped(static_cast<int64_t>(result.failure->request)).c_str(),
                  result.failure->message.c_str());
    }
  }
}

nlohmann::json to_json(const std::vector<Row>& rows) {
  auto out = nlohmann::json::array();
  for (const Row& row : rows) {
    const replay::Result& result = row.result;
    nlohmann::json line{{"device", row.trace->device},
                        {"settings", row.settings},
                        {"requests", row.trace->requests()},
                        {"peak_reserved_bytes", result.peak_reserved},
                        {"peak_allocated_bytes", result.peak_allocated},
                        {"ratio", result.ratio()},
                        {"segments_taken", result.segments_taken}};
    line["failure"] = nullptr;
    if (const auto& failure = result.failure) {
      line["failure"] = {
          {"request", failure->request}, {"bytes", failure->bytes}, {"message", failure->message}};
    }
    out.push_back(std::move(line));
  }
  return out;
}

}  // namespace

int main(int argc, char** argv) {
  const Options options = parse(argc, argv);
  try {
    const std::vector<replay::Trace> traces = options.file == "-"
                                                  ? replay::read(std::cin, "standard input")
                                                  : replay::read_file(options.file);
    std::vector<Row> rows;
    for (const replay::Trace& trace : traces) {
      for (const std::string& settings : options.settings) {
        rows.push_back({&trace, settings, run(trace, setup_for(trace, settings, options))});
      }
    }
    if (options.json) {
      std::cout << to_json(rows).dump(2) << "\n";
    } else {
      print(rows);
    }
    return std::ranges::any_of(rows, [](const Row& row) { return row.result.failure.has_value(); });
  } catch (const std::exception& error) {
    std::cerr << "replay: " << error.what() << "\n";
    return 2;
  }
}
