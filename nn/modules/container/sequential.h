#pragma once

#include <initializer_list>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <ebb/nn/cloneable.h>
#include <ebb/nn/modules/container/any_module.h>

namespace ebb::nn {

/// Modules that are called one after another, each with the result of the one before. A result is
/// dropped as soon as the next module has used it.
class EBB_API SequentialImpl : public Cloneable<SequentialImpl> {
 public:
  using Iterator = std::vector<AnyModule>::iterator;
  using ConstIterator = std::vector<AnyModule>::const_iterator;

  SequentialImpl() = default;
  SequentialImpl(const SequentialImpl&) = default;
  SequentialImpl& operator=(const SequentialImpl&) = default;
  /// Of modules, holders, pointers to modules or AnyModules, with their numbers as names.
  template <typename First, typename... Rest>
  requires(!std::is_base_of_v<SequentialImpl, std::remove_cvref_t<First>>) explicit SequentialImpl(
      First&& first, Rest&&... rest) {
    push_back(std::forward<First>(first));
    (push_back(std::forward<Rest>(rest)), ...);
  }
  explicit SequentialImpl(OrderedDict<std::string, AnyModule>&& modules) {
    for (auto& item : modules) push_back(item.key(), std::move(item.value()));
  }
  explicit SequentialImpl(std::initializer_list<NamedAnyModule> modules) {
    for (const NamedAnyModule& module : modules) push_back(module.name(), module.module());
  }

  [[nodiscard]] std::shared_ptr<Module> clone(
      const std::optional<Device>& device = std::nullopt) const override;
  void reset() override {}
  void pretty_print(std::ostream& stream) const override;

  /// Throws an Error if there are no modules, if an argument does not fit its module, or if the
  /// last result is no ReturnType.
  template <typename ReturnType = Tensor, typename... Inputs>
  ReturnType forward(Inputs&&... inputs) {
    EBB_CHECK(!is_empty(), "Cannot call forward() on an empty Sequential");
    AnyValue value = modules_[0].any_forward(std::forward<Inputs>(inputs)...);
    for (size_t i = 1; i < modules_.size(); ++i) value = modules_[i].any_forward(std::move(value));
    auto* result = value.template try_get<ReturnType>();
    EBB_CHECK(result != nullptr, "The type of the return value is ",
              detail::type_name(value.type_info()), ", but you asked for type ",
              detail::type_name(typeid(ReturnType)));
    return std::move(*result);
  }

  /// Adds a module, under its number or a name.
  template <typename M>
  requires(!std::is_convertible_v<M, std::string>) void push_back(M&& module) {
    push_back(std::to_string(modules_.size()), std::forward<M>(module));
  }
  template <typename M>
  void push_back(std::string name, M&& module) {
    add(std::move(name), AnyModule(std::forward<M>(module)));
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
  [[nodiscard]] std::shared_ptr<Module> ptr(size_t index) const { return checked(index).ptr(); }
  template <typename T>
  [[nodiscard]] std::shared_ptr<T> ptr(size_t index) const {
    return checked(index).template ptr<T>();
  }
  [[nodiscard]] std::shared_ptr<Module> operator[](size_t index) const { return ptr(index); }
  [[nodiscard]] size_t size() const noexcept { return modules_.size(); }
  [[nodiscard]] bool is_empty() const noexcept { return modules_.empty(); }

 private:
  void add(std::string name, AnyModule module);
  [[nodiscard]] const AnyModule& checked(size_t index) const;

  std::vector<AnyModule> modules_;
};

/// The holder of a SequentialImpl: `Sequential(Linear(3, 4), ReLU())`, or with names
/// `Sequential({{"first", Linear(3, 4)}, {"relu", ReLU()}})`.
class Sequential : public ModuleHolder<SequentialImpl> {
 public:
  using ModuleHolder<SequentialImpl>::ModuleHolder;
  using Impl = SequentialImpl;
  Sequential() = default;
  Sequential(std::initializer_list<NamedAnyModule> modules)
      : ModuleHolder(std::make_shared<SequentialImpl>(modules)) {}
};

}  // namespace ebb::nn
