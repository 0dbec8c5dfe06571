#pragma once

#include <memory>
#include <ostream>
#include <type_traits>
#include <utility>

#include <ebb/core/error.h>
#include <ebb/nn/module.h>

namespace ebb::nn {

/// A shared pointer to a module that is used like a value: it builds the module from the arguments
/// of the module's constructor, copies share the module, calls go to `forward`. `nullptr` makes an
/// empty one, to be assigned later; using it throws. `EBB_MODULE(Name)` derives one for NameImpl.
template <typename Contained>
class ModuleHolder {
 protected:
  std::shared_ptr<Contained> impl_;

 public:
  using ContainedType = Contained;

  /// The module made without arguments.
  ModuleHolder() : impl_(std::make_shared<Contained>()) {
    static_assert(
        std::is_default_constructible_v<Contained>,
        "this module needs arguments; write `Name module = nullptr` (or {nullptr}) for an "
        "empty holder");
  }
  ModuleHolder(std::nullptr_t) {}  // NOLINT: implicit
  /// The module made with these arguments.
  template <typename Head, typename... Tail>
  requires(sizeof...(Tail) > 0 || !std::is_base_of_v<ModuleHolder, std::remove_cvref_t<Head>>) &&
      (sizeof...(Tail) > 0 ||
       !std::is_convertible_v<Head&&,
                              std::shared_ptr<Contained>>)explicit ModuleHolder(Head&& head,
                                                                                Tail&&... tail)
      : impl_(new Contained(std::forward<Head>(head), std::forward<Tail>(tail)...)) {}
  ModuleHolder(std::shared_ptr<Contained> module) : impl_(std::move(module)) {}  // NOLINT: implicit

  [[nodiscard]] bool is_empty() const noexcept { return impl_ == nullptr; }
  explicit operator bool() const noexcept { return !is_empty(); }

  Contained* operator->() { return get(); }
  const Contained* operator->() const { return get(); }
  Contained& operator*() { return *get(); }
  const Contained& operator*() const { return *get(); }
  [[nodiscard]] Contained* get() {
    check();
    return impl_.get();
  }
  [[nodiscard]] const Contained* get() const {
    check();
    return impl_.get();
  }
  [[nodiscard]] const std::shared_ptr<Contained>& ptr() const {
    check();
    return impl_;
  }

  /// Calls the module's forward, in a memory scope of its name where scopes are switched on.
  template <typename... Args, typename M = Contained>
  auto operator()(Args&&... args)
      -> decltype(std::declval<M&>().forward(std::forward<Args>(args)...)) {
    const ModuleScope scope(*get());
    return impl_->forward(std::forward<Args>(args)...);
  }
  /// The module's own subscript.
  template <typename Index>
  decltype(auto) operator[](Index&& index) {
    return (*get())[std::forward<Index>(index)];
  }

 private:
  void check() const {
    EBB_CHECK(impl_ != nullptr, "Accessing empty ModuleHolder: assign a module to it first");
  }
};

template <typename Contained>
std::ostream& operator<<(std::ostream& stream, const ModuleHolder<Contained>& module) {
  return stream << static_cast<const Module&>(*module);
}

namespace detail {
/// Whether T is a module, and whether it is a holder of one.
template <typename T>
inline constexpr bool is_module = std::is_base_of_v<Module, std::remove_cvref_t<T>>;
template <typename T>
concept HolderType = requires {
  typename std::remove_cvref_t<T>::ContainedType;
};
}  // namespace detail

}  // namespace ebb::nn

/// Defines the class Name, the holder of ImplType. A macro, since it names a class.
#define EBB_MODULE_IMPL(Name, ImplType)                    \
  class Name : public ::ebb::nn::ModuleHolder<ImplType> {  \
   public:                                                 \
    using ::ebb::nn::ModuleHolder<ImplType>::ModuleHolder; \
    using Impl [[maybe_unused]] = ImplType;                \
  }
/// The same for an implementation called NameImpl.
#define EBB_MODULE(Name) EBB_MODULE_IMPL(Name, Name##Impl)
