#include <ebb/nn/modules/dropout.h>

#include <ebb/nn/functional.h>

namespace ebb::nn {

DropoutImpl::DropoutImpl(const DropoutOptions& options) : options(options) { DropoutImpl::reset(); }

void DropoutImpl::reset() {
  EBB_CHECK(options.p() >= 0 && options.p() <= 1,
            "dropout probability has to be between 0 and 1, but got ", options.p());
}

void DropoutImpl::pretty_print(std::ostream& stream) const {
  stream << "ebb::nn::Dropout(p=" << options.p()
         << ", inplace=" << (options.inplace() ? "true" : "false") << ")";
}

Tensor DropoutImpl::forward(Tensor input) {
  return functional::dropout(std::move(input), functional::DropoutFuncOptions()
                                                   .p(options.p())
                                                   .training(is_training())
                                                   .inplace(options.inplace()));
}

}  // namespace ebb::nn
