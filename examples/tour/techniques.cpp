#include "techniques.h"

#include <ebb/testing/measure.h>

#include <chrono>
#include <cmath>
#include <cstdio>
#include <memory>
#include <optional>

namespace tour {

namespace {

namespace optim = ebb::optim;
using ebb::Tensor;

constexpr double kLearningRate = 1e-3;
constexpr double kSgdLearningRate = 0.05;

template <typename Options>
Options with_copies(Options options, const Recipe& recipe) {
  options.master_weights(recipe.master_weights);
  options.stochastic_rounding(recipe.stochastic_rounding);
  return options;
}

std::unique_ptr<optim::Optimizer> make_optimizer(const Recipe& recipe,
                                                 const std::vector<Tensor>& parameters) {
  switch (recipe.optimizer) {
    case OptimizerKind::adam:
      return std::make_unique<optim::Adam>(parameters,
                                           with_copies(optim::AdamOptions(kLearningRate), recipe));
    case OptimizerKind::momentum:
      return std::make_unique<optim::SGD>(
          parameters, with_copies(optim::SGDOptions(kSgdLearningRate).momentum(0.9), recipe));
    case OptimizerKind::sgd:
      return std::make_unique<optim::SGD>(parameters,
                                          with_copies(optim::SGDOptions(kSgdLearningRate), recipe));
    case OptimizerKind::adam8bit:
      return std::make_unique<optim::Adam8bit>(parameters, optim::Adam8bitOptions(kLearningRate));
    case OptimizerKind::adafactor:
      return std::make_unique<optim::Adafactor>(parameters);
  }
  throw std::logic_error("a recipe without an optimizer");
}

/// A network, its optimizer, and a step by the recipe: every technique in one place.
class Trainer {
 public:
  Trainer(const Task& task, const Recipe& recipe, const Measuring& measuring)
      : recipe_(recipe), measuring_(measuring), network_(task.make(recipe)) {
    network_->to(measuring.device, recipe.weights);
    optimizer_ = make_optimizer(recipe, network_->trained_parameters());
    if (recipe.step_in_backward) in_backward_.emplace(optim::step_in_backward(*optimizer_));
    // Float16 gradients would vanish; so short a run needs a scale that fits from the start.
    if (recipe.autocast == ebb::kHalf) {
      scaler_.emplace(ebb::amp::GradScalerOptions().init_scale(1024));
    }
  }

  double step(const Batch& batch) {
    Tensor input;
    Tensor target;
    {
      const ebb::memory::InputGuard inputs;
      input = batch.input.to(
          measuring_.device,
          batch.input.is_floating_point() ? recipe_.weights : batch.input.scalar_type(),
          /*non_blocking=*/false, /*copy=*/true);
      target = batch.target.to(measuring_.device, batch.target.scalar_type(), false, true);
    }
    double loss = 0;
    const int64_t size = input.size(0);
    for (const auto& part : ebb::accumulate_to(size, size / recipe_.micro_batches)) {
      loss += backward(part, part.of(input), part.of(target));
    }
    if (!in_backward_) update();
    return loss;
  }

 private:
  double backward(const ebb::MicroBatch& part, const Tensor& input, const Tensor& target) {
    const auto only_adds =
        in_backward_ && !part.is_last() ? in_backward_->accumulate() : std::shared_ptr<void>();
    Tensor loss = forward(input, target);
    if (part.size < part.batch) loss = loss * part.weight();
    const double value = loss.item<double>();
    const ebb::memory::Scope scope("backward", measuring_.device);
    if (scaler_) loss = scaler_->scale(loss);
    loss.backward();
    return value;
  }

  Tensor forward(const Tensor& input, const Tensor& target) {
    const ebb::memory::Scope scope("forward", measuring_.device);
    std::optional<ebb::amp::AutocastGuard> autocast;
    if (recipe_.autocast) autocast.emplace(measuring_.device.type(), *recipe_.autocast);
    std::optional<ebb::SaveOnCpu> offload;
    if (recipe_.save_on_cpu) {
      offload.emplace(ebb::SaveOnCpuOptions{.min_bytes = measuring_.shapes.offload_bytes});
    }
    std::optional<ebb::SaveAs> narrow;
    if (recipe_.save_as) narrow.emplace(*recipe_.save_as);
    return network_->loss(input, target, recipe_);
  }

  void update() {
    const ebb::memory::Scope scope("step", measuring_.device);
    if (scaler_) {
      scaler_->step(*optimizer_);
      scaler_->update();
    } else {
      optimizer_->step();
    }
    optimizer_->zero_grad();
  }

  const Recipe& recipe_;
  const Measuring& measuring_;
  Network network_;
  std::unique_ptr<optim::Optimizer> optimizer_;
  std::optional<optim::StepInBackward> in_backward_;
  std::optional<ebb::amp::GradScaler> scaler_;
};

double seconds_of(const std::function<void()>& body, ebb::Device device) {
  const auto start = std::chrono::steady_clock::now();
  body();
  if (device.is_cuda()) ebb::cuda::synchronize();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

/// Trains, and records the last step, which is not timed. The first one is not either: it
/// allocates.
void train(const Task& task, const Measuring& measuring, Row& row) {
  ebb::manual_seed(measuring.seed);
  Trainer trainer(task, row.recipe, measuring);
  row.losses.clear();
  for (size_t i = 0; i < task.batches.size(); ++i) {
    const bool is_last = i + 1 == task.batches.size();
    if (is_last) {
      ebb::memory::set_scopes_enabled(true);
      ebb::memory::record_history();
    }
    const double seconds =
        seconds_of([&] { row.losses.push_back(trainer.step(task.batches[i])); }, measuring.device);
    if (!is_last && i > 0) {
      row.seconds = row.seconds == 0 ? seconds : std::min(row.seconds, seconds);
    }
  }
  row.last_step = ebb::memory::stop_history();
  ebb::memory::set_scopes_enabled(false);
}

/// From an empty cache, so that the segments are the recipe's own.
void measure_row(const Task& task, const Measuring& measuring, Row& row) {
  ebb::memory::empty_cache(measuring.device);
  ebb::memory::reset_peak_memory_stats(measuring.device);
  const auto used = ebb::testing::measure([&] { train(task, measuring, row); }, measuring.device);
  row.peak_bytes = used.peak_bytes;
  row.categories = ebb::memory::categories_at_peak(measuring.device);
  row.reserved_bytes = ebb::memory::max_memory_reserved(measuring.device);
}

}  // namespace

int64_t Table::saved(const Row& row) const { return baseline().peak_bytes - row.peak_bytes; }

double Table::change(const Row& row) const {
  return -static_cast<double>(saved(row)) / static_cast<double>(baseline().peak_bytes);
}

double Table::time_ratio(const Row& row) const { return row.seconds / baseline().seconds; }

double Table::loss_difference(const Row& row) const {
  double most = 0;
  for (size_t i = 0; i < row.losses.size(); ++i) {
    const double difference = std::abs(row.losses[i] - baseline().losses[i]);
    if (!(difference <= most)) most = difference;  // a NaN shows
  }
  return most;
}

std::vector<Saving> cheapest_first(const Table& table, bool same_loss) {
  std::vector<Saving> all;
  for (const Row& row : table.rows) {
    const bool is_same = table.loss_difference(row) <= kRounding;
    if (table.saved(row) <= 0 || (same_loss && !is_same)) continue;
    all.push_back({&row, table.saved(row), table.time_ratio(row)});
  }
  std::stable_sort(all.begin(), all.end(), [](const Saving& a, const Saving& b) {
    return a.time_ratio != b.time_ratio ? a.time_ratio < b.time_ratio : a.bytes > b.bytes;
  });
  std::vector<Saving> best;
  for (const Saving& saving : all) {
    if (best.empty() || saving.bytes > best.back().bytes) best.push_back(saving);
  }
  return best;
}

Table measure(const Task& task, const Measuring& measuring) {
  Table table{task.name, task.about, {}};
  for (const Recipe& recipe : task.recipes) table.rows.emplace_back().recipe = recipe;
  for (int round = 1; round <= measuring.rounds; ++round) {
    for (Row& row : table.rows) {
      measure_row(task, measuring, row);
      std::fprintf(stderr, "%s, round %d/%d: %s\n", task.name.c_str(), round, measuring.rounds,
                   row.recipe.name.c_str());
    }
  }
  ebb::memory::empty_cache(measuring.device);
  return table;
}

}  // namespace tour
