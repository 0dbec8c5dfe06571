#pragma once

#include <ebb/nn/cloneable.h>
#include <ebb/nn/module_holder.h>
#include <ebb/nn/modules/linear.h>
#include <ebb/nn/options/lora.h>

namespace ebb::nn {

/// A frozen Linear with an update of low rank that is trained: base(input) + alpha / rank *
/// input @ lora_a^T @ lora_b^T (Hu et al., "LoRA: low-rank adaptation of large language models",
/// 2021). lora_a [rank, in] starts as the weight of a Linear does, lora_b [out, rank] with zeros,
/// so that training starts at the frozen layer. Gradients and optimizer state are those of rank *
/// (in + out) parameters instead of in * out; forward keeps the input and [..., rank].
class EBB_API LoRALinearImpl : public Cloneable<LoRALinearImpl> {
 public:
  /// Over a new Linear, which is frozen: its values are to be loaded or copied.
  explicit LoRALinearImpl(const LoRALinearOptions& options);
  /// Over a layer that exists: its weight and bias are shared, in memory too, and frozen.
  LoRALinearImpl(Linear layer, int64_t rank);
  LoRALinearImpl(Linear layer, int64_t rank, double alpha);
  void reset() override;
  void reset_parameters();
  void pretty_print(std::ostream& stream) const override;
  /// Throws an Error in training while the update is merged, where it could not be trained.
  Tensor forward(const Tensor& input);

  /// Adds the update to the weight of the base, for inference at the cost of the base alone, or
  /// takes it off again, to rounding. Everybody who shares the weight sees it. Throws an Error if
  /// it is merged already, or is not.
  void merge();
  void unmerge();
  [[nodiscard]] bool is_merged() const noexcept { return merged_; }
  /// alpha / rank.
  [[nodiscard]] double scaling() const;

  LoRALinearOptions options;
  Linear base{nullptr};
  Tensor lora_a;
  Tensor lora_b;

 private:
  void adapt();
  void add_update(double factor);

  bool merged_ = false;
};
EBB_MODULE(LoRALinear);

}  // namespace ebb::nn
