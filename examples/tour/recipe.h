#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include <ebb/ebb.h>

namespace tour {

enum class OptimizerKind { adam, momentum, sgd, adam8bit, adafactor };

/// One way to train a network: the baseline, with what is set here changed.
struct Recipe {
  std::string name;
  std::string why;  ///< a line for the table

  // How forward runs and what it keeps.
  std::optional<ebb::ScalarType> autocast = {};
  std::optional<ebb::ScalarType> save_as = {};
  bool save_on_cpu = false;
  bool inplace = false;
  bool tiled_attention = false;
  bool chunked_loss = false;
  static constexpr int64_t kEachLayer = -1;
  int64_t segments = 0;  ///< of the body, all but the last as regions; 0: no regions

  // What is trained, and in which dtype.
  ebb::ScalarType weights = ebb::kFloat;
  bool master_weights = false;       ///< float32 copies of weights of two bytes
  bool stochastic_rounding = false;  ///< of weights of two bytes without copies
  bool tied = false;                 ///< the table of words is the last layer's weight too
  bool frozen = false;               ///< the convolutions are not trained
  int64_t lora_rank = 0;  ///< above 0: the projections are frozen, with updates of low rank

  // How a step is made.
  int64_t micro_batches = 1;
  OptimizerKind optimizer = OptimizerKind::adam;
  bool step_in_backward = false;
};

/// The sizes of both networks and of their batches.
struct Shapes {
  int64_t images = 64;
  int64_t sequences = 8;
  int64_t length = 128;  ///< tokens of a sequence
  int64_t words = 2048;  ///< of the vocabulary
  int64_t width = 128;
  int64_t heads = 4;
  int64_t layers = 4;
  int64_t offload_bytes = 256 * 1024;  ///< SaveOnCpu leaves smaller tensors alone

  /// For a device that is slow because it is emulated.
  static Shapes small() { return {8, 4, 32, 256, 32, 2, 2, 4096}; }
};

}  // namespace tour
