#pragma once

#include <atomic>

#include <ebb/core/device.h>
#include <ebb/core/export.h>
#include <ebb/core/ops/elementwise_ops.h>
#include <ebb/core/ops/tensor_iterator.h>
#include <ebb/core/tensor/scalar.h>
#include <ebb/core/thread_state.h>

// The kernels of a device: plain tables of function pointers. A family that is not elementwise
// declares its table in core/ops/<family>_kernels.h; the CPU defines it in
// core/cpu/kernels/<family>.cpp and lists it in core/cpu/dispatch.cpp.

namespace ebb {

/// An elementwise kernel: operand 0 of the iterator is written, the others are read, computed in
/// `iterator.compute_type()`. `parameters`: the numbers its functor takes (alpha of `add`, ...).
using ElementwiseKernel = void (*)(const TensorIterator& iterator, const Scalar* parameters);

/// The kernels of one elementwise family, in the order of ElementwiseOp.
template <ElementwiseFamily family>
struct ElementwiseKernels {
  ElementwiseKernel kernels[kElementwiseKernels[static_cast<int>(family)]];
};

struct CopyKernels;
struct FillKernels;
struct RandomKernels;
struct ReduceKernels;
struct ScanKernels;
struct SortKernels;
struct SoftmaxKernels;
struct IndexKernels;
struct EmbeddingKernels;
struct LossKernels;
struct MatmulKernels;
struct AttentionKernels;
struct ConvKernels;
struct PoolKernels;
struct NormKernels;
struct ShapeKernels;
struct OptimizerKernels;
struct QuantizeKernels;
struct RnnKernels;

/// All kernels of one device. A family that the device lacks is null.
struct Kernels {
  const ElementwiseKernel* elementwise[kElementwiseFamilies] = {};
  const CopyKernels* copy = nullptr;
  const FillKernels* fill = nullptr;
  const RandomKernels* random = nullptr;
  const ReduceKernels* reduce = nullptr;
  const ScanKernels* scan = nullptr;
  const SortKernels* sort = nullptr;
  const SoftmaxKernels* softmax = nullptr;
  const IndexKernels* index = nullptr;
  const EmbeddingKernels* embedding = nullptr;
  const LossKernels* loss = nullptr;
  const MatmulKernels* matmul = nullptr;
  const AttentionKernels* attention = nullptr;
  const ConvKernels* conv = nullptr;
  const PoolKernels* pool = nullptr;
  const NormKernels* norm = nullptr;
  const ShapeKernels* shape = nullptr;
  const OptimizerKernels* optimizer = nullptr;
  const QuantizeKernels* quantize = nullptr;
  const RnnKernels* rnn = nullptr;

  /// Copies between a device of this type and the host or another such device: two contiguous
  /// tensors of one dtype and size, not empty. The host may go on before the copy is done if that
  /// is `non_blocking` and the host's memory is pinned; whoever reads the copy on the host then
  /// waits. Null on the CPU.
  void (*transfer)(const TensorBase& to, const TensorBase& from, bool non_blocking) = nullptr;

  /// The kernel of one elementwise op.
  [[nodiscard]] ElementwiseKernel operator[](ElementwiseOp op) const {
    const auto number = static_cast<unsigned>(op);
    return elementwise[number / 256][number % 256];
  }
};

namespace detail {
extern EBB_API std::atomic<const Kernels*> kernel_tables[kDeviceTypes];
/// What kernels() does on first use: the CPU's table is chosen by what the CPU can do; for a device
/// without kernels throws an Error.
EBB_API const Kernels& find_kernels(DeviceType type);
/// Throws: the running op has no kernel for `dtype`.
[[noreturn]] EBB_API void raise_unsupported(ScalarType dtype);
}  // namespace detail

/// The kernels of the type of `device`, to be run on `device` until the next call on this thread.
/// Throws an Error if no such device is built in.
inline const Kernels& kernels(Device device) {
  if (!device.is_cpu()) thread_state().kernel_device = device.index();
  const Kernels* table =
      detail::kernel_tables[static_cast<int>(device.type())].load(std::memory_order_acquire);
  return table != nullptr ? *table : detail::find_kernels(device.type());
}

/// Gives a device type its kernels; `table` must live for ever. A device calls it once, when it is
/// set up: nothing registers itself before main.
EBB_API void register_kernels(DeviceType type, const Kernels& table);

}  // namespace ebb
