#pragma once

#include <initializer_list>
#include <sstream>
#include <stdexcept>
#include <string>
#include <utility>

#include <ebb/core/export.h>

namespace ebb {

/// The base of everything that ebb throws. `what()` names the op, the shapes and the way out.
class EBB_API Error : public std::runtime_error {
 public:
  explicit Error(const std::string& message) : std::runtime_error(message) {}
  /// The message alone, under LibTorch's name for it.
  [[nodiscard]] const char* what_without_backtrace() const noexcept { return what(); }
  /// The message, under LibTorch's name for it.
  [[nodiscard]] const std::string msg() const { return what(); }
};

/// An index or a dimension is out of range.
class EBB_API IndexError : public Error {
 public:
  using Error::Error;
};

/// A value is of the right type but not acceptable.
class EBB_API ValueError : public Error {
 public:
  using Error::Error;
};

/// What is asked for exists in LibTorch, but not here (for this dtype or device).
class EBB_API NotImplementedError : public Error {
 public:
  using Error::Error;
};

namespace detail {

/// A part of a message: something that a stream can print.
class Part {
 public:
  Part(const char* text)  // NOLINT: implicit
      : value_(text), print_([](std::ostream& stream, const void* value) {
          stream << static_cast<const char*>(value);
        }) {}
  template <typename T>
  Part(const T& value)  // NOLINT: implicit
      : value_(&value), print_([](std::ostream& stream, const void* value) {
          stream << *static_cast<const T*>(value);
        }) {}
  void print(std::ostream& stream) const { print_(stream, value_); }

 private:
  const void* value_;
  void (*print_)(std::ostream&, const void*);
};

/// Joins the parts as a stream would print them. One function for all messages, since there are
/// many.
[[nodiscard]] EBB_API std::string join(std::initializer_list<Part> parts);

template <typename... Parts>
[[nodiscard]] std::string concat(const Parts&... parts) {
  return join({Part(parts)...});
}

/// Throws E with `message`, preceded by the name of the op that runs on this thread, if any.
template <typename E = Error>
[[noreturn]] EBB_API void raise(const std::string& message);

}  // namespace detail
}  // namespace ebb

/// Throws an ebb::Error built from the further arguments unless `condition` holds. The arguments
/// are not evaluated otherwise.
#define EBB_CHECK(condition, ...)                                             \
  do {                                                                        \
    if (!(condition)) [[unlikely]]                                            \
      ::ebb::detail::raise<::ebb::Error>(::ebb::detail::concat(__VA_ARGS__)); \
  } while (false)

/// As EBB_CHECK, with the type of the exception named first.
#define EBB_CHECK_AS(Exception, condition, ...)                                   \
  do {                                                                            \
    if (!(condition)) [[unlikely]]                                                \
      ::ebb::detail::raise<::ebb::Exception>(::ebb::detail::concat(__VA_ARGS__)); \
  } while (false)
