#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <ebb/nn/cloneable.h>
#include <ebb/nn/module_holder.h>

namespace ebb::nn {

namespace detail {

/// A pointer to the module in a pointer, a holder or a module itself.
template <typename M>
std::shared_ptr<Module> module_pointer(M&& module) {
  if constexpr (is_module<M>) {
    return std::make_shared<std::remove_cvref_t<M>>(std::forward<M>(module));
  } else if constexpr (HolderType<M>) {
    return module.ptr();
  } else {
    return std::forward<M>(module);
  }
}

/// `module` as a T; throws an Error if it is none.
template <typename T>
std::shared_ptr<T> cast_module(const std::shared_ptr<Module>& module) {
  auto typed = std::dynamic_pointer_cast<T>(module);
  EBB_CHECK(typed != nullptr, "Unable to cast module ", module->name(), " to the type asked for");
  return typed;
}

}  // namespace detail

/// Modules by number, to be called as the user likes. They are registered as "0", "1", ...
class EBB_API ModuleListImpl : public Cloneable<ModuleListImpl> {
 public:
  using Iterator = std::vector<std::shared_ptr<Module>>::iterator;
  using ConstIterator = std::vector<std::shared_ptr<Module>>::const_iterator;

  ModuleListImpl() = default;
  ModuleListImpl(const ModuleListImpl&) = default;
  ModuleListImpl& operator=(const ModuleListImpl&) = default;
  /// Of modules, holders or pointers to modules.
  template <typename First, typename... Rest>
  requires(!std::is_base_of_v<ModuleListImpl, std::remove_cvref_t<First>>) explicit ModuleListImpl(
      First&& first, Rest&&... rest) {
    push_back(std::forward<First>(first));
    (push_back(std::forward<Rest>(rest)), ...);
  }

  [[nodiscard]] std::shared_ptr<Module> clone(
      const std::optional<Device>& device = std::nullopt) const override;
  void reset() override {}
  void pretty_print(std::ostream& stream) const override;

  template <typename M>
  void push_back(M&& module) {
    insert(size(), std::forward<M>(module));
  }
  /// Puts a module before the one at `index`; those behind it get the next numbers.
  template <typename M>
  void insert(size_t index, M&& module) {
    add(index, detail::module_pointer(std::forward<M>(module)));
  }
  /// Adds all modules of a container.
  template <typename Container>
  void extend(const Container& container) {
    for (const auto& module : container) push_back(module);
  }

  [[nodiscard]] Iterator begin() { return modules_.begin(); }
  [[nodiscard]] ConstIterator begin() const { return modules_.begin(); }
  [[nodiscard]] Iterator end() { return modules_.end(); }
  [[nodiscard]] ConstIterator end() const { return modules_.end(); }
  /// The module at a position; throws an Error if there is none, or none of type T.
  template <typename T>
  [[nodiscard]] T& at(size_t index) const {
    return *ptr<T>(index);
  }
  [[nodiscard]] std::shared_ptr<Module> ptr(size_t index) const;
  template <typename T>
  [[nodiscard]] std::shared_ptr<T> ptr(size_t index) const {
    return detail::cast_module<T>(ptr(index));
  }
  [[nodiscard]] std::shared_ptr<Module> operator[](size_t index) const { return ptr(index); }
  [[nodiscard]] size_t size() const noexcept { return modules_.size(); }
  [[nodiscard]] bool is_empty() const noexcept { return modules_.empty(); }

 private:
  void add(size_t index, std::shared_ptr<Module> module);

  std::vector<std::shared_ptr<Module>> modules_;
};
EBB_MODULE(ModuleList);

/// Modules by name, in the order in which they came.
class EBB_API ModuleDictImpl : public Cloneable<ModuleDictImpl> {
 public:
  using Items = std::vector<std::pair<std::string, std::shared_ptr<Module>>>;

  ModuleDictImpl() = default;
  explicit ModuleDictImpl(const Items& modules) { update(modules); }
  explicit ModuleDictImpl(const OrderedDict<std::string, std::shared_ptr<Module>>& modules) {
    update(modules.pairs());
  }

  [[nodiscard]] std::shared_ptr<Module> clone(
      const std::optional<Device>& device = std::nullopt) const override;
  void reset() override {}
  void pretty_print(std::ostream& stream) const override;

  /// Adds modules; one of the same name is replaced.
  void update(const Items& modules);
  [[nodiscard]] Items items() const { return children_.pairs(); }
  [[nodiscard]] std::vector<std::string> keys() const { return children_.keys(); }
  [[nodiscard]] std::vector<std::shared_ptr<Module>> values() const { return children_.values(); }
  [[nodiscard]] auto begin() const { return children_.begin(); }
  [[nodiscard]] auto end() const { return children_.end(); }
  [[nodiscard]] size_t size() const noexcept { return children_.size(); }
  [[nodiscard]] bool empty() const noexcept { return children_.is_empty(); }
  [[nodiscard]] bool contains(const std::string& name) const { return children_.contains(name); }
  void clear() { children_.clear(); }
  /// Removes a module and returns it. Throws an Error if there is none of that name.
  std::shared_ptr<Module> pop(const std::string& name);
  /// The module of a name; throws an Error if there is none, or none of type T.
  [[nodiscard]] std::shared_ptr<Module> operator[](const std::string& name) const {
    return children_[name];
  }
  template <typename T>
  [[nodiscard]] T& at(const std::string& name) const {
    return *ptr<T>(name);
  }
  template <typename T>
  [[nodiscard]] std::shared_ptr<T> ptr(const std::string& name) const {
    return detail::cast_module<T>(children_[name]);
  }
};
EBB_MODULE(ModuleDict);

}  // namespace ebb::nn
