#include <ebb/core/ops/rnn_kernels.h>

#include <ebb/core/ops/functors/rnn.h>
#include <ebb/cuda/kernels/elements.h>
#include <ebb/cuda/kernels/storage_types.h>
#include <ebb/cuda/kernels/tables.h>
#include <ebb/cuda/runtime/kernel_device.h>
#include <ebb/cuda/runtime/launch.h>

// One step of a recurrent layer: a thread for each element of the hidden state.

namespace ebb::cuda {

namespace {

template <typename Rule, typename S>
__global__ void rnn_step(RnnArguments a) {
  using T = Sum<S>;
  const int64_t step = int64_t{gridDim.x} * blockDim.x;
  for (int64_t i = int64_t{blockIdx.x} * blockDim.x + threadIdx.x; i < a.rows * a.columns;
       i += step) {
    const int64_t row = i / a.columns;
    const int64_t column = i - row * a.columns;
    T x[Rule::operands] = {};
    for (int k = 0; k < Rule::operands; ++k) {
      const RnnOperand& operand = a.operands[k];
      if (!Rule::reads(k) || operand.data == nullptr) continue;
      x[k] = convert<T, S>(static_cast<const S*>(operand.data)[row * operand.row_stride + column]);
    }
    Rule::apply(x);
    for (int k = 0; k < Rule::operands; ++k) {
      const RnnOperand& operand = a.operands[k];
      if (!Rule::writes(k) || operand.data == nullptr) continue;
      static_cast<S*>(operand.data)[row * operand.row_stride + column] = convert<S, T>(x[k]);
    }
  }
}

template <typename Rule>
void run_rule(const RnnArguments& a) {
  const KernelDevice device;
  dispatch_floating_storage(a.dtype, [&](auto zero) {
    launch(&rnn_step<Rule, decltype(zero)>, blocks_for(a.rows * a.columns), kBlockThreads, 0,
           device.stream(), a);
  });
}

}  // namespace

extern const RnnKernels rnn_kernels = {
    .tanh = &run_rule<functors::RnnTanh>,
    .tanh_backward = &run_rule<functors::RnnTanhBackward>,
    .relu = &run_rule<functors::RnnRelu>,
    .relu_backward = &run_rule<functors::RnnReluBackward>,
    .lstm = &run_rule<functors::LstmForward>,
    .lstm_backward = &run_rule<functors::LstmBackward>,
    .gru = &run_rule<functors::GruForward>,
    .gru_backward = &run_rule<functors::GruBackward>,
};

}  // namespace ebb::cuda
