#pragma once

#include <cstddef>
#include <vector>

// Stacks that take turns on one thread of the host, by Boost.Context. An own stack ends in a page
// that nobody may touch.

namespace ebb::cuda::emulator {

class Fiber {
 public:
  /// The stack that the host's thread runs on.
  Fiber() = default;
  /// A stack of its own on which `body(fiber)` runs when it is first resumed; `body` never returns.
  /// `colour` moves the start of the stack, since stacks at equal distances share cache lines.
  Fiber(void (*body)(Fiber&), unsigned colour);
  ~Fiber();
  Fiber(const Fiber&) = delete;
  Fiber& operator=(const Fiber&) = delete;

  /// Goes on with `to` until something resumes this one.
  void switch_to(Fiber& to);
  /// Forgets what the stack holds: the body starts anew when it is next resumed.
  void restart();
  /// The size of an own stack.
  static size_t stack_bytes();
  /// Whether the address is in the page behind the stack's end.
  [[nodiscard]] bool overflowed_at(const void* address) const;

 private:
  friend struct FiberEntry;
  void arrive(Fiber& from, void* context);

  void (*body_)(Fiber&) = nullptr;
  void* context_ = nullptr;
  char* mapping_ = nullptr;  // the guard page, then the stack
  unsigned colour_ = 0;
  // What AddressSanitizer wants to know of a stack.
  void* fake_stack_ = nullptr;
  const void* bottom_ = nullptr;
  size_t size_ = 0;
  // ThreadSanitizer's name of it.
  [[maybe_unused]] void* tsan_fiber_ = nullptr;
};

}  // namespace ebb::cuda::emulator
