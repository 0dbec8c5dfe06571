#include <ebb/nn/module.h>

#include <cxxabi.h>

#include <algorithm>
#include <cstdlib>
#include <mutex>
#include <typeindex>
#include <typeinfo>
#include <unordered_map>
#include <unordered_set>

#include <ebb/autograd/grad_mode.h>
#include <ebb/core/memory/block.h>

namespace ebb::nn {

namespace {

std::string join_name(const std::string& prefix, const std::string& name) {
  return prefix.empty() ? name : prefix + "." + name;
}

void set_category(const Tensor& tensor, memory::Category category) {
  if (tensor.has_storage()) memory::set_category(tensor.storage().block(), category);
}

std::string demangle(const char* name) {
  int status = 0;
  std::unique_ptr<char, void (*)(void*)> text(abi::__cxa_demangle(name, nullptr, nullptr, &status),
                                              std::free);
  return status == 0 ? text.get() : name;
}

template <typename Value>
void check_name(const OrderedDict<std::string, Value>& taken, const std::string& name,
                const char* what) {
  EBB_CHECK(!name.empty(), what, " name must not be empty");
  EBB_CHECK(name.find('.') == std::string::npos, what, " name must not contain a dot (got '", name,
            "')");
  EBB_CHECK(!taken.contains(name), what, " '", name, "' already defined");
}

/// The name of a class, made once.
const std::string& class_name(const std::type_info& type) {
  static std::mutex mutex;
  static auto& names = *new std::unordered_map<std::type_index, std::string>;  // never destroyed
  const std::lock_guard lock(mutex);
  const auto [it, fresh] = names.try_emplace(type);
  if (fresh) it->second = demangle(type.name());
  return it->second;
}

}  // namespace

Module::Module() = default;
Module::Module(const Module&) = default;
Module& Module::operator=(const Module&) = default;
Module::Module(Module&&) noexcept = default;
Module& Module::operator=(Module&&) noexcept = default;
Module::~Module() = default;
Module::Module(std::string name) : name_(std::move(name)) {}

const std::string& Module::name() const {
  // Not in the constructor: there the dynamic type is still Module.
  return name_ ? *name_ : class_name(typeid(*this));
}

std::shared_ptr<Module> Module::clone(const std::optional<Device>&) const {
  ebb::detail::raise<Error>("clone() has not been implemented for " + name() +
                            ". Derive it from nn::Cloneable<" + name() + "> instead of nn::Module");
}

void Module::clone_(Module& original, const std::optional<Device>&) {
  ebb::detail::raise<Error>("clone: the submodule " + original.name() +
                            " cannot be cloned; derive it from nn::Cloneable");
}

void Module::forget() {
  parameters_.clear();
  buffers_.clear();
  children_.clear();
}

void Module::take_values(const Module& original, const std::optional<Device>& device) {
  const auto check = [&](size_t own, size_t wanted, const char* what) {
    EBB_CHECK(own == wanted, "clone: the copy of ", original.name(), " has other ", what,
              " than the original; register all of them in reset(), not in the constructor");
  };
  check(parameters_.size(), original.parameters_.size(), "parameters");
  check(buffers_.size(), original.buffers_.size(), "buffers");
  check(children_.size(), original.children_.size(), "submodules");
  copy_tensors(original, device);
  for (const auto& child : original.children_) {
    children_[child.key()]->clone_(*child.value(), device);
  }
  check_ties(original);
}

void Module::check_ties(const Module& original) const {
  struct Place {
    std::string name;
    const TensorImpl* tensor;
  };
  const auto places_in = [](const Module& root) {
    std::vector<Place> places;
    root.apply(ConstNamedModuleApplyFunction([&](const std::string& path, const Module& module) {
      for (const auto& item : module.parameters_) {
        if (!item.value().defined()) continue;
        places.push_back({join_name(path, item.key()), item.value().impl()});
      }
    }));
    return places;
  };
  const std::vector<Place> from = places_in(original);
  const std::vector<Place> to = places_in(*this);
  std::unordered_map<const TensorImpl*, size_t> first;
  for (size_t i = 0; i < from.size() && i < to.size(); ++i) {
    const size_t known = first.try_emplace(from[i].tensor, i).first->second;
    EBB_CHECK(to[known].tensor == to[i].tensor, "clone: '", from[known].name, "' and '",
              from[i].name, "' of ", name(), " are one parameter and would be two in the copy: ",
              "register it once, in a submodule, and use that in forward()");
  }
}

void Module::copy_tensors(const Module& original, const std::optional<Device>& device) {
  const auto copy_all = [&](OrderedDict<std::string, Tensor> Module::*member,
                            memory::Category category) {
    for (const auto& item : original.*member) {
      Tensor& target = (this->*member)[item.key()];
      const Tensor& source = item.value();
      EBB_CHECK(source.defined() == target.defined(), "clone: '", item.key(), "' of ", name(),
                " is defined in the original or in what reset() makes, but not in both");
      if (!source.defined()) continue;
      EBB_CHECK(!source.is_same(target), "clone: reset() of ", name(), " registers the tensor '",
                item.key(), "' of the original again; register a detach() or clone() of it");
      const bool moves = device && source.device() != *device;
      const Tensor copy =
          moves ? source.detach().to(*device, source.scalar_type()) : source.detach().clone();
      set_category(copy, category);
      target.set_data(copy);
      target.set_requires_grad(source.requires_grad());
    }
  };
  copy_all(&Module::parameters_, memory::Category::parameter);
  copy_all(&Module::buffers_, memory::Category::buffer);
}

void Module::apply(const ModuleApplyFunction& function) {
  function(*this);
  for (auto& child : children_) child.value()->apply(function);
}

void Module::apply(const ConstModuleApplyFunction& function) const {
  function(*this);
  for (const auto& child : children_) std::as_const(*child.value()).apply(function);
}

void Module::apply(const NamedModuleApplyFunction& function, const std::string& prefix) {
  function(prefix, *this);
  for (auto& child : children_) child.value()->apply(function, join_name(prefix, child.key()));
}

void Module::apply(const ConstNamedModuleApplyFunction& function, const std::string& prefix) const {
  function(prefix, *this);
  for (const auto& child : children_) {
    std::as_const(*child.value()).apply(function, join_name(prefix, child.key()));
  }
}

void Module::apply(const ModulePointerApplyFunction& function) const {
  function(shared_from_this_checked());
  for (const auto& child : children_) child.value()->apply(function);
}

void Module::apply(const NamedModulePointerApplyFunction& function,
                   const std::string& prefix) const {
  function(prefix, shared_from_this_checked());
  for (const auto& child : children_) {
    child.value()->apply(function, join_name(prefix, child.key()));
  }
}

std::vector<Tensor> Module::parameters(bool recurse) const {
  return named_parameters(recurse).values();
}

OrderedDict<std::string, Tensor> Module::collect(OrderedDict<std::string, Tensor> Module::*member,
                                                 const char* description, bool recurse) const {
  OrderedDict<std::string, Tensor> result(description);
  std::unordered_set<const TensorImpl*> seen;
  const ConstNamedModuleApplyFunction add = [&](const std::string& path, const Module& module) {
    for (const auto& item : module.*member) {
      if (item.value().defined() && seen.insert(item.value().impl()).second) {
        result.insert(join_name(path, item.key()), item.value());
      }
    }
  };
  if (recurse) {
    apply(add);
  } else {
    add("", *this);
  }
  return result;
}

OrderedDict<std::string, Tensor> Module::named_parameters(bool recurse) const {
  return collect(&Module::parameters_, "Parameter", recurse);
}

std::vector<Tensor> Module::buffers(bool recurse) const { return named_buffers(recurse).values(); }

OrderedDict<std::string, Tensor> Module::named_buffers(bool recurse) const {
  return collect(&Module::buffers_, "Buffer", recurse);
}

std::vector<std::shared_ptr<Module>> Module::modules(bool include_self) const {
  return named_modules("", include_self).values();
}

OrderedDict<std::string, std::shared_ptr<Module>> Module::named_modules(
    const std::string& name_prefix, bool include_self) const {
  OrderedDict<std::string, std::shared_ptr<Module>> result("Submodule");
  std::unordered_set<const Module*> seen;
  const NamedModulePointerApplyFunction insert = [&](const std::string& name,
                                                     const std::shared_ptr<Module>& module) {
    if (seen.insert(module.get()).second) result.insert(name, module);
  };
  if (include_self) insert(name_prefix, shared_from_this_checked());
  for (const auto& child : children_) {
    child.value()->apply(insert, join_name(name_prefix, child.key()));
  }
  return result;
}

std::vector<std::shared_ptr<Module>> Module::children() const { return children_.values(); }

OrderedDict<std::string, std::shared_ptr<Module>> Module::named_children() const {
  return children_;
}

void Module::train(bool on) {
  is_training_ = on;
  for (auto& child : children_) child.value()->train(on);
}

void Module::convert(std::optional<Device> device, std::optional<ScalarType> dtype,
                     bool non_blocking) {
  const NoGradGuard no_grad;
  EBB_CHECK(!dtype || ebb::is_floating_point(*dtype), "Module::to: parameters can only become ",
            "floating-point tensors, not ", *dtype);
  struct Change {
    Tensor target;
    Tensor fresh;
    memory::Category category;
  };
  std::vector<Change> changes;
  std::unordered_set<const TensorImpl*> seen;
  const auto add = [&](const Tensor& tensor, memory::Category category) {
    if (!tensor.has_storage() || !seen.insert(tensor.impl()).second) return;
    TensorOptions options = tensor.options();
    if (device) options = options.device(*device);
    if (dtype && tensor.is_floating_point()) options = options.dtype(*dtype);
    Tensor fresh = tensor.detach().to(options, non_blocking);
    if (!fresh.is_alias_of(tensor)) changes.push_back({tensor, std::move(fresh), category});
  };
  std::as_const(*this).apply(ConstModuleApplyFunction([&](const Module& module) {
    for (const auto& item : module.parameters_) {
      add(item.value(), memory::Category::parameter);
      if (item.value().defined()) add(item.value().grad(), memory::Category::gradient);
    }
    for (const auto& item : module.buffers_) add(item.value(), memory::Category::buffer);
  }));
  for (const Change& change : changes) {  // from here on nothing allocates tensor memory
    set_category(change.fresh, change.category);
    change.target.set_data(change.fresh);
  }
}

void Module::to(Device device, ScalarType dtype, bool non_blocking) {
  convert(device, dtype, non_blocking);
}
void Module::to(ScalarType dtype, bool non_blocking) { convert({}, dtype, non_blocking); }
void Module::to(Device device, bool non_blocking) { convert(device, {}, non_blocking); }

void Module::zero_grad(bool set_to_none) {
  for (auto& parameter : parameters()) {
    Tensor& grad = parameter.mutable_grad();
    if (!grad.defined()) continue;
    if (set_to_none) {
      grad.reset();
    } else {
      grad.detach_();
      grad.zero_();
    }
  }
}

void Module::pretty_print(std::ostream& stream) const { stream << name(); }

void Module::print_recursively(std::ostream& stream, const std::string& indentation) const {
  pretty_print(stream);
  if (children_.is_empty()) return;
  stream << "(\n";
  const std::string next = indentation + "  ";
  for (const auto& child : children_) {
    stream << next << "(" << child.key() << "): ";
    child.value()->print_recursively(stream, next);
    stream << '\n';
  }
  stream << indentation << ")";
}

std::ostream& operator<<(std::ostream& stream, const Module& module) {
  module.print_recursively(stream, "");
  return stream;
}

Tensor& Module::register_parameter(std::string name, Tensor tensor, bool requires_grad) {
  check_name(parameters_, name, "Parameter");
  if (tensor.defined()) {
    EBB_CHECK(!requires_grad || tensor.is_floating_point(), "Parameter '", name, "' of dtype ",
              tensor.scalar_type(), " cannot require grad; pass requires_grad = false");
    EBB_CHECK(tensor.is_leaf(), "Parameter '", name,
              "' is the result of a recorded op, so that an ",
              "optimizer could not train it; detach() it first");
    tensor.set_requires_grad(requires_grad);
    set_category(tensor, memory::Category::parameter);
  }
  return parameters_.insert(std::move(name), std::move(tensor));
}

Tensor& Module::register_buffer(std::string name, Tensor tensor) {
  check_name(buffers_, name, "Buffer");
  if (tensor.defined()) set_category(tensor, memory::Category::buffer);
  return buffers_.insert(std::move(name), std::move(tensor));
}

void Module::unregister_module(const std::string& name) {
  EBB_CHECK(children_.contains(name), "No Module with name `", name, "` is registered");
  children_.erase(name);
}

void Module::add_module(std::string name, std::shared_ptr<Module> module) {
  check_name(children_, name, "Submodule");
  EBB_CHECK(module != nullptr, "Submodule '", name, "' is empty (a null holder or pointer)");
  children_.insert(std::move(name), std::move(module));
}

void Module::exchange_module(const std::string& name, std::shared_ptr<Module> module) {
  EBB_CHECK(module != nullptr, "Submodule '", name, "' is empty (a null holder or pointer)");
  children_[name] = std::move(module);
}

void ModuleScope::open(const Module& module) {
  std::string_view name = module.name();
  name.remove_prefix(std::min(name.size(), name.rfind(':') + 1));  // npos + 1 is 0
  if (name.size() > 4 && name.ends_with("Impl")) name.remove_suffix(4);
  const auto parameters = module.parameters();
  scope_.emplace(name, parameters.empty() ? Device(kCPU) : parameters[0].device());
}

std::shared_ptr<Module> Module::shared_from_this_checked() const {
  auto self = std::const_pointer_cast<Module>(weak_from_this().lock());
  EBB_CHECK(self != nullptr, "modules(), named_modules() and apply() with pointers need a module ",
            "that lives in a shared_ptr (or a holder); ", name(), " stands on the stack. Pass ",
            "include_self = false, or make it with std::make_shared");
  return self;
}

}  // namespace ebb::nn
