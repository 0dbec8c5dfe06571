#include <ebb/core/ops/optimizer.h>

#include <algorithm>
#include <array>
#include <limits>
#include <type_traits>

#include <ebb/core/ops/copy_kernels.h>
#include <ebb/core/ops/elementwise.h>
#include <ebb/core/ops/factory.h>
#include <ebb/core/ops/fill.h>
#include <ebb/core/ops/kernels.h>
#include <ebb/core/ops/optimizer_kernels.h>
#include <ebb/core/ops/random_kernels.h>
#include <ebb/core/ops/reduce.h>

namespace ebb::ops {

namespace {

const OptimizerKernels& table(const TensorBase& tensor) {
  return *kernels(tensor.device()).optimizer;
}

// Each op has its tensors in the order of the kernel's operands; those that are not defined are
// left out.
template <size_t N>
using Tensors = std::array<const TensorBase*, N>;

Tensors<3> tensors_of(const SgdOperands& all) {
  return {&all.parameter, &all.grad, &all.momentum_buffer};
}
Tensors<5> tensors_of(const AdamOperands& all) {
  return {&all.parameter, &all.grad, &all.exp_avg, &all.exp_avg_sq, &all.max_exp_avg_sq};
}
Tensors<1> tensors_of(const TensorBase& grad) { return {&grad}; }

template <typename Operands>
bool have_equal_numbers(const Operands& a, const Operands& b) {
  return a.step == b.step;
}
bool have_equal_numbers(const TensorBase&, const TensorBase&) { return true; }

template <typename Operands>
bool rounds_stochastically(const Operands& operands) {
  return operands.step.rounds_stochastically;
}
bool rounds_stochastically(const TensorBase&) { return false; }

/// Runs a kernel over the tensors, the first of which is written.
template <size_t N, typename Kernel, typename... Numbers>
void run(const Tensors<N>& tensors, Kernel kernel, const Numbers&... numbers) {
  const TensorBase& first = *tensors[0];
  if (first.numel() == 0) return;
  TensorIterator it(first.sizes());
  for (const TensorBase* tensor : tensors) {
    if (tensor->defined()) it.add(*tensor);
  }
  it.set_compute_type(first.scalar_type());
  it.build();
  kernel(it, numbers...);
}

/// The gradient, where there is one, is not written.
template <size_t N>
void bump_versions(const Tensors<N>& tensors) {
  for (size_t i = 0; i < N; ++i) {
    if (i != 1 && tensors[i]->defined()) tensors[i]->impl()->bump_version();
  }
}

/// Whether a kernel for lists can take the tensors: each must be one run of elements.
template <size_t N>
bool are_contiguous(const Tensors<N>& tensors) {
  return std::all_of(tensors.begin(), tensors.end(), [](const TensorBase* tensor) {
    return !tensor->defined() || tensor->is_contiguous();
  });
}

/// Whether both can be in one list.
template <size_t N>
bool match(const Tensors<N>& a, const Tensors<N>& b) {
  for (size_t i = 0; i < N; ++i) {
    if (a[i]->defined() != b[i]->defined()) return false;
    if (a[i]->defined() && a[i]->scalar_type() != b[i]->scalar_type()) return false;
  }
  return a[0]->device() == b[0]->device();
}

template <size_t N>
void append(TensorLists& lists, const Tensors<N>& tensors) {
  if (tensors[0]->numel() == 0) return;
  int operand = 0;
  char** data = lists.data + lists.count * lists.noperands;
  for (const TensorBase* tensor : tensors) {
    if (!tensor->defined()) continue;
    if (lists.count == 0) {
      data = lists.data;
      lists.dtype[operand] = tensor->scalar_type();
    }
    data[operand++] = static_cast<char*>(tensor->data_ptr());
  }
  lists.noperands = operand;
  lists.compute_type = compute_type(tensors[0]->scalar_type());
  lists.numel[lists.count++] = tensors[0]->numel();
}

/// Puts all[begin], all[begin + 1], ... into a list while one kernel can take them together;
/// returns the first that it cannot.
template <typename Operands>
size_t gather(std::span<const Operands> all, size_t begin, TensorLists& lists) {
  const Operands& first = all[begin];
  for (; begin < all.size() && lists.count < TensorLists::kMaxCount; ++begin) {
    const auto tensors = tensors_of(all[begin]);
    if (!are_contiguous(tensors) || !match(tensors, tensors_of(first)) ||
        !have_equal_numbers(all[begin], first)) {
      break;
    }
    append(lists, tensors);
  }
  return begin;
}

/// A run of `n` adjacent elements.
struct Run {
  void* data;
  ScalarType dtype;
};

/// An iterator over runs, computing in float32.
class RunIterator : public TensorIterator {
 public:
  RunIterator(int64_t n, std::initializer_list<Run> runs)
      : TensorIterator(TensorIterator::Contiguous{}, n) {
    set_compute_type(kFloat);
    for (const Run& run : runs) add_contiguous(run.data, run.dtype);
  }
};

Run run_at(const TensorBase& tensor, int64_t begin) {
  const auto size = static_cast<int64_t>(element_size(tensor.scalar_type()));
  return {static_cast<char*>(tensor.data_ptr()) + begin * size, tensor.scalar_type()};
}

/// A step on elements begin to begin + n - 1 of the tensors, in float32 copies.
template <size_t N, typename Kernel, typename Step>
void step_rounded(const Tensors<N>& tensors, const TensorBase& scratch, int64_t begin, int64_t n,
                  Kernel kernel, const Step& step) {
  const Device device = tensors[0]->device();
  const Kernels& table = kernels(device);
  RunIterator it(n, {});
  std::array<Run, N> copies{};
  int64_t used = 0;
  for (size_t i = 0; i < N; ++i) {
    if (!tensors[i]->defined()) continue;
    const Run run = run_at(*tensors[i], begin);
    copies[i] = run;
    if (i != 1) {
      copies[i] = run_at(scratch, used);
      used += n;
      table.copy->copy(RunIterator(n, {copies[i], run}));
    }
    it.add_contiguous(copies[i].data, copies[i].dtype);
  }
  kernel(it, step);
  for (size_t i = 0; i < N; ++i) {
    if (i == 1 || !tensors[i]->defined()) continue;
    const auto draw = current_generator(device).reserve(random::counters_for_32bit(n));
    table.random->stochastic_round(RunIterator(n, {run_at(*tensors[i], begin), copies[i]}), draw);
  }
}

/// A whole parameter, in pieces.
template <typename Operands, typename One>
void step_rounded(const Operands& operands, const TensorBase& scratch, One one) {
  if constexpr (!std::is_same_v<Operands, TensorBase>) {
    const auto tensors = tensors_of(operands);
    const int64_t numel = tensors[0]->numel();
    for (int64_t begin = 0; begin < numel; begin += kRoundedChunk) {
      step_rounded(tensors, scratch, begin, std::min(kRoundedChunk, numel - begin),
                   table(*tensors[0]).*one, operands.step);
    }
  }
}

/// The kernels of the table that `one` and `list` point to, over all operands; `numbers(first)` are
/// their further arguments.
template <typename Operands, typename One, typename List, typename Numbers>
void run_all(std::span<const Operands> all, One one, List list, Numbers&& numbers,
             const TensorBase& scratch = {}) {
  for (size_t begin = 0; begin < all.size();) {
    const Operands& first = all[begin];
    if (rounds_stochastically(first)) {
      step_rounded(first, scratch, one);
      ++begin;
      continue;
    }
    const auto tensors = tensors_of(first);
    const OptimizerKernels& kernels = table(*tensors[0]);
    TensorLists lists;
    const size_t end = kernels.*list == nullptr ? begin : gather(all, begin, lists);
    if (end == begin) {
      numbers(first, [&](const auto&... values) { run(tensors, kernels.*one, values...); });
      ++begin;
      continue;
    }
    if (lists.count > 0) {
      numbers(first, [&](const auto&... values) { (kernels.*list)(lists, values...); });
    }
    begin = end;
  }
  for (const Operands& operands : all) bump_versions(tensors_of(operands));
}

/// The numbers of an optimizer's step, for run_all.
constexpr auto kStepOf = [](const auto& operands, auto&& call) { call(operands.step); };

/// Converts a tensor of one element to a number on its device.
void copy_number(double* to, const TensorBase& from) {
  TensorIterator it(TensorIterator::Contiguous{}, 1);
  it.set_compute_type(from.scalar_type());
  it.add_contiguous(to, kDouble);
  it.add_contiguous(from.data_ptr(), from.scalar_type());
  kernels(from.device()).copy->copy(it);
}

void check_flag(const TensorBase& flag, const char* name, Device device) {
  EBB_CHECK(flag.scalar_type() == kFloat && flag.numel() == 1 && flag.device() == device,
            "expected ", name, " to be one float32 number on ", device, ", got ",
            flag.scalar_type(), " ", flag.sizes(), " on ", flag.device());
}

}  // namespace

void check_step(const TensorBase& parameter, std::initializer_list<TensorBase> others) {
  EBB_CHECK(parameter.is_floating_point(), "expected a floating-point parameter, got ",
            parameter.scalar_type(), " ", parameter.sizes());
  check_writable(parameter);
  for (const TensorBase& other : others) {
    if (!other.defined()) continue;
    EBB_CHECK(other.is_floating_point() && other.sizes() == parameter.sizes() &&
                  other.device() == parameter.device(),
              "the gradient or state of a parameter, ", other.scalar_type(), " ", other.sizes(),
              " on ", other.device(), ", does not fit the parameter, ", parameter.scalar_type(),
              " ", parameter.sizes(), " on ", parameter.device(),
              "; was the parameter replaced after the optimizer had stepped?");
  }
}

void sgd_step_(const TensorBase& parameter, const TensorBase& grad,
               const TensorBase& momentum_buffer, const SgdStep& step) {
  const Tensors<3> tensors = {&parameter, &grad, &momentum_buffer};
  run(tensors, table(parameter).sgd, step);
  bump_versions(tensors);
}

void adam_step_(const TensorBase& parameter, const TensorBase& grad, const TensorBase& exp_avg,
                const TensorBase& exp_avg_sq, const TensorBase& max_exp_avg_sq,
                const AdamStep& step) {
  const Tensors<5> tensors = {&parameter, &grad, &exp_avg, &exp_avg_sq, &max_exp_avg_sq};
  run(tensors, table(parameter).adam, step);
  bump_versions(tensors);
}

void sgd_steps_(std::span<const SgdOperands> all, const TensorBase& scratch) {
  run_all(all, &OptimizerKernels::sgd, &OptimizerKernels::sgd_list, kStepOf, scratch);
}

void adam_steps_(std::span<const AdamOperands> all, const TensorBase& scratch) {
  run_all(all, &OptimizerKernels::adam, &OptimizerKernels::adam_list, kStepOf, scratch);
}

void factored_steps_(std::span<const FactoredOperands> all) {
  for (const FactoredOperands& a : all) {
    run(Tensors<5>{&a.parameter, &a.grad, &a.rows, &a.columns, &a.exp_avg},
        table(a.parameter).factored, a.step);
    bump_versions(Tensors<3>{&a.parameter, &a.grad, &a.exp_avg});
  }
}

void unscale_(std::span<const TensorBase> grads, const TensorBase& inverse_scale,
              const TensorBase& found_nonfinite) {
  if (grads.empty()) return;
  const Device device = grads.front().device();
  check_flag(inverse_scale, "inverse_scale", device);
  check_flag(found_nonfinite, "found_nonfinite", device);
  for (const TensorBase& grad : grads) {
    EBB_CHECK(grad.is_floating_point() && grad.device() == device,
              "expected floating-point gradients on ", device, ", got ", grad.scalar_type(), " ",
              grad.sizes(), " on ", grad.device());
    check_writable(grad);
  }
  const auto* factor = static_cast<const float*>(inverse_scale.data_ptr());
  auto* found = static_cast<float*>(found_nonfinite.data_ptr());
  run_all(grads, &OptimizerKernels::unscale, &OptimizerKernels::unscale_list,
          [&](const TensorBase&, auto&& call) { call(factor, found); });
  found_nonfinite.impl()->bump_version();
}

TensorBase norms(std::span<const TensorBase> tensors, double p) {
  EBB_CHECK(!tensors.empty(), "expected at least one tensor");
  EBB_CHECK(p == 1 || p == 2 || p == std::numeric_limits<double>::infinity(),
            "expected a norm of order 1, 2 or infinity, got order ", p);
  const Device device = tensors.front().device();
  for (const TensorBase& tensor : tensors) {
    EBB_CHECK(tensor.is_floating_point() && tensor.device() == device,
              "expected floating-point tensors on ", device, ", got ", tensor.scalar_type(), " ",
              tensor.sizes(), " on ", tensor.device());
  }
  const TensorBase result = empty({static_cast<int64_t>(tensors.size())}, kDouble, device);
  fill_fresh(result, 0);  // empty tensors are passed over
  auto* out = static_cast<double*>(result.data_ptr());
  for (size_t begin = 0; begin < tensors.size();) {
    const OptimizerKernels& kernels = table(result);
    TensorLists lists;
    size_t end = begin;
    while (kernels.norm_list != nullptr && end < tensors.size() && tensors[end].numel() > 0 &&
           lists.count < TensorLists::kMaxCount && are_contiguous(tensors_of(tensors[end])) &&
           match(tensors_of(tensors[end]), tensors_of(tensors[begin]))) {
      append(lists, tensors_of(tensors[end++]));
    }
    if (lists.count > 0) kernels.norm_list(lists, p, out + begin);
    if (end == begin && tensors[end].numel() == 0) ++end;
    if (end == begin) copy_number(out + begin, norm(tensors[end++], p, {}, false));
    begin = end;
  }
  return result;
}

}  // namespace ebb::ops
