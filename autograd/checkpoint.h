#pragma once

#include <functional>
#include <memory>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include <ebb/autograd/grad_mode.h>
#include <ebb/autograd/saved_tensor_hooks.h>
#include <ebb/autograd/tensor.h>

namespace ebb {

/// How a checkpoint region is run again.
struct CheckpointOptions {
  /// The random ops of the second run draw the numbers of the first, on the CPU, on the devices of
  /// the arguments and on the default device; the generators themselves do not move.
  bool preserve_rng_state = true;
  /// The second run ends as soon as the last tensor that is needed is there.
  bool early_stop = true;
  /// The second run must save tensors of the same ops, sizes, dtypes and devices as the first.
  bool determinism_check = true;
};

namespace autograd {

namespace detail {
class Region;

/// The tensors among the arguments of a region, which are saved, and how an argument is made of
/// them again. Other arguments are copied.
template <typename T>
struct RegionArgument {
  T value;
  RegionArgument(const T& argument, variable_list&) : value(argument) {}
  [[nodiscard]] const T& get(const variable_list&, size_t&) const { return value; }
};
template <>
struct RegionArgument<Tensor> {
  RegionArgument(const Tensor& argument, variable_list& tensors) { tensors.push_back(argument); }
  [[nodiscard]] Tensor get(const variable_list& tensors, size_t& next) const {
    return tensors[next++];
  }
};
template <>
struct RegionArgument<std::vector<Tensor>> {
  size_t count;
  RegionArgument(const std::vector<Tensor>& argument, variable_list& tensors)
      : count(argument.size()) {
    tensors.insert(tensors.end(), argument.begin(), argument.end());
  }
  [[nodiscard]] std::vector<Tensor> get(const variable_list& tensors, size_t& next) const {
    const auto first = tensors.begin() + static_cast<std::ptrdiff_t>(next);
    next += count;
    return {first, first + static_cast<std::ptrdiff_t>(count)};
  }
};

/// The first run of a region: until the end of the scope what ops save is dropped, and `again`,
/// which is called with the tensors among the arguments, is kept to make it anew.
class EBB_API RegionScope {
 public:
  using Again = std::function<void(const variable_list& tensors)>;
  RegionScope(const CheckpointOptions& options, const variable_list& tensors, Again again);
  ~RegionScope();
  RegionScope(const RegionScope&) = delete;
  RegionScope& operator=(const RegionScope&) = delete;

 private:
  struct Parts;
  std::unique_ptr<Parts> parts_;
};

}  // namespace detail

namespace detail {
/// Until the end of the scope this thread is in a state as if it ran a region again: gradients are
/// recorded, no op or node runs, and is_recomputing().
class EBB_API RecomputingScope {
 public:
  RecomputingScope();
  ~RecomputingScope();
  RecomputingScope(const RecomputingScope&) = delete;
  RecomputingScope& operator=(const RecomputingScope&) = delete;

 private:
  const char* op_name_;
  void* node_;
  bool recomputing_;
  AutoGradMode grad_mode_{true};
};
}  // namespace detail

/// Whether this thread runs a checkpoint region again, for backward. What counts its calls, as the
/// running statistics of batch_norm do, must not count this one.
[[nodiscard]] EBB_API bool is_recomputing() noexcept;

}  // namespace autograd

/// Runs `function(arguments...)` so that what its ops save for backward takes no memory: backward
/// runs the function a second time, when it needs the first of these tensors, and drops each as
/// soon as it has been used. Between the runs a region holds its tensor arguments (also those in a
/// std::vector), what it captures, and what it returns. Gradients have the same bits as without the
/// region. Parameters and buffers that ops save stay saved, so that a write between the runs is
/// noticed.
///
///     const ebb::Tensor y = ebb::checkpoint([&](const ebb::Tensor& x) { return block->forward(x); }, x);
///
/// Works with grad(), create_graph, retain_graph, hooks, Function, nested regions, autocast (in
/// force at the call, whatever it is in backward) and saved-tensor hooks inside and outside. The
/// function must do the same each time, and is copied: capture modules by their holders. It must
/// not write its arguments in place. Under NoGradGuard it is just called. Throws, in backward, an
/// Error that names the op if the second run saves something else than the first. As PyTorch's
/// torch.utils.checkpoint.checkpoint with use_reentrant=False (Chen et al., "Training deep nets with
/// sublinear memory cost", 2016).
template <typename F, typename... Arguments>
decltype(auto) checkpoint(const CheckpointOptions& options, F&& function,
                          const Arguments&... arguments) {
  if (!GradMode::is_enabled()) return std::invoke(function, arguments...);
  autograd::variable_list tensors;
  using Kept = std::tuple<autograd::detail::RegionArgument<Arguments>...>;
  Kept kept{autograd::detail::RegionArgument<Arguments>(arguments, tensors)...};
  auto again = [function = std::decay_t<F>(function),
                kept = std::move(kept)](const autograd::variable_list& saved) mutable {
    size_t next = 0;
    std::apply(
        [&](const auto&... argument) {
          // Braces: in this order.
          std::tuple<Arguments...> values{argument.get(saved, next)...};
          std::apply(
              [&](auto&... value) { static_cast<void>(std::invoke(function, value...)); }, values);
        },
        kept);
  };
  const autograd::detail::RegionScope scope(options, tensors, std::move(again));
  return std::invoke(function, arguments...);
}

template <typename F, typename... Arguments,
          std::enable_if_t<!std::is_same_v<std::decay_t<F>, CheckpointOptions>, int> = 0>
decltype(auto) checkpoint(F&& function, const Arguments&... arguments) {
  return checkpoint(CheckpointOptions(), std::forward<F>(function), arguments...);
}

}  // namespace ebb
