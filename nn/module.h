#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <ostream>
#include <string>
#include <type_traits>
#include <vector>

#include <ebb/autograd/tensor.h>
#include <ebb/core/memory/scope.h>
#include <ebb/nn/ordered_dict.h>

namespace ebb::nn {

template <typename Contained>
class ModuleHolder;

/// The base of all modules: named parameters, buffers and submodules, which it finds, moves,
/// converts, clones and prints as one. A user's module derives from it (or from Cloneable),
/// registers what it has in its constructor and defines `forward` with any signature.
/// Registration gives the memory its category: `parameter` or `buffer`.
class EBB_API Module : public std::enable_shared_from_this<Module> {
 public:
  using ModuleApplyFunction = std::function<void(Module&)>;
  using ConstModuleApplyFunction = std::function<void(const Module&)>;
  using NamedModuleApplyFunction = std::function<void(const std::string&, Module&)>;
  using ConstNamedModuleApplyFunction = std::function<void(const std::string&, const Module&)>;
  using ModulePointerApplyFunction = std::function<void(const std::shared_ptr<Module>&)>;
  using NamedModulePointerApplyFunction =
      std::function<void(const std::string&, const std::shared_ptr<Module>&)>;

  Module();
  /// With a name for printing; without one the name of the class is used.
  explicit Module(std::string name);
  Module(const Module&);
  Module& operator=(const Module&);
  Module(Module&&) noexcept;
  Module& operator=(Module&&) noexcept;
  virtual ~Module();

  /// The name given, or that of the class, demangled.
  [[nodiscard]] const std::string& name() const;

  /// A deep copy, on `device` if given: Cloneable makes it. Throws for other modules.
  [[nodiscard]] virtual std::shared_ptr<Module> clone(
      const std::optional<Device>& device = std::nullopt) const;

  /// Calls `function` with this module and all below it, parents first. The forms with a name get
  /// the path, which starts with `prefix`; those with pointers need a module in a shared_ptr.
  void apply(const ModuleApplyFunction& function);
  void apply(const ConstModuleApplyFunction& function) const;
  void apply(const NamedModuleApplyFunction& function, const std::string& prefix = {});
  void apply(const ConstNamedModuleApplyFunction& function, const std::string& prefix = {}) const;
  void apply(const ModulePointerApplyFunction& function) const;
  void apply(const NamedModulePointerApplyFunction& function, const std::string& prefix = {}) const;

  /// Parameters of this module, then of its submodules in order of registration. A tensor that is
  /// registered twice (tied weights) appears once.
  [[nodiscard]] std::vector<Tensor> parameters(bool recurse = true) const;
  [[nodiscard]] OrderedDict<std::string, Tensor> named_parameters(bool recurse = true) const;
  [[nodiscard]] std::vector<Tensor> buffers(bool recurse = true) const;
  [[nodiscard]] OrderedDict<std::string, Tensor> named_buffers(bool recurse = true) const;
  /// This module (if `include_self`) and all below it, each once.
  [[nodiscard]] std::vector<std::shared_ptr<Module>> modules(bool include_self = true) const;
  [[nodiscard]] OrderedDict<std::string, std::shared_ptr<Module>> named_modules(
      const std::string& name_prefix = {}, bool include_self = true) const;
  [[nodiscard]] std::vector<std::shared_ptr<Module>> children() const;
  [[nodiscard]] OrderedDict<std::string, std::shared_ptr<Module>> named_children() const;

  /// Training mode for this module and all below it.
  virtual void train(bool on = true);
  void eval() { train(false); }
  [[nodiscard]] virtual bool is_training() const noexcept { return is_training_; }

  /// Moves and converts all parameters and buffers; integer buffers keep their dtype. Wholly or
  /// not at all: everything new is allocated before anything is replaced.
  virtual void to(Device device, ScalarType dtype, bool non_blocking = false);
  virtual void to(ScalarType dtype, bool non_blocking = false);
  virtual void to(Device device, bool non_blocking = false);

  /// Drops the gradients, or zeroes them.
  virtual void zero_grad(bool set_to_none = true);

  /// This module as a ModuleType (or what its holder holds), or null.
  template <typename ModuleType>
  typename ModuleType::ContainedType* as() noexcept {
    return as<typename ModuleType::ContainedType>();
  }
  template <typename ModuleType>
  const typename ModuleType::ContainedType* as() const noexcept {
    return as<typename ModuleType::ContainedType>();
  }
  template <typename ModuleType>
  requires std::is_base_of_v<Module, ModuleType> ModuleType* as() noexcept {
    return dynamic_cast<ModuleType*>(this);
  }
  template <typename ModuleType>
  requires std::is_base_of_v<Module, ModuleType>
  const ModuleType* as() const noexcept { return dynamic_cast<const ModuleType*>(this); }

  /// The line that stands for this module when a model is printed.
  virtual void pretty_print(std::ostream& stream) const;

  /// Makes the tensor a parameter, which requires grad unless told otherwise. An undefined tensor
  /// keeps the name. Throws if the name is empty, has a dot or is taken, if the tensor is the
  /// result of a recorded op, or if an integer tensor shall require grad.
  Tensor& register_parameter(std::string name, Tensor tensor, bool requires_grad = true);
  /// Makes the tensor a buffer: state that no optimizer changes.
  Tensor& register_buffer(std::string name, Tensor tensor);
  template <typename ModuleType>
  std::shared_ptr<ModuleType> register_module(std::string name,
                                              std::shared_ptr<ModuleType> module) {
    add_module(std::move(name), module);
    return module;
  }
  template <typename ModuleType>
  requires requires { typename ModuleType::ContainedType; }
  ModuleType register_module(std::string name, ModuleType holder) {
    add_module(std::move(name), holder.ptr());
    return holder;
  }
  template <typename ModuleType>
  std::shared_ptr<ModuleType> replace_module(const std::string& name,
                                             std::shared_ptr<ModuleType> module) {
    children_[name] = module;
    return module;
  }
  template <typename ModuleType>
  requires requires { typename ModuleType::ContainedType; }
  ModuleType replace_module(const std::string& name, ModuleType holder) {
    children_[name] = holder.ptr();
    return holder;
  }
  void unregister_module(const std::string& name);

 protected:
  OrderedDict<std::string, Tensor> parameters_{"Parameter"};
  OrderedDict<std::string, Tensor> buffers_{"Buffer"};
  OrderedDict<std::string, std::shared_ptr<Module>> children_{"Submodule"};

 private:
  template <typename Derived>
  friend class Cloneable;
  friend EBB_API std::ostream& operator<<(std::ostream& stream, const Module& module);

  void add_module(std::string name, std::shared_ptr<Module> module);
  void exchange_module(const std::string& name, std::shared_ptr<Module> module);
  [[nodiscard]] OrderedDict<std::string, Tensor> collect(
      OrderedDict<std::string, Tensor> Module::*member, const char* description,
      bool recurse) const;
  /// Replaces the content of this module by a clone of `original`.
  virtual void clone_(Module& original, const std::optional<Device>& device);
  /// The parts of a clone around reset(): nothing is registered any more; and all that reset()
  /// registered gets the values of `original`.
  void forget();
  void take_values(const Module& original, const std::optional<Device>& device);
  void copy_tensors(const Module& original, const std::optional<Device>& device);
  void convert(std::optional<Device> device, std::optional<ScalarType> dtype, bool non_blocking);
  void print_recursively(std::ostream& stream, const std::string& indentation) const;
  /// Throws unless what is one parameter in the original is one in this copy of it.
  void check_ties(const Module& original) const;
  [[nodiscard]] std::shared_ptr<Module> shared_from_this_checked() const;

  std::optional<std::string> name_;
  bool is_training_ = true;
};

/// The call of a module, as a memory scope of its name on its device: what holders and containers
/// open around `forward`. Nothing where scopes for modules are switched off
/// (memory::set_scopes_enabled). The name is the one given to the module, or that of its class
/// without namespaces and "Impl".
class EBB_API ModuleScope {
 public:
  explicit ModuleScope(const Module& module) {
    if (memory::scopes_enabled()) [[unlikely]]
      open(module);
  }

 private:
  void open(const Module& module);
  std::optional<memory::Scope> scope_;
};

/// The module and all below it, a line each.
EBB_API std::ostream& operator<<(std::ostream& stream, const Module& module);

}  // namespace ebb::nn
