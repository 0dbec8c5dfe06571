#pragma once

#include <ebb/nn/cloneable.h>
#include <ebb/nn/module_holder.h>
#include <ebb/nn/options/dropout.h>

namespace ebb::nn {

/// In training: zeros with probability p, the rest scaled by 1 / (1 - p) (Srivastava et al., 2014).
/// In evaluation: its input.
class EBB_API DropoutImpl : public Cloneable<DropoutImpl> {
 public:
  explicit DropoutImpl(double p) : DropoutImpl(DropoutOptions(p)) {}
  /// Throws an Error unless 0 <= p <= 1.
  explicit DropoutImpl(const DropoutOptions& options = {});
  void reset() override;
  void pretty_print(std::ostream& stream) const override;
  Tensor forward(Tensor input);

  DropoutOptions options;
};
EBB_MODULE(Dropout);

}  // namespace ebb::nn
