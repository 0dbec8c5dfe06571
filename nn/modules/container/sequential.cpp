#include <ebb/nn/modules/container/sequential.h>

namespace ebb::nn {

std::shared_ptr<Module> SequentialImpl::clone(const std::optional<Device>& device) const {
  auto copy = std::make_shared<SequentialImpl>(*this);
  copy->modules_.clear();
  copy->children_.clear();
  size_t i = 0;
  for (const auto& child : children_) copy->add(child.key(), modules_[i++].clone(device));
  return copy;
}

void SequentialImpl::pretty_print(std::ostream& stream) const { stream << "ebb::nn::Sequential"; }

void SequentialImpl::add(std::string name, AnyModule module) {
  register_module(std::move(name), module.ptr());
  modules_.push_back(std::move(module));
}

const AnyModule& SequentialImpl::checked(size_t index) const {
  EBB_CHECK_AS(IndexError, index < size(), "Sequential: index ", index, " is out of range for ",
               size(), " modules");
  return modules_[index];
}

}  // namespace ebb::nn
