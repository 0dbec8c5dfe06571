#include <ebb/core/ops/rnn_kernels.h>

#include <algorithm>
#include <utility>

#include <ebb/core/cpu/loops.h>
#include <ebb/core/ops/functors/rnn.h>
#include <ebb/core/parallel.h>

// A rule runs over blocks of adjacent elements of a row: the operands themselves where they are of
// the compute type, else copies that stay in cache.

namespace ebb::cpu::EBB_CPU_CAPABILITY {

namespace {

constexpr int64_t kBlock = 256;

template <typename Rule, typename T, int... I>
void apply_rule(T* const* operands, int64_t n, std::integer_sequence<int, I...>) {
  T* const p[] = {operands[I]...};
  EBB_INDEPENDENT
  for (int64_t k = 0; k < n; ++k) {
    T x[] = {Rule::reads(I) ? p[I][k] : T(0)...};
    Rule::apply(x);
    ((Rule::writes(I) ? static_cast<void>(p[I][k] = x[I]) : static_cast<void>(0)), ...);
  }
}

template <typename Rule, typename T>
void run_rows(const RnnArguments& a, int64_t begin, int64_t end) {
  constexpr int kOperands = Rule::operands;
  alignas(64) T copies[kOperands][kBlock];
  const auto size = static_cast<int64_t>(element_size(a.dtype));
  const auto dtype = static_cast<int>(a.dtype);
  const bool direct = a.dtype == scalar_type_of<T>;
  for (int i = 0; i < kOperands; ++i) {
    if (a.operands[i].data == nullptr) std::fill_n(copies[i], kBlock, T(0));
  }
  for (int64_t row = begin; row < end; ++row) {
    for (int64_t column = 0; column < a.columns; column += kBlock) {
      const int64_t n = std::min(kBlock, a.columns - column);
      const Tile tile{n, 1, size, 0};
      T* operands[kOperands];
      char* memory[kOperands];
      for (int i = 0; i < kOperands; ++i) {
        const RnnOperand& operand = a.operands[i];
        memory[i] = static_cast<char*>(operand.data);
        operands[i] = copies[i];
        if (memory[i] == nullptr) continue;
        memory[i] += (row * operand.row_stride + column) * size;
        if (direct) operands[i] = reinterpret_cast<T*>(memory[i]);
        if (!direct && Rule::reads(i)) loads(scalar_type_of<T>)[dtype](copies[i], memory[i], tile);
      }
      apply_rule<Rule>(operands, n, std::make_integer_sequence<int, kOperands>());
      for (int i = 0; !direct && i < kOperands; ++i) {
        if (memory[i] == nullptr || !Rule::writes(i)) continue;
        stores(scalar_type_of<T>)[dtype](memory[i], copies[i], tile);
      }
    }
  }
}

template <typename Rule>
void run_rule(const RnnArguments& a) {
  constexpr int64_t kWork = 8;  // of an element beside an addition
  const int64_t grain = std::max<int64_t>(1, kGrain / (kWork * std::max<int64_t>(1, a.columns)));
  parallel_for(0, a.rows, grain, [&](int64_t begin, int64_t end) {
    a.dtype == kDouble ? run_rows<Rule, double>(a, begin, end)
                       : run_rows<Rule, float>(a, begin, end);
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

}  // namespace ebb::cpu::EBB_CPU_CAPABILITY
