// Trains a convolutional network on MNIST and says where every byte went.

#include <CLI/CLI.hpp>

#include <iostream>

#include "facts.h"

namespace {

/// Parses the options, or exits: with 0 after --help, with 2 and one line on stderr after a
/// mistake.
tour::Options parse(int argc, char** argv) {
  tour::Options options;
  options.data = EBB_EXAMPLES_DATA "/mnist";
  CLI::App app("Trains a convolutional network on MNIST and says where every byte went.", "tour");
  app.add_option("--epochs", options.epochs, "Passes over the training set")
      ->check(CLI::Range(1, 1000))
      ->capture_default_str();
  app.add_option("--batch-size", options.batch_size, "Images in a batch")
      ->check(CLI::Range(int64_t{1}, int64_t{60000}))
      ->capture_default_str();
  app.add_option("--data", options.data, "Folder with the IDX files, plain or .gz");
  app.add_option("--json", options.json, "Write the figures to this file too");
  app.add_option("--seed", options.seed, "Seed of all random numbers")->capture_default_str();
  app.add_option("--threads", options.threads, "Threads (0: as many as there are CPUs)")
      ->check(CLI::Range(0, 1024))
      ->capture_default_str();
  app.add_option("--device", options.device, "Where to train: cpu, cuda or cuda:N")
      ->capture_default_str();
  app.add_option("--digits", options.digits, "Digits of each set to use at most (0: all)")
      ->check(CLI::Range(int64_t{0}, int64_t{60000}))
      ->capture_default_str();
  app.add_flag("--short", options.quick, "One epoch over a part of the digits, for checks");
  try {
    app.parse(argc, argv);
  } catch (const CLI::CallForHelp& help) {
    std::exit(app.exit(help));
  } catch (const CLI::ParseError& error) {
    std::cerr << "tour: " << error.what() << " (see --help)\n";
    std::exit(2);
  }
  return options;
}

}  // namespace

int main(int argc, char** argv) {
  const tour::Options options = parse(argc, argv);
  try {
    if (!options.json.empty()) tour::check_writable(options.json);
    const tour::Facts facts = tour::run(options);
    tour::print(facts);
    if (!options.json.empty()) tour::write_json(facts, options);
  } catch (const std::exception& error) {
    std::cerr << "tour: " << error.what() << "\n";
    return 2;
  }
}
