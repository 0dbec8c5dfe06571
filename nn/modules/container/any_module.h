#pragma once

#include <array>
#include <memory>
#include <optional>
#include <tuple>
#include <type_traits>
#include <utility>

#include <ebb/nn/module_holder.h>
#include <ebb/nn/modules/container/any_value.h>

namespace ebb::nn {

namespace detail {

/// The argument and result types of a `forward`.
template <typename Result, typename... Arguments>
struct Signature {
  using result = std::remove_cvref_t<Result>;
  using arguments = std::tuple<Arguments...>;
};
template <typename M, typename R, typename... A>
Signature<R, A...> signature_of(R (M::*)(A...));
template <typename M, typename R, typename... A>
Signature<R, A...> signature_of(R (M::*)(A...) const);
template <typename M, typename R, typename... A>
Signature<R, A...> signature_of(R (M::*)(A...) noexcept);
template <typename M, typename R, typename... A>
Signature<R, A...> signature_of(R (M::*)(A...) const noexcept);

/// That of M::forward; a template or an overloaded function is taken as one of a tensor.
template <typename M>
auto forward_signature() {
  if constexpr (requires { signature_of(&M::forward); }) {
    return decltype(signature_of(&M::forward))();
  } else {
    static_assert(
        requires(M & module, Tensor x) { module.forward(x); },
        "a module in an AnyModule or Sequential needs a forward() that takes a Tensor or "
        "that is neither overloaded nor a template");
    return Signature<decltype(std::declval<M&>().forward(std::declval<Tensor>())), Tensor>();
  }
}

/// A module without its type.
class AnyModuleBody {
 public:
  virtual ~AnyModuleBody() = default;
  /// Calls forward. Throws an Error if number or types of the arguments do not fit.
  virtual AnyValue forward(AnyValue* arguments, size_t count) = 0;
  [[nodiscard]] virtual const std::shared_ptr<Module>& module() const = 0;
  [[nodiscard]] virtual const std::type_info& type_info() const = 0;
  /// The same over another module, which must be of the same type.
  [[nodiscard]] virtual std::shared_ptr<AnyModuleBody> with(
      std::shared_ptr<Module> module) const = 0;

 protected:
  [[noreturn]] EBB_API static void raise_count(const Module& module, size_t least, size_t most,
                                               size_t count);
  [[noreturn]] EBB_API static void raise_type(size_t index, const std::type_info& expected,
                                              const std::type_info& actual);
};

template <typename M>
class AnyModuleBodyOf final : public AnyModuleBody {
  using Forward = decltype(forward_signature<M>());
  using Arguments = typename Forward::arguments;
  static constexpr size_t kMost = std::tuple_size_v<Arguments>;

  /// Whether forward takes the first arguments alone, since the others have defaults.
  template <size_t... I>
  static constexpr bool takes(std::index_sequence<I...>) {
    return requires(M & m) { m.forward(std::declval<std::tuple_element_t<I, Arguments>>()...); };
  }
  template <size_t count = 0>
  static constexpr size_t least() {
    if constexpr (count == kMost || takes(std::make_index_sequence<count>())) {
      return count;
    } else {
      return least<count + 1>();
    }
  }

 public:
  explicit AnyModuleBodyOf(std::shared_ptr<M> module)
      : typed_(std::move(module)), module_(typed_) {}

  AnyValue forward(AnyValue* arguments, size_t count) override {
    if (count < least() || count > kMost) raise_count(*module_, least(), kMost, count);
    const ModuleScope scope(*module_);
    return call<least()>(arguments, count);
  }
  [[nodiscard]] const std::shared_ptr<Module>& module() const override { return module_; }
  [[nodiscard]] const std::type_info& type_info() const override { return typeid(M); }
  [[nodiscard]] std::shared_ptr<AnyModuleBody> with(std::shared_ptr<Module> module) const override {
    auto typed = std::dynamic_pointer_cast<M>(std::move(module));
    EBB_CHECK(typed != nullptr, "the clone of ", module_->name(), " is of another type");
    return std::make_shared<AnyModuleBodyOf>(std::move(typed));
  }

 private:
  template <size_t N>
  AnyValue call(AnyValue* arguments, size_t count) {
    if constexpr (N < kMost) {
      if (count > N) return call<N + 1>(arguments, count);
    }
    return call_with(arguments, std::make_index_sequence<N>());
  }
  template <size_t... I>
  AnyValue call_with([[maybe_unused]] AnyValue* arguments, std::index_sequence<I...>) {
    return AnyValue(typename Forward::result(
        typed_->forward(argument<std::tuple_element_t<I, Arguments>>(arguments[I], I)...)));
  }
  /// By value: moved out, so that the callee decides how long it lives.
  template <typename A>
  static A&& argument(AnyValue& value, size_t index) {
    auto* found = value.try_get<std::remove_cvref_t<A>>();
    if (found == nullptr) raise_type(index, typeid(std::remove_cvref_t<A>), value.type_info());
    return static_cast<A&&>(*found);
  }

  std::shared_ptr<M> typed_;
  std::shared_ptr<Module> module_;
};

}  // namespace detail

/// Any module with a `forward`, its type erased. Copies share the module. The arguments of
/// `forward` must be of exactly the types that the module's forward takes, references aside.
class AnyModule {
 public:
  /// An empty one.
  AnyModule() = default;
  template <typename M>
  requires std::is_base_of_v<Module, M>
  explicit AnyModule(std::shared_ptr<M> module) {
    EBB_CHECK(module != nullptr, "AnyModule: the pointer to the module is null");
    body_ = std::make_shared<detail::AnyModuleBodyOf<M>>(std::move(module));
  }
  template <typename M>
  requires detail::is_module<M>
  explicit AnyModule(M&& module)
      : AnyModule(std::make_shared<std::remove_cvref_t<M>>(std::forward<M>(module))) {}
  template <typename M>
  explicit AnyModule(const ModuleHolder<M>& holder) : AnyModule(holder.ptr()) {}
  /// Takes another module.
  template <typename M>
  requires(!std::is_same_v<std::remove_cvref_t<M>, AnyModule>) AnyModule& operator=(M&& module) {
    return *this = AnyModule(std::forward<M>(module));
  }

  /// One over a clone of the module.
  [[nodiscard]] AnyModule clone(const std::optional<Device>& device = std::nullopt) const {
    AnyModule copy;
    if (body_) copy.body_ = body_->with(body_->module()->clone(device));
    return copy;
  }

  /// Calls the module's forward. Throws an Error if the arguments do not fit.
  template <typename... Arguments>
  AnyValue any_forward(Arguments&&... arguments) {
    std::array<AnyValue, sizeof...(Arguments)> values{
        AnyValue(std::forward<Arguments>(arguments))...};
    return body().forward(values.data(), values.size());
  }
  /// The same; throws an Error if the result is no ReturnType.
  template <typename ReturnType = Tensor, typename... Arguments>
  ReturnType forward(Arguments&&... arguments) {
    return std::move(any_forward(std::forward<Arguments>(arguments)...).template get<ReturnType>());
  }

  /// The module as a T, or as the holder T. Throws an Error if it is of another type.
  template <typename T>
  requires detail::is_module<T>
  [[nodiscard]] T& get() const { return *ptr<T>(); }
  template <typename T>
  requires detail::HolderType<T>
  [[nodiscard]] T get() const { return T(ptr<typename T::ContainedType>()); }
  [[nodiscard]] std::shared_ptr<Module> ptr() const { return body().module(); }
  template <typename T>
  requires detail::is_module<T>
  [[nodiscard]] std::shared_ptr<T> ptr() const {
    auto typed = std::dynamic_pointer_cast<T>(body().module());
    EBB_CHECK(typed != nullptr, "Attempted to cast module of type ", detail::type_name(type_info()),
              " to type ", detail::type_name(typeid(T)));
    return typed;
  }
  /// The type that the module was given as.
  [[nodiscard]] const std::type_info& type_info() const { return body().type_info(); }
  [[nodiscard]] bool is_empty() const noexcept { return body_ == nullptr; }

 private:
  [[nodiscard]] detail::AnyModuleBody& body() const {
    EBB_CHECK(body_ != nullptr, "Cannot use an empty AnyModule: assign a module to it first");
    return *body_;
  }

  std::shared_ptr<detail::AnyModuleBody> body_;
};

/// A module and the name under which a container registers it.
class NamedAnyModule {
 public:
  template <typename M>
  NamedAnyModule(std::string name, M&& module)
      : name_(std::move(name)), module_(make(std::forward<M>(module))) {}
  [[nodiscard]] const std::string& name() const noexcept { return name_; }
  [[nodiscard]] AnyModule& module() noexcept { return module_; }
  [[nodiscard]] const AnyModule& module() const noexcept { return module_; }

 private:
  template <typename M>
  static AnyModule make(M&& module) {
    return AnyModule(std::forward<M>(module));
  }
  std::string name_;
  AnyModule module_;
};

}  // namespace ebb::nn
