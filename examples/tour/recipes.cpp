#include "techniques.h"

// The rows of the tables as data: what each recipe changes, and why that saves.

namespace tour {

namespace {

using ebb::kBFloat16;
using ebb::kByte;
using ebb::kHalf;

/// What depends on neither network.
std::vector<Recipe> common_recipes() {
  return {
      {.name = "baseline", .why = "float32, Adam, the whole batch at once"},
      {.name = "4 micro-batches",
       .why = "a quarter of the batch at a time, gradients add up",
       .micro_batches = 4},
      {.name = "autocast bfloat16",
       .why = "products and what they keep take two bytes",
       .autocast = kBFloat16},
      {.name = "autocast float16, GradScaler",
       .why = "the same, with more digits and a scaled loss",
       .autocast = kHalf},
      {.name = "bfloat16 weights, copies",
       .why = "all in two bytes, the loss too; steps in float32 copies",
       .weights = kBFloat16,
       .master_weights = true},
      {.name = "bfloat16 weights, rounding",
       .why = "all in two bytes, the loss too; steps rounded by chance",
       .weights = kBFloat16,
       .stochastic_rounding = true},
      {.name = "SaveAs float16",
       .why = "what backward needs is kept in two bytes",
       .save_as = kHalf},
      {.name = "SaveAs bfloat16",
       .why = "the same, with fewer digits and float32's range",
       .save_as = kBFloat16},
      {.name = "SaveAs 8 bits", .why = "kept in one byte, scaled by blocks", .save_as = kByte},
      {.name = "step in backward",
       .why = "each gradient is used and freed at once",
       .step_in_backward = true},
      {.name = "Adam8bit",
       .why = "Adam's state in two bytes a weight, not eight",
       .optimizer = OptimizerKind::adam8bit},
      {.name = "Adafactor",
       .why = "state for rows and columns, not for each weight",
       .optimizer = OptimizerKind::adafactor},
      {.name = "SGD with momentum",
       .why = "state in four bytes a weight",
       .optimizer = OptimizerKind::momentum},
      {.name = "SGD", .why = "no state", .optimizer = OptimizerKind::sgd},
  };
}

/// On the CPU there is no other memory to move to.
void add_offload(std::vector<Recipe>& recipes, ebb::Device device) {
  if (device.is_cpu()) return;
  recipes.push_back({.name = "SaveOnCpu",
                     .why = "what backward needs waits in the host's memory",
                     .save_on_cpu = true});
  recipes.push_back({.name = "SaveOnCpu, SaveAs float16",
                     .why = "half the bytes over the bus",
                     .save_as = kHalf,
                     .save_on_cpu = true});
}

}  // namespace

std::vector<Recipe> convnet_recipes(ebb::Device device) {
  std::vector<Recipe> recipes = common_recipes();
  recipes.push_back({.name = "relu in place",
                     .why = "over what batch norm gave; the peak is in backward",
                     .inplace = true});
  recipes.push_back({.name = "checkpoint, 2 segments",
                     .why = "the first half of the layers runs again in backward",
                     .segments = 2});
  recipes.push_back({.name = "frozen convolutions",
                     .why = "layers that are not trained keep nothing",
                     .frozen = true});
  add_offload(recipes, device);
  recipes.push_back({.name = "in place, 4 parts, step in backward",
                     .why = "three that belong together",
                     .inplace = true,
                     .micro_batches = 4,
                     .step_in_backward = true});
  return recipes;
}

std::vector<Recipe> gpt_recipes(ebb::Device device) {
  std::vector<Recipe> recipes = common_recipes();
  recipes.push_back({.name = "tiled attention",
                     .why = "weights of pairs of words are never held",
                     .tiled_attention = true});
  recipes.push_back({.name = "chunked loss",
                     .why = "the logits of all words are never held",
                     .chunked_loss = true});
  recipes.push_back({.name = "tiled attention, chunked loss",
                     .why = "neither is held",
                     .tiled_attention = true,
                     .chunked_loss = true});
  recipes.push_back(
      {.name = "tied weights", .why = "one table reads words and writes them", .tied = true});
  recipes.push_back(
      {.name = "LoRA of rank 8", .why = "frozen layers, updates of low rank", .lora_rank = 8});
  recipes.push_back({.name = "checkpoint each block",
                     .why = "a block keeps its input and runs again in backward",
                     .segments = Recipe::kEachLayer});
  recipes.push_back({.name = "checkpoint, autocast bfloat16",
                     .why = "the same, in two bytes",
                     .autocast = kBFloat16,
                     .segments = Recipe::kEachLayer});
  recipes.push_back({.name = "checkpoint, never held, step in backward",
                     .why = "blocks run again, no logits, one gradient at a time",
                     .tiled_attention = true,
                     .chunked_loss = true,
                     .segments = Recipe::kEachLayer,
                     .step_in_backward = true});
  add_offload(recipes, device);
  recipes.push_back({.name = "never held, in place, step in backward",
                     .why = "four that change no number but by rounding",
                     .inplace = true,
                     .tiled_attention = true,
                     .chunked_loss = true,
                     .step_in_backward = true});
  recipes.push_back({.name = "the same, autocast, 8 bits, 4 parts",
                     .why = "with bfloat16, Adam8bit and 4 micro-batches",
                     .autocast = kBFloat16,
                     .inplace = true,
                     .tiled_attention = true,
                     .chunked_loss = true,
                     .micro_batches = 4,
                     .optimizer = OptimizerKind::adam8bit,
                     .step_in_backward = true});
  return recipes;
}

}  // namespace tour
