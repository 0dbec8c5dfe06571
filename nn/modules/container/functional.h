#pragma once

#include <functional>
#include <utility>

#include <ebb/nn/cloneable.h>
#include <ebb/nn/module_holder.h>

namespace ebb::nn {

/// A function of a tensor as a module; further arguments are bound to it:
/// `Functional(ebb::softmax, 1, std::nullopt)`.
class EBB_API FunctionalImpl : public Cloneable<FunctionalImpl> {
 public:
  using Function = std::function<Tensor(Tensor)>;

  explicit FunctionalImpl(Function function) : function_(std::move(function)) {}
  template <typename F, typename... Arguments>
  requires(sizeof...(Arguments) > 0) explicit FunctionalImpl(F function, Arguments... arguments)
      : function_([function, arguments...](Tensor input) -> Tensor {
          return function(std::move(input), arguments...);
        }) {}

  void reset() override {}
  void pretty_print(std::ostream& stream) const override { stream << "ebb::nn::Functional()"; }
  Tensor forward(Tensor input) { return function_(std::move(input)); }
  Tensor operator()(Tensor input) { return function_(std::move(input)); }

 private:
  Function function_;
};
EBB_MODULE(Functional);

}  // namespace ebb::nn
