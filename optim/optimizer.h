#pragma once

#include <cstddef>
#include <functional>
#include <initializer_list>
#include <memory>
#include <unordered_map>
#include <utility>
#include <vector>

#include <ebb/autograd/tensor.h>

namespace ebb::optim {

/// What an optimizer remembers about one parameter. Derive from OptimizerCloneableParamState.
class EBB_API OptimizerParamState {
 public:
  OptimizerParamState() = default;
  OptimizerParamState(const OptimizerParamState&) = default;
  OptimizerParamState& operator=(const OptimizerParamState&) = default;
  virtual ~OptimizerParamState() = default;
  [[nodiscard]] virtual std::unique_ptr<OptimizerParamState> clone() const;
  /// All tensors of the state that are defined, for those who keep and bring back what it holds.
  [[nodiscard]] virtual std::vector<Tensor> tensors() const;
  /// The parameter has got back the values of its version `from`, as its version `to`: what
  /// belonged to them still does.
  virtual void move_version(int64_t /*from*/, int64_t /*to*/) {}
};

/// The base of a state, with its clone().
template <typename Derived>
class OptimizerCloneableParamState : public OptimizerParamState {
 public:
  [[nodiscard]] std::unique_ptr<OptimizerParamState> clone() const override {
    return std::make_unique<Derived>(static_cast<const Derived&>(*this));
  }
};

/// The options of a group of parameters. Derive from OptimizerCloneableOptions.
class EBB_API OptimizerOptions {
 public:
  OptimizerOptions() = default;
  OptimizerOptions(const OptimizerOptions&) = default;
  OptimizerOptions& operator=(const OptimizerOptions&) = default;
  virtual ~OptimizerOptions() = default;
  [[nodiscard]] virtual std::unique_ptr<OptimizerOptions> clone() const;
  /// The learning rate, which schedulers change. Throws an Error where a class has none.
  [[nodiscard]] virtual double get_lr() const;
  virtual void set_lr(double lr);
};

/// The base of options, with their clone().
template <typename Derived>
class OptimizerCloneableOptions : public OptimizerOptions {
 public:
  [[nodiscard]] std::unique_ptr<OptimizerOptions> clone() const override {
    return std::make_unique<Derived>(static_cast<const Derived&>(*this));
  }
};

/// Parameters that share their options; without options of its own a group takes the optimizer's.
class EBB_API OptimizerParamGroup {
 public:
  OptimizerParamGroup(std::vector<Tensor> params)  // NOLINT: implicit
      : params_(std::move(params)) {}
  OptimizerParamGroup(std::vector<Tensor> params, std::unique_ptr<OptimizerOptions> options)
      : params_(std::move(params)), options_(std::move(options)) {}
  OptimizerParamGroup(const OptimizerParamGroup& other)
      : params_(other.params_), options_(other.options_ ? other.options_->clone() : nullptr) {}
  OptimizerParamGroup(OptimizerParamGroup&&) noexcept = default;
  OptimizerParamGroup& operator=(OptimizerParamGroup other) noexcept {
    params_.swap(other.params_);
    options_.swap(other.options_);
    return *this;
  }
  ~OptimizerParamGroup() = default;

  [[nodiscard]] bool has_options() const noexcept { return options_ != nullptr; }
  /// Throws an Error if the group has none.
  [[nodiscard]] OptimizerOptions& options();
  [[nodiscard]] const OptimizerOptions& options() const;
  void set_options(std::unique_ptr<OptimizerOptions> options) { options_ = std::move(options); }
  [[nodiscard]] std::vector<Tensor>& params() noexcept { return params_; }
  [[nodiscard]] const std::vector<Tensor>& params() const noexcept { return params_; }

 private:
  std::vector<Tensor> params_;
  std::unique_ptr<OptimizerOptions> options_;
};

/// The base of optimizers: parameters in groups, and a state for each parameter. A class of the
/// user's derives from it and defines step().
class EBB_API Optimizer {
 public:
  using ParameterState = std::unordered_map<void*, std::unique_ptr<OptimizerParamState>>;
  /// Computes the loss anew, with gradients, and returns it.
  using LossClosure = std::function<Tensor()>;

  Optimizer(std::vector<OptimizerParamGroup> param_groups,
            std::unique_ptr<OptimizerOptions> defaults);
  Optimizer(std::vector<Tensor> parameters, std::unique_ptr<OptimizerOptions> defaults);
  Optimizer(const Optimizer&) = delete;
  Optimizer& operator=(const Optimizer&) = delete;
  Optimizer(Optimizer&&) = default;
  virtual ~Optimizer() = default;

  /// Adds a group. Throws an Error if a parameter is undefined, the result of an op, or in the
  /// optimizer already, or if the options are not those of this optimizer.
  void add_param_group(const OptimizerParamGroup& param_group);
  /// Adds parameters to the first group.
  void add_parameters(const std::vector<Tensor>& parameters);

  /// Changes the parameters that have a gradient; calls `closure` first, if there is one, with grad
  /// mode on, and returns its loss. First all state that is missing is allocated; then nothing can
  /// fail: the step happens wholly or not at all.
  virtual Tensor step(LossClosure closure = nullptr) = 0;
  /// Whether step() multiplies float16 gradients by half_gradient_factor: then amp::GradScaler
  /// leaves them scaled, since float16 cannot hold them otherwise.
  [[nodiscard]] virtual bool unscales_half_gradients() const noexcept { return false; }
  [[nodiscard]] double half_gradient_factor() const noexcept { return half_gradient_factor_; }
  void set_half_gradient_factor(double factor) noexcept { half_gradient_factor_ = factor; }
  /// Drops the gradients of all parameters, or zeroes them.
  void zero_grad(bool set_to_none = true);

  [[nodiscard]] OptimizerOptions& defaults() noexcept { return *defaults_; }
  [[nodiscard]] const OptimizerOptions& defaults() const noexcept { return *defaults_; }
  [[nodiscard]] std::vector<OptimizerParamGroup>& param_groups() noexcept { return param_groups_; }
  [[nodiscard]] const std::vector<OptimizerParamGroup>& param_groups() const noexcept {
    return param_groups_;
  }
  /// The states by the parameters' unsafeGetTensorImpl(); a parameter that was never stepped has
  /// none.
  [[nodiscard]] ParameterState& state() noexcept { return state_; }
  [[nodiscard]] const ParameterState& state() const noexcept { return state_; }
  /// The parameters of the first group, and how many there are in all groups.
  [[nodiscard]] std::vector<Tensor>& parameters() { return param_groups_.at(0).params(); }
  [[nodiscard]] const std::vector<Tensor>& parameters() const {
    return param_groups_.at(0).params();
  }
  [[nodiscard]] size_t size() const noexcept;

 protected:
  /// Throws an Error if `options` are of another class or out of range.
  virtual void check_options(const OptimizerOptions& options) const;
  /// check_options for the defaults and all groups: for the constructors of derived classes.
  void check_all_options() const;

  std::vector<OptimizerParamGroup> param_groups_;
  ParameterState state_;
  std::unique_ptr<OptimizerOptions> defaults_;

 private:
  double half_gradient_factor_ = 1;
};

namespace detail {
/// The loss of `closure`, computed with grad mode on; undefined without a closure.
EBB_API Tensor call_closure(const Optimizer::LossClosure& closure);
/// A tensor like `parameter`, tagged as optimizer state.
EBB_API Tensor empty_state(const Tensor& parameter);
EBB_API Tensor zero_state(const Tensor& parameter);
/// The parameter in float32, tagged as optimizer state.
EBB_API Tensor float_state(const Tensor& parameter);
/// Throws an Error unless the parameter can be rounded stochastically: bfloat16 and contiguous.
EBB_API void check_rounded(const Tensor& parameter);
/// Those of the tensors that are defined.
EBB_API std::vector<Tensor> defined_ones(std::initializer_list<Tensor> tensors);
}  // namespace detail

}  // namespace ebb::optim
