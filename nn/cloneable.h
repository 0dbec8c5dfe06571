#pragma once

#include <memory>
#include <optional>

#include <ebb/autograd/grad_mode.h>
#include <ebb/nn/module.h>

namespace ebb::nn {

/// A module that can be cloned: `Derived` builds all that it registers in `reset()`, which its
/// constructor calls too. A clone is a copy of the object, made anew by `reset()`, with copies of
/// the original's parameters and buffers; it shares no memory with the original.
template <typename Derived>
class Cloneable : public Module {
 public:
  using Module::Module;

  /// Registers parameters, buffers and submodules, and gives them their first values.
  virtual void reset() = 0;

  /// A deep copy, on `device` if given. Throws an Error if reset() does not register what the
  /// original has.
  [[nodiscard]] std::shared_ptr<Module> clone(
      const std::optional<Device>& device = std::nullopt) const override {
    const NoGradGuard no_grad;
    auto copy = std::make_shared<Derived>(static_cast<const Derived&>(*this));
    Module& fresh = *copy;
    fresh.forget();
    copy->reset();
    fresh.take_values(*this, device);
    return copy;
  }

 private:
  void clone_(Module& original, const std::optional<Device>& device) final {
    // This module is a member of a fresh parent, whose fields hold it: it stays, its content goes.
    const auto copy = std::dynamic_pointer_cast<Derived>(original.clone(device));
    EBB_CHECK(copy != nullptr, "clone: the submodule ", original.name(),
              " and what reset() makes in its place are of different types");
    static_cast<Derived&>(*this) = *copy;
  }
};

}  // namespace ebb::nn
