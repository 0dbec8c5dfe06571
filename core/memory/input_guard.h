#pragma once

#include <ebb/core/export.h>
#include <ebb/core/thread_state.h>

namespace ebb::memory {

/// While it lives, tensors made on this thread have the category `input`.
class InputGuard {
 public:
  InputGuard() noexcept { ++thread_state().input_guards; }
  ~InputGuard() { --thread_state().input_guards; }
  InputGuard(const InputGuard&) = delete;
  InputGuard& operator=(const InputGuard&) = delete;
};

}  // namespace ebb::memory
