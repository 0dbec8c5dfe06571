#pragma once

#include <ebb/core/cpu/capability.h>
#include <ebb/core/ops/kernels.h>

namespace ebb::cpu::EBB_CPU_CAPABILITY {
namespace {

/// As ebb::dispatch, for the types that kernels move elements of. That one builds its message here,
/// and so would emit parts of std::string compiled for a special CPU.
template <typename F>
void dispatch_storage(ScalarType type, F&& f) {
  switch (type) {
    case ScalarType::Byte:
      return f(uint8_t{});
    case ScalarType::Char:
      return f(int8_t{});
    case ScalarType::Short:
      return f(int16_t{});
    case ScalarType::Int:
      return f(int32_t{});
    case ScalarType::Long:
      return f(int64_t{});
    case ScalarType::Half:
      return f(Half{});
    case ScalarType::Float:
      return f(float{});
    case ScalarType::Double:
      return f(double{});
    case ScalarType::BFloat16:
      return f(BFloat16{});
    default:
      ebb::detail::raise_unsupported(type);
  }
}

/// The same for ops on floating-point tensors; others are an error.
template <typename F>
void dispatch_floating_storage(ScalarType type, F&& f) {
  switch (type) {
    case ScalarType::Half:
      return f(Half{});
    case ScalarType::Float:
      return f(float{});
    case ScalarType::Double:
      return f(double{});
    case ScalarType::BFloat16:
      return f(BFloat16{});
    default:
      ebb::detail::raise_unsupported(type);
  }
}

}  // namespace
}  // namespace ebb::cpu::EBB_CPU_CAPABILITY
