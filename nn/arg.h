#pragma once

#include <utility>

/// Declares one option of a class of options: the member NAME_, a setter that takes a value and
/// returns the object, so that calls chain, and a getter. A default follows:
///
///   EBB_ARG(bool, bias) = true;
///
/// The only way to write `Options(3, 4).bias(false)` without a line per function and option.
#define EBB_ARG(Type, name)                                           \
 public:                                                              \
  auto name(const Type& new_##name)->decltype(*this) {                \
    name##_ = new_##name;                                             \
    return *this;                                                     \
  }                                                                   \
  auto name(Type&& new_##name)->decltype(*this) {                     \
    name##_ = std::move(new_##name);                                  \
    return *this;                                                     \
  }                                                                   \
  [[nodiscard]] const Type& name() const noexcept { return name##_; } \
  [[nodiscard]] Type& name() noexcept { return name##_; }             \
                                                                      \
 private:                                                             \
  Type name##_
