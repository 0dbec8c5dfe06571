#pragma once

#include <memory>
#include <optional>

#include <ebb/autograd/grad_mode.h>
#include <ebb/nn/module.h>

namespace ebb::nn {

/// A module that can be cloned: `Derived` builds all that it registers in `reset()`, which its
/// constructor calls too. A clone is a copy of the object, made anew by `reset()`, with the values
/// of the original's parameters and buffers.
template <typename Derived>
class Cloneable : public Module {
 public:
  using Module::Module;

  /// Registers parameters, buffers and submodules, and gives them their first values.
  virtual void reset() = 0;

  [[nodiscard]] std::shared_ptr<Module> clone(
      const std::optional<Device>& device = std::nullopt) const override {
    NoGradGuard no_grad;
    const auto& self = static_cast<const Derived&>(*this);
    auto copy = std::make_shared<Derived>(self);
    copy->parameters_.clear();
    copy->buffers_.clear();
    copy->children_.clear();
    copy->reset();
    check_same_names(copy->parameters_.size() == parameters_.size(), "parameters");
    copy_values(parameters_, copy->parameters_, device);
    check_same_names(copy->buffers_.size() == buffers_.size(), "buffers");
    copy_values(buffers_, copy->buffers_, device);
    check_same_names(copy->children_.size() == children_.size(), "submodules");
    for (const auto& child : children_) {
      copy->children_[child.key()]->clone_(*child.value(), device);
    }
    return copy;
  }

 private:
  void check_same_names(bool same, const char* what) const {
    EBB_CHECK(same, "clone: the copy of ", name(), " has other ", what,
              " than the original; register all of them in reset(), not in the constructor");
  }

  static void copy_values(const OrderedDict<std::string, Tensor>& from,
                          OrderedDict<std::string, Tensor>& to,
                          const std::optional<Device>& device) {
    for (const auto& item : from) {
      const Tensor& tensor = item.value();
      Tensor& target = to[item.key()];
      if (!tensor.defined()) {
        target = Tensor();
        continue;
      }
      auto data = device && tensor.device() != *device ? tensor.to(*device) : tensor.clone();
      target.set_data(data);
    }
  }

  void clone_(Module& other, const std::optional<Device>& device) final {
    // `other` is the original. This module is a member of a fresh parent, and stays the object
    // that the parent's fields hold: only its content is replaced.
    const auto copy = std::dynamic_pointer_cast<Derived>(other.clone(device));
    EBB_CHECK(copy != nullptr, "clone: ", other.name(), " and its copy are of different types");
    static_cast<Derived&>(*this) = *copy;
  }
};

}  // namespace ebb::nn
