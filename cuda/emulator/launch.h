#pragma once

#include <memory>
#include <tuple>

#include <ebb/core/export.h>
#include <ebb/cuda/emulator/types.h>
#include <ebb/cuda/runtime/place.h>

namespace ebb::cuda::emulator {

/// A kernel with its arguments.
class KernelCall {
 public:
  virtual ~KernelCall() = default;
  /// Calls the kernel once, as the current thread.
  virtual void run_thread() const = 0;
  /// The kernel's address, by which reports find its name.
  [[nodiscard]] virtual const void* address() const noexcept = 0;
};

/// What a launch consists of.
struct Launch {
  std::unique_ptr<const KernelCall> kernel;
  dim3 grid;
  dim3 block;
  size_t shared_bytes;
  Place place;
};

/// Queues the launch on the stream, or says why it is refused.
EBB_API cudaError_t launch(Launch launch, cudaStream_t stream);

template <typename... P>
cudaError_t launch(void (*kernel)(P...), std::tuple<P...> args, dim3 grid, dim3 block,
                   size_t shared_bytes, cudaStream_t stream, Place place) {
  class Call final : public KernelCall {
   public:
    Call(void (*kernel)(P...), const std::tuple<P...>& args) : kernel_(kernel), args_(args) {}
    void run_thread() const override { std::apply(kernel_, args_); }
    const void* address() const noexcept override { return reinterpret_cast<const void*>(kernel_); }

   private:
    void (*kernel_)(P...);
    std::tuple<P...> args_;
  };
  return launch({std::make_unique<Call>(kernel, args), grid, block, shared_bytes, place}, stream);
}

}  // namespace ebb::cuda::emulator
