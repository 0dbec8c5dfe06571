#include <cmath>

#include <ebb/core/cpu/loops.h>
#include <ebb/core/ops/optimizer_kernels.h>

// A step works on blocks of adjacent numbers of the compute type: the operands themselves where
// they are that, else copies that stay in cache.

namespace ebb::cpu::EBB_CPU_CAPABILITY {

namespace {

constexpr int64_t kBlock = 256;
constexpr int kMaxOperands = 5;

/// One step of SGD on n adjacent elements. operands: parameter, gradient[, momentum buffer].
template <typename T>
class Sgd {
 public:
  static constexpr bool writes(int operand) { return operand != 1; }

  explicit Sgd(const ops::SgdStep& step)
      : lr_(static_cast<T>(step.lr)),
        weight_decay_(static_cast<T>(step.weight_decay)),
        keep_(static_cast<T>(step.momentum)),
        take_(static_cast<T>(1 - step.dampening)),
        nesterov_(step.nesterov),
        first_(step.first) {}

  void operator()(T* const* operands, int count, int64_t n) const {
    if (count == 2) {
      plain(operands[0], operands[1], n);
    } else {
      with_momentum(operands[0], operands[1], operands[2], n);
    }
  }

 private:
  void plain(T* p, const T* g, int64_t n) const {
    EBB_INDEPENDENT
    for (int64_t i = 0; i < n; ++i) p[i] -= lr_ * (g[i] + weight_decay_ * p[i]);
  }
  void with_momentum(T* p, const T* g, T* m, int64_t n) const {
    const T lookahead = nesterov_ ? keep_ : T(0);
    const bool first = first_;
    const bool nesterov = nesterov_;
    EBB_INDEPENDENT
    for (int64_t i = 0; i < n; ++i) {
      const T d = g[i] + weight_decay_ * p[i];
      const T buffer = first ? d : keep_ * m[i] + take_ * d;
      m[i] = buffer;
      p[i] -= lr_ * (nesterov ? d + lookahead * buffer : buffer);
    }
  }

  T lr_;
  T weight_decay_;
  T keep_;
  T take_;
  bool nesterov_;
  bool first_;
};

/// One step of Adam. operands: parameter, gradient, exp_avg, exp_avg_sq[, max_exp_avg_sq].
template <typename T>
class Adam {
 public:
  static constexpr bool writes(int operand) { return operand != 1; }

  explicit Adam(const ops::AdamStep& step)
      : step_size_(static_cast<T>(step.step_size)),
        correction_(static_cast<T>(step.bias_correction2_sqrt)),
        beta1_(static_cast<T>(step.beta1)),
        rest1_(static_cast<T>(1 - step.beta1)),
        beta2_(static_cast<T>(step.beta2)),
        rest2_(static_cast<T>(1 - step.beta2)),
        eps_(static_cast<T>(step.eps)),
        weight_decay_(static_cast<T>(step.weight_decay)),
        shrink_(static_cast<T>(step.shrink)) {}

  void operator()(T* const* operands, int count, int64_t n) const {
    if (count == 4) {
      loop<false>(operands[0], operands[1], operands[2], operands[3], nullptr, n);
    } else {
      loop<true>(operands[0], operands[1], operands[2], operands[3], operands[4], n);
    }
  }

 private:
  template <bool amsgrad>
  void loop(T* p, const T* g, T* m, T* v, T* v_max, int64_t n) const {
    EBB_INDEPENDENT
    for (int64_t i = 0; i < n; ++i) {
      const T d = g[i] + weight_decay_ * p[i];
      const T mean = beta1_ * m[i] + rest1_ * d;
      const T square = beta2_ * v[i] + rest2_ * d * d;
      m[i] = mean;
      v[i] = square;
      T largest = square;
      if constexpr (amsgrad) {
        largest = square > v_max[i] || square != square ? square : v_max[i];  // NaN stays
        v_max[i] = largest;
      }
      const T denominator = std::sqrt(largest) / correction_ + eps_;
      p[i] = shrink_ * p[i] - step_size_ * mean / denominator;
    }
  }

  T step_size_;
  T correction_;
  T beta1_;
  T rest1_;
  T beta2_;
  T rest2_;
  T eps_;
  T weight_decay_;
  T shrink_;
};

template <typename T>
bool is_direct(const TensorIterator& it, int operand) {
  return it.dtype(operand) == scalar_type_of<T> && it.stride(operand, 0) == int64_t(sizeof(T));
}

/// A run along the innermost dimension, in blocks.
template <typename T, typename Step>
void run_blocks(const TensorIterator& it, const Step& step, char* const* pointers, int64_t n) {
  alignas(64) T copies[kMaxOperands][kBlock];
  const int count = it.noperands();
  for (int64_t done = 0; done < n; done += kBlock) {
    const int64_t size = n - done < kBlock ? n - done : kBlock;
    T* operands[kMaxOperands] = {};
    for (int i = 0; i < count; ++i) {
      char* const from = pointers[i] + done * it.stride(i, 0);
      operands[i] = is_direct<T>(it, i) ? reinterpret_cast<T*>(from) : copies[i];
      if (operands[i] == copies[i]) {
        loads(scalar_type_of<T>)[static_cast<int>(it.dtype(i))](copies[i], from,
                                                                {size, 1, it.stride(i, 0), 0});
      }
    }
    step(operands, count, size);
    for (int i = 0; i < count; ++i) {
      if (operands[i] == copies[i] && Step::writes(i)) {
        stores(scalar_type_of<T>)[static_cast<int>(it.dtype(i))](
            pointers[i] + done * it.stride(i, 0), copies[i], {size, 1, it.stride(i, 0), 0});
      }
    }
  }
}

template <typename T, typename Step>
void run_as(const TensorIterator& it, const Step& step) {
  bool direct = true;
  for (int i = 0; i < it.noperands(); ++i) direct = direct && is_direct<T>(it, i);
  parallel_for_each_run(it, [&](char* const* pointers, int64_t n) {
    if (!direct) return run_blocks<T>(it, step, pointers, n);
    T* operands[kMaxOperands] = {};
    for (int i = 0; i < it.noperands(); ++i) operands[i] = reinterpret_cast<T*>(pointers[i]);
    step(operands, it.noperands(), n);
  });
}

template <template <typename> typename Step, typename Numbers>
void run_step(const TensorIterator& it, const Numbers& numbers) {
  if (it.compute_type() == kDouble) {
    run_as<double>(it, Step<double>(numbers));
  } else {
    run_as<float>(it, Step<float>(numbers));
  }
}

}  // namespace

extern const OptimizerKernels optimizer_kernels = {&run_step<Sgd>, &run_step<Adam>};

}  // namespace ebb::cpu::EBB_CPU_CAPABILITY
