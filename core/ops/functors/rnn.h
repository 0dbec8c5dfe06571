#pragma once

#include <ebb/core/export.h>
#include <ebb/core/ops/functors/math.h>

// What one step of a recurrent layer does to one element, once, for the host and for devices: a
// rule on the operands that core/ops/rnn_kernels.h lists, x[i] being the element of operand i. T is
// float or double. Gates are activated in place, and kept like that for backward.

namespace ebb::functors {

/// Facts of a rule: how many operands, and a bit for each that is read, and that is written.
template <int Count, unsigned Reads, unsigned Writes>
struct RnnRule {
  static constexpr int operands = Count;
  static constexpr bool reads(int i) { return ((Reads >> i) & 1U) != 0; }
  static constexpr bool writes(int i) { return ((Writes >> i) & 1U) != 0; }
};

/// Operands: the sum that becomes the output; the hidden state.
struct RnnTanh : RnnRule<2, 0b01, 0b11> {
  template <typename T>
  static EBB_INLINE void apply(T* x) {
    x[0] = x[1] = math::tanh(x[0]);
  }
};
struct RnnRelu : RnnRule<2, 0b01, 0b11> {
  template <typename T>
  static EBB_INLINE void apply(T* x) {
    x[0] = x[1] = x[0] < T(0) ? T(0) : x[0];  // NaN stays
  }
};
/// Operands: the output; its gradient; that of the hidden state; that of the sum.
struct RnnTanhBackward : RnnRule<4, 0b0111, 0b1000> {
  template <typename T>
  static EBB_INLINE void apply(T* x) {
    x[3] = (x[1] + x[2]) * (T(1) - x[0] * x[0]);
  }
};
struct RnnReluBackward : RnnRule<4, 0b0111, 0b1000> {
  template <typename T>
  static EBB_INLINE void apply(T* x) {
    x[3] = x[0] > T(0) ? x[1] + x[2] : T(0);
  }
};

/// Hochreiter and Schmidhuber, 1997, with the forget gate of Gers et al., 2000. Operands: the gates
/// i, f, g, o; the cell state; where the one before is kept; the hidden state; the output.
struct LstmForward : RnnRule<8, 0b00011111, 0b11111111> {
  template <typename T>
  static EBB_INLINE void apply(T* x) {
    x[0] = math::sigmoid(x[0]);
    x[1] = math::sigmoid(x[1]);
    x[2] = math::tanh(x[2]);
    x[3] = math::sigmoid(x[3]);
    x[5] = x[4];
    x[4] = x[1] * x[4] + x[0] * x[2];
    x[6] = x[7] = x[3] * math::tanh(x[4]);
  }
};
/// Operands: the gates; the cell state before; the gradients of the output, of the hidden state and
/// of the cell state; those of the gates' sums.
struct LstmBackward : RnnRule<12, 0b000011111111, 0b111110000000> {
  template <typename T>
  static EBB_INLINE void apply(T* x) {
    const T i = x[0], f = x[1], g = x[2], o = x[3];
    const T cell = math::tanh(f * x[4] + i * g);
    const T grad = x[5] + x[6];
    const T grad_cell = x[7] + grad * o * (T(1) - cell * cell);
    x[7] = grad_cell * f;
    x[8] = grad_cell * g * i * (T(1) - i);
    x[9] = grad_cell * x[4] * f * (T(1) - f);
    x[10] = grad_cell * i * (T(1) - g * g);
    x[11] = grad * cell * o * (T(1) - o);
  }
};

/// Cho et al., 2014, in the form that cuDNN and PyTorch give it. Operands: the gates r and z, what
/// the hidden state adds to n, and n; the hidden state; the output.
struct GruForward : RnnRule<6, 0b011111, 0b111011> {
  template <typename T>
  static EBB_INLINE void apply(T* x) {
    x[0] = math::sigmoid(x[0]);
    x[1] = math::sigmoid(x[1]);
    x[3] = math::tanh(x[3] + x[0] * x[2]);
    x[4] = x[5] = x[3] + x[1] * (x[4] - x[3]);
  }
};
/// Operands: the gates; the hidden state before; the gradients of the output and of the hidden
/// state (of which the part that passes by the gates remains); those of the gates' sums.
struct GruBackward : RnnRule<11, 0b00001111111, 0b11111000000> {
  template <typename T>
  static EBB_INLINE void apply(T* x) {
    const T r = x[0], z = x[1], n = x[3];
    const T grad = x[5] + x[6];
    const T grad_n = grad * (T(1) - z) * (T(1) - n * n);
    x[6] = grad * z;
    x[7] = grad_n * x[2] * r * (T(1) - r);
    x[8] = grad * (x[4] - n) * z * (T(1) - z);
    x[9] = grad_n * r;
    x[10] = grad_n;
  }
};

}  // namespace ebb::functors
