#include <ebb/nn/modules/container/module_list.h>

namespace ebb::nn {

std::shared_ptr<Module> ModuleListImpl::clone(const std::optional<Device>& device) const {
  auto copy = std::make_shared<ModuleListImpl>(*this);
  copy->modules_.clear();
  copy->children_.clear();
  for (const auto& module : modules_) copy->push_back(module->clone(device));
  return copy;
}

void ModuleListImpl::pretty_print(std::ostream& stream) const { stream << "ebb::nn::ModuleList"; }

std::shared_ptr<Module> ModuleListImpl::ptr(size_t index) const {
  EBB_CHECK_AS(IndexError, index < size(), "ModuleList: index ", index, " is out of range for ",
               size(), " modules");
  return modules_[index];
}

void ModuleListImpl::add(size_t index, std::shared_ptr<Module> module) {
  EBB_CHECK_AS(IndexError, index <= size(), "ModuleList: index ", index, " is out of range for ",
               size(), " modules");
  register_module(std::to_string(size()), module);
  modules_.insert(modules_.begin() + static_cast<std::ptrdiff_t>(index), std::move(module));
  for (size_t i = index; i < size(); ++i) children_[std::to_string(i)] = modules_[i];
}

std::shared_ptr<Module> ModuleDictImpl::clone(const std::optional<Device>& device) const {
  auto copy = std::make_shared<ModuleDictImpl>(*this);
  for (auto& child : copy->children_) child.value() = child.value()->clone(device);
  return copy;
}

void ModuleDictImpl::pretty_print(std::ostream& stream) const { stream << "ebb::nn::ModuleDict"; }

void ModuleDictImpl::update(const Items& modules) {
  for (const auto& [name, module] : modules) {
    if (contains(name)) {
      replace_module(name, module);
    } else {
      register_module(name, module);
    }
  }
}

std::shared_ptr<Module> ModuleDictImpl::pop(const std::string& name) {
  auto module = children_[name];
  children_.erase(name);
  return module;
}

}  // namespace ebb::nn
