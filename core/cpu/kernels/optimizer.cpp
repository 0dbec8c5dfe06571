#include <atomic>

#include <ebb/core/cpu/loops.h>
#include <ebb/core/ops/functors/optimizer.h>
#include <ebb/core/ops/optimizer_kernels.h>

// A step works on blocks of adjacent numbers of the compute type: the operands themselves where
// they are that, else copies that stay in cache.

namespace ebb::cpu::EBB_CPU_CAPABILITY {

namespace {

constexpr int64_t kBlock = 256;
constexpr int kMaxOperands = 5;

/// A step on `count` operands of n adjacent elements each. Operand 1, the gradient, is not written.
template <typename T>
void update(const functors::SgdUpdate<T>& rule, T* const* operands, int count, int64_t n) {
  T* const p = operands[0];
  const T* const g = operands[1];
  T* const m = operands[2];
  const functors::SgdUpdate<T> f = rule;
  if (count == 2) {
    EBB_INDEPENDENT
    for (int64_t i = 0; i < n; ++i) f(p[i], g[i]);
  } else {
    EBB_INDEPENDENT
    for (int64_t i = 0; i < n; ++i) {
      T pi = p[i], mi = m[i];
      f(pi, g[i], mi);
      p[i] = pi;
      m[i] = mi;
    }
  }
}

template <typename T>
void update(const functors::AdamUpdate<T>& rule, T* const* operands, int count, int64_t n) {
  T* const p = operands[0];
  const T* const g = operands[1];
  T* const m = operands[2];
  T* const v = operands[3];
  T* const v_max = operands[4];
  const functors::AdamUpdate<T> f = rule;
  if (count == 4) {
    EBB_INDEPENDENT
    for (int64_t i = 0; i < n; ++i) {
      T pi = p[i], mi = m[i], vi = v[i];
      f(pi, g[i], mi, vi);
      p[i] = pi;
      m[i] = mi;
      v[i] = vi;
    }
  } else {
    EBB_INDEPENDENT
    for (int64_t i = 0; i < n; ++i) {
      T pi = p[i], mi = m[i], vi = v[i], largest = v_max[i];
      f(pi, g[i], mi, vi, largest);
      p[i] = pi;
      m[i] = mi;
      v[i] = vi;
      v_max[i] = largest;
    }
  }
}

template <typename T>
void update(const functors::FactoredUpdate<T>& rule, T* const* operands, int count, int64_t n) {
  T* const p = operands[0];
  const T* const g = operands[1];
  const T* const r = operands[2];
  const T* const c = operands[3];
  T* const m = operands[4];
  const functors::FactoredUpdate<T> f = rule;
  if (count == 4) {
    EBB_INDEPENDENT
    for (int64_t i = 0; i < n; ++i) f(p[i], g[i], r[i], c[i]);
  } else {
    EBB_INDEPENDENT
    for (int64_t i = 0; i < n; ++i) f(p[i], g[i], r[i], c[i], m[i]);
  }
}

/// Multiplies a gradient by a number, and notes whether it was finite.
template <typename T>
struct Unscale {
  static constexpr bool writes(int) { return true; }
  float* found;
  T factor;
};

template <typename T>
void update(const Unscale<T>& rule, T* const* operands, int, int64_t n) {
  T* const g = operands[0];
  const T factor = rule.factor;
  T rest = 0;  // x - x is 0, or NaN
  for (int64_t i = 0; i < n; ++i) {
    rest += g[i] - g[i];
    g[i] *= factor;
  }
  if (rest != 0) std::atomic_ref<float>(*rule.found).store(1.0f, std::memory_order_relaxed);
}

template <typename T>
bool is_direct(const TensorIterator& it, int operand) {
  return it.dtype(operand) == scalar_type_of<T> && it.stride(operand, 0) == int64_t(sizeof(T));
}

/// A run along the innermost dimension, in blocks.
template <typename T, typename Rule>
void run_blocks(const TensorIterator& it, const Rule& rule, char* const* pointers, int64_t n) {
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
    update(rule, operands, count, size);
    for (int i = 0; i < count; ++i) {
      if (operands[i] == copies[i] && Rule::writes(i)) {
        stores(scalar_type_of<T>)[static_cast<int>(it.dtype(i))](
            pointers[i] + done * it.stride(i, 0), copies[i], {size, 1, it.stride(i, 0), 0});
      }
    }
  }
}

template <typename T, typename Rule>
void run_as(const TensorIterator& it, const Rule& rule) {
  bool direct = true;
  for (int i = 0; i < it.noperands(); ++i) direct = direct && is_direct<T>(it, i);
  parallel_for_each_run(it, [&](char* const* pointers, int64_t n) {
    if (!direct) return run_blocks<T>(it, rule, pointers, n);
    T* operands[kMaxOperands] = {};
    for (int i = 0; i < it.noperands(); ++i) operands[i] = reinterpret_cast<T*>(pointers[i]);
    update(rule, operands, it.noperands(), n);
  });
}

template <template <typename> typename Rule, typename Numbers>
void run_step(const TensorIterator& it, const Numbers& numbers) {
  if (it.compute_type() == kDouble) {
    run_as<double>(it, Rule<double>(numbers));
  } else {
    run_as<float>(it, Rule<float>(numbers));
  }
}

void unscale(const TensorIterator& it, const float* inverse_scale, float* found) {
  if (it.compute_type() == kDouble) {
    run_as<double>(it, Unscale<double>{found, static_cast<double>(*inverse_scale)});
  } else {
    run_as<float>(it, Unscale<float>{found, *inverse_scale});
  }
}

}  // namespace

// A list would gain nothing here.
extern const OptimizerKernels optimizer_kernels = {
    .sgd = &run_step<functors::SgdUpdate>,
    .adam = &run_step<functors::AdamUpdate>,
    .factored = &run_step<functors::FactoredUpdate>,
    .unscale = &unscale,
    .sgd_list = nullptr,
    .adam_list = nullptr,
    .unscale_list = nullptr,
    .norm_list = nullptr,
};

}  // namespace ebb::cpu::EBB_CPU_CAPABILITY
