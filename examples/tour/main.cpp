// Trains a convolutional network on MNIST and says where every byte went; then trains it and a
// small GPT with each memory technique, and compares.

#include <CLI/CLI.hpp>

#include <iostream>

#include "facts.h"
#include "table.h"
#include "text.h"

namespace {

/// Parses the options, or exits: with 0 after --help, with 2 and one line on stderr after a
/// mistake.
tour::Options parse(int argc, char** argv) {
  tour::Options options;
  options.data = EBB_EXAMPLES_DATA "/mnist";
  options.text = EBB_EXAMPLES_DATA "/shakespeare.txt";
  CLI::App app(
      "Trains a convolutional network on MNIST and says where every byte went; then measures what "
      "each memory technique saves and costs.",
      "tour");
  app.add_option("--epochs", options.epochs, "Passes over the training set")
      ->check(CLI::Range(1, 1000))
      ->capture_default_str();
  app.add_option("--batch-size", options.batch_size, "Images in a batch")
      ->check(CLI::Range(int64_t{1}, int64_t{60000}))
      ->capture_default_str();
  app.add_option("--data", options.data, "Folder with the IDX files, plain or .gz");
  app.add_option("--text", options.text, "The text that the GPT learns");
  app.add_option("--json", options.json,
                 "Write the figures to this file (tour.json; --short: none)");
  app.add_option("--page", options.page, "Write the page of pictures to this file (tour.html)");
  app.add_option("--seed", options.seed, "Seed of all random numbers")->capture_default_str();
  app.add_option("--threads", options.threads, "Threads (0: as many as there are CPUs)")
      ->check(CLI::Range(0, 1024))
      ->capture_default_str();
  app.add_option("--device", options.device, "Where to train: cpu, cuda or cuda:N")
      ->capture_default_str();
  app.add_option("--digits", options.digits, "Digits of each set to use at most (0: all)")
      ->check(CLI::Range(int64_t{0}, int64_t{60000}))
      ->capture_default_str();
  auto* is_short = app.add_flag("--short", options.is_short,
                                "One epoch over a part of the digits and no techniques");
  app.add_flag("--quick", options.is_quick, "The same, and few steps by each technique")
      ->excludes(is_short);
  app.add_flag("--small", options.is_small, "Small networks for the techniques");
  app.get_option("--page")->excludes(is_short);
  try {
    app.parse(argc, argv);
  } catch (const CLI::CallForHelp& help) {
    std::exit(app.exit(help));
  } catch (const CLI::ParseError& error) {
    std::cerr << "tour: " << error.what() << " (see --help)\n";
    std::exit(2);
  }
  if (options.has_techniques()) {
    if (options.json.empty()) options.json = "tour.json";
    if (options.page.empty()) options.page = "tour.html";
  }
  return options;
}

/// "64 images, 105,962 parameters, 10 steps"
std::string about(const std::string& batch, const tour::Network& network, size_t steps) {
  int64_t parameters = 0;
  for (const ebb::Tensor& parameter : network->parameters()) parameters += parameter.numel();
  return batch + ", " + tour::grouped(parameters) + " parameters, " + std::to_string(steps) +
         " steps";
}

std::vector<tour::Table> measure_techniques(const tour::Options& options) {
  const ebb::Device device = ebb::resolve(ebb::Device(options.device));
  const tour::Shapes shapes = options.is_small ? tour::Shapes::small() : tour::Shapes();
  const tour::Measuring measuring{device, shapes, options.seed, options.is_quick ? 1 : 2};
  const int64_t steps = options.is_quick ? 4 : 8;
  const auto convnet = tour::make_convnet;
  const auto gpt = [shapes](const tour::Recipe& recipe) { return make_gpt(recipe, shapes); };
  const std::string images = "batches of " + std::to_string(shapes.images) + " images";
  const std::string words = "batches of " + std::to_string(shapes.sequences) + " times " +
                            std::to_string(shapes.length) + " words of " +
                            std::to_string(shapes.words);
  const auto count = static_cast<size_t>(steps);
  const tour::Task digits{"MNIST convnet", about(images, convnet({}), count), convnet,
                          tour::digit_batches(options.data, steps, shapes.images),
                          tour::convnet_recipes(device)};
  const tour::Task text{
      "small GPT", about(words, gpt({}), count), gpt,
      tour::word_batches(options.text, steps, shapes.sequences, shapes.length, shapes.words),
      tour::gpt_recipes(device)};
  return {tour::measure(digits, measuring), tour::measure(text, measuring)};
}

}  // namespace

int main(int argc, char** argv) {
  const tour::Options options = parse(argc, argv);
  try {
    for (const std::string& path : {options.json, options.page}) {
      if (!path.empty()) tour::check_writable(path);
    }
    if (options.has_techniques()) tour::check_readable(options.text);
    const tour::Facts facts = tour::run(options);
    tour::print(facts);
    auto json = tour::to_json(facts, options);
    if (options.has_techniques()) {
      const std::vector<tour::Table> tables = measure_techniques(options);
      tour::print(tables);
      json["machine"] = tour::machine();
      json["techniques"] = tour::to_json(tables);
      tour::write_page(options.page, tables);
    }
    if (!options.json.empty()) tour::write_json(options.json, json);
  } catch (const std::exception& error) {
    std::cerr << "tour: " << error.what() << "\n";
    return 2;
  }
}
