#include <ebb/autograd/anomaly.h>

#include <ebb/autograd/grad_mode.h>
#include <ebb/autograd/node.h>

namespace ebb::autograd {

void check_for_nan(const Node& node, const variable_list& gradients) {
  const NoGradGuard no_grad;
  for (size_t i = 0; i < gradients.size(); ++i) {
    const Tensor& gradient = gradients[i];
    if (!gradient.defined() || !gradient.is_floating_point()) continue;
    EBB_CHECK(!gradient.isnan().any().item<bool>(), "Function '", node.name(),
              "' returned nan values in its ", i, "th output: the gradient of input ", i,
              " (sizes ", gradient.sizes(), ") of the forward op ", node.describe_op());
  }
}

}  // namespace ebb::autograd
