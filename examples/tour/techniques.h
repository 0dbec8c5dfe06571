#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include <ebb/ebb.h>

#include "batches.h"
#include "models.h"
#include "recipe.h"

// What the techniques cost and save: measured by techniques.cpp, shown by table.cpp.

namespace tour {

/// A network with its data and the ways to train it; the first is the baseline.
struct Task {
  std::string name;
  std::string about;  ///< network and batch in a line
  std::function<Network(const Recipe&)> make;
  std::vector<Batch> batches;  ///< one for each step
  std::vector<Recipe> recipes;
};

/// What training by one recipe took.
struct Row {
  Recipe recipe;
  int64_t peak_bytes = 0;  ///< above what was there before the network was made
  std::array<int64_t, ebb::memory::kCategories> categories{};  ///< at the peak
  int64_t reserved_bytes = 0;                                  ///< at most
  double seconds = 0;                                          ///< of the quickest step
  std::vector<double> losses;                                  ///< of each step
  ebb::memory::Recording last_step;
};

/// A task and its rows, the baseline first.
struct Table {
  std::string name;
  std::string about;
  std::vector<Row> rows;

  [[nodiscard]] const Row& baseline() const { return rows.front(); }
  /// Bytes that a row needs less than the baseline; negative: more.
  [[nodiscard]] int64_t saved(const Row& row) const;
  /// The change of the peak against the baseline's: -0.25 is a quarter less.
  [[nodiscard]] double change(const Row& row) const;
  /// How long a step takes, in steps of the baseline.
  [[nodiscard]] double time_ratio(const Row& row) const;
  /// The largest difference of a step's loss from the baseline's.
  [[nodiscard]] double loss_difference(const Row& row) const;
};

/// An entry of "to save N bytes": up to so many, nothing costs less time than this row.
struct Saving {
  const Row* row;
  int64_t bytes;
  double time_ratio;
};

/// The rows that no other row beats in both bytes and time, the cheapest first; `same_loss`: of
/// those whose loss is the baseline's to rounding.
std::vector<Saving> cheapest_first(const Table& table, bool same_loss);
/// How far a loss may be off to be the same to rounding.
inline constexpr double kRounding = 1e-4;

/// The recipes of the two networks, for a device: recipes.cpp.
std::vector<Recipe> convnet_recipes(ebb::Device device);
std::vector<Recipe> gpt_recipes(ebb::Device device);

/// How to measure.
struct Measuring {
  ebb::Device device;
  Shapes shapes;
  uint64_t seed = 1;
  int rounds = 1;  ///< how often each recipe is timed; the quickest step of all counts
};

/// Trains by each recipe for as many steps as the task has batches, every time a new network from
/// the same seed, and reports progress on stderr.
Table measure(const Task& task, const Measuring& measuring);

}  // namespace tour
