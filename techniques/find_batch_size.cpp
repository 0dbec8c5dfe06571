#include <ebb/techniques/find_batch_size.h>

#include <optional>
#include <unordered_set>
#include <utility>

#include <ebb/autograd/factories.h>
#include <ebb/autograd/grad_mode.h>
#include <ebb/core/memory/block.h>
#include <ebb/core/memory/out_of_memory.h>
#include <ebb/core/memory/registry.h>
#include <ebb/core/random/generator.h>

namespace ebb {

namespace {

/// The values of a tensor, outside of what is counted.
class Values {
 public:
  explicit Values(const Tensor& tensor)
      : sizes_(tensor.sizes().vec()),
        dtype_(tensor.scalar_type()),
        device_(tensor.device()),
        bytes_(static_cast<size_t>(tensor.numel()) * element_size(dtype_)) {
    if (!bytes_.empty()) host().copy_(tensor.data());
  }
  /// Through data(): for the graphs of others nothing has changed.
  void write_to(const Tensor& tensor) {
    if (!bytes_.empty()) tensor.data().copy_(host());
  }
  [[nodiscard]] bool fit(const Tensor& tensor) const {
    return tensor.defined() && tensor.sizes() == IntArrayRef(sizes_) &&
           tensor.scalar_type() == dtype_ && tensor.device() == device_;
  }
  [[nodiscard]] Tensor make() {
    Tensor tensor = empty(sizes_, TensorOptions(dtype_).device(device_));
    write_to(tensor);
    return tensor;
  }

 private:
  Tensor host() {
    return from_blob(bytes_.data(), sizes_, TensorOptions(dtype_).device(kCPU));
  }
  std::vector<int64_t> sizes_;
  ScalarType dtype_;
  Device device_;
  std::vector<char> bytes_;
};

/// A tensor and what it held. With the gradient, whose memory is not kept: the step may drop it.
struct Kept {
  Tensor tensor;
  int64_t version;
  Values values;
  std::optional<Values> grad;

  explicit Kept(const Tensor& kept) : tensor(kept), version(kept._version()), values(kept) {
    if (kept.grad().defined()) grad.emplace(kept.grad());
  }
  void restore() {
    values.write_to(tensor);
    if (!tensor.is_leaf()) return;
    Tensor& present = tensor.mutable_grad();
    if (!grad) {
      present.reset();
    } else if (grad->fit(present)) {
      grad->write_to(present);
    } else {
      present.reset();
      present = grad->make();
      memory::set_category(present.storage().block(), memory::Category::gradient);
    }
  }
};

/// A generator and where it was.
struct KeptGenerator {
  Generator generator;
  GeneratorState state;

  explicit KeptGenerator(Device device)
      : generator(current_generator(device)), state(generator.get_state()) {}
};

/// All that a step may change.
class Snapshot {
 public:
  explicit Snapshot(const BatchSizeOptions& options) : optimizer_(options.optimizer) {
    std::vector<Tensor> all = options.tensors;
    const auto add = [&](const std::vector<Tensor>& more) {
      all.insert(all.end(), more.begin(), more.end());
    };
    if (options.module != nullptr) {
      add(options.module->parameters());
      add(options.module->buffers());
    }
    if (optimizer_ != nullptr) {
      for (const auto& group : optimizer_->param_groups()) add(group.params());
      for (const auto& [parameter, state] : optimizer_->state()) {
        states_.emplace(parameter, state->clone());
        add(state->tensors());
      }
    }
    std::unordered_set<const TensorImpl*> seen;
    for (const Tensor& tensor : all) {
      if (seen.insert(tensor.impl()).second) kept_.emplace_back(tensor);
    }
    generators_.emplace_back(kCPU);
    if (!options.device.is_cpu()) generators_.emplace_back(options.device);
  }

  void restore() {
    const NoGradGuard no_grad;
    for (Kept& kept : kept_) kept.restore();
    if (optimizer_ != nullptr) {
      optimizer_->state().clear();
      for (const Kept& kept : kept_) {
        const auto found = states_.find(kept.tensor.unsafeGetTensorImpl());
        if (found == states_.end()) continue;
        auto& state = optimizer_->state()[found->first] = found->second->clone();
        state->move_version(kept.version, kept.tensor._version());
      }
    }
    for (auto& kept : generators_) kept.generator.set_state(kept.state);
  }

 private:
  optim::Optimizer* optimizer_;
  std::vector<Kept> kept_;
  optim::Optimizer::ParameterState states_;
  std::vector<KeptGenerator> generators_;
};

/// Tries one batch after another, each from the same start.
class Trial {
 public:
  Trial(const std::function<void(int64_t)>& step, const BatchSizeOptions& options)
      : step_(step), options_(options), snapshot_(options) {
    memory::empty_cache(options.device);
  }

  bool fits(int64_t batch) {
    bool fitted = true;
    try {
      for (int i = 0; i < options_.runs; ++i) step_(batch);
    } catch (const OutOfMemoryError& error) {
      error_ = error;
      fitted = false;
    } catch (...) {
      restore();
      throw;
    }
    restore();
    return fitted;
  }
  /// Why the last one that did not fit did not.
  [[nodiscard]] const OutOfMemoryError& error() const { return *error_; }

 private:
  /// What was cached in other sizes must not decide about the next trial.
  void restore() {
    memory::empty_cache(options_.device);
    snapshot_.restore();
    memory::empty_cache(options_.device);
  }

  const std::function<void(int64_t)>& step_;
  const BatchSizeOptions& options_;
  Snapshot snapshot_;
  std::optional<OutOfMemoryError> error_;
};

}  // namespace

int64_t find_batch_size(const std::function<void(int64_t)>& step, int64_t first,
                        const BatchSizeOptions& options) {
  EBB_CHECK(options.least > 0 && options.least <= first && options.runs > 0,
            "find_batch_size: expected 1 <= least <= first and at least one run, got least ",
            options.least, ", first ", first, " and ", options.runs, " runs");
  Trial trial(step, options);
  if (trial.fits(first)) return first;
  int64_t fits = options.least - 1;
  int64_t fails = first;
  while (fails - fits > 1) {
    const int64_t middle = fits + (fails - fits) / 2;
    (trial.fits(middle) ? fits : fails) = middle;
  }
  if (fits >= options.least) return fits;
  throw OutOfMemoryError(detail::concat("find_batch_size: not even a batch of ", options.least,
                                        " fits; ", trial.error().what()),
                         trial.error().info());
}

}  // namespace ebb
