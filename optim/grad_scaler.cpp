#include <ebb/optim/grad_scaler.h>

#include <algorithm>
#include <cmath>

#include <ebb/autograd/factories.h>
#include <ebb/autograd/grad_mode.h>
#include <ebb/core/ops/optimizer.h>

namespace ebb::amp {

namespace {

/// Gradients on one device, and the tensors that unscaling them needs.
struct DeviceGradients {
  Device device;
  bool half;  ///< they are float16
  std::vector<TensorBase> grads;
  Tensor inverse_scale;
  Tensor found;
};

/// The gradients by their device. Those of float16 are groups of their own, and refused unless
/// they `may_be_half`.
std::vector<DeviceGradients> gradients_of(optim::Optimizer& optimizer, bool may_be_half) {
  std::vector<DeviceGradients> groups;
  for (const auto& group : optimizer.param_groups()) {
    for (const Tensor& parameter : group.params()) {
      const Tensor& grad = parameter.grad();
      if (!grad.defined()) continue;
      const bool half = grad.scalar_type() == kHalf;
      EBB_CHECK(!half || may_be_half, "attempting to unscale FP16 gradients (sizes ", grad.sizes(),
                "), which would lose what the scale saved: keep the parameters in float32 and run "
                "forward under autocast, or call step() alone, with SGD, Adam or AdamW");
      auto at = std::find_if(groups.begin(), groups.end(), [&](const auto& g) {
        return g.device == grad.device() && g.half == half;
      });
      if (at == groups.end()) at = groups.insert(at, {grad.device(), half, {}, {}, {}});
      at->grads.push_back(grad);
    }
  }
  return groups;
}

/// Set for the time of a step.
class HalfGradientFactor {
 public:
  HalfGradientFactor(optim::Optimizer& optimizer, double factor) : optimizer_(optimizer) {
    optimizer_.set_half_gradient_factor(factor);
  }
  ~HalfGradientFactor() { optimizer_.set_half_gradient_factor(1); }
  HalfGradientFactor(const HalfGradientFactor&) = delete;
  HalfGradientFactor& operator=(const HalfGradientFactor&) = delete;

 private:
  optim::Optimizer& optimizer_;
};

bool is_any_set(const std::vector<Tensor>& flags) {
  return std::any_of(flags.begin(), flags.end(),
                     [](const Tensor& flag) { return flag.item<float>() != 0; });
}

void check_scale(double scale) {
  EBB_CHECK(scale > 0 && std::isfinite(scale),
            "GradScaler: the scale must be positive and finite, got ", scale);
}

}  // namespace

GradScaler::GradScaler(const GradScalerOptions& options)
    : options_(options), scale_(static_cast<float>(options.init_scale())) {
  check_scale(scale_);
  EBB_CHECK(options.growth_factor() > 1, "GradScaler: growth_factor must be above 1, got ",
            options.growth_factor());
  EBB_CHECK(options.backoff_factor() > 0 && options.backoff_factor() < 1,
            "GradScaler: backoff_factor must be between 0 and 1, got ", options.backoff_factor());
  EBB_CHECK(options.growth_interval() > 0, "GradScaler: growth_interval must be above 0, got ",
            options.growth_interval());
}

Tensor GradScaler::scale(const Tensor& outputs) {
  if (!options_.enabled()) return outputs;
  EBB_CHECK(outputs.defined(), "GradScaler::scale: expected a tensor, got an undefined one");
  scaled_ = true;
  const bool widens = outputs.dim() == 0 && is_reduced_floating_point(outputs.scalar_type());
  return (widens ? outputs.to(kFloat) : outputs) * scale_;
}

std::vector<Tensor> GradScaler::scale(const std::vector<Tensor>& outputs) {
  std::vector<Tensor> scaled;
  scaled.reserve(outputs.size());
  for (const Tensor& output : outputs) scaled.push_back(scale(output));
  return scaled;
}

GradScaler::Progress* GradScaler::find(const optim::Optimizer& optimizer) noexcept {
  for (Progress& progress : progress_) {
    if (progress.optimizer == &optimizer) return &progress;
  }
  return nullptr;
}

void GradScaler::check_scaled(const char* function) const {
  EBB_CHECK(scaled_, "GradScaler::", function,
            ": there is no scale yet; call scale(loss) and run backward from what it returns");
}

/// First allocates, then unscales with kernels that do not fail.
GradScaler::Progress& GradScaler::unscale(optim::Optimizer& optimizer, const char* function,
                                          bool may_be_half) {
  check_scaled(function);
  std::vector<DeviceGradients> groups = gradients_of(optimizer, may_be_half);
  EBB_CHECK(!groups.empty(), "GradScaler::", function,
            ": no inf checks were recorded for this optimizer: none of its parameters has a "
            "gradient; was backward run?");
  const NoGradGuard no_grad;
  Progress progress{&optimizer, Stage::unscaled, {}};
  for (DeviceGradients& group : groups) {
    // Float16 gradients are only looked at; the step multiplies them.
    group.inverse_scale = full({}, group.half ? 1 : 1 / static_cast<double>(scale_),
                               TensorOptions(kFloat).device(group.device));
    group.found = zeros({}, TensorOptions(kFloat).device(group.device));
    progress.found.push_back(group.found);
  }
  progress_.push_back(std::move(progress));
  for (const DeviceGradients& group : groups) {
    ops::unscale_(group.grads, group.inverse_scale, group.found);
  }
  return progress_.back();
}

void GradScaler::unscale_(optim::Optimizer& optimizer) {
  if (!options_.enabled()) return;
  const OpName name("GradScaler::unscale_");
  if (const Progress* progress = find(optimizer)) {
    EBB_CHECK(progress->stage != Stage::stepped,
              "unscale_() is being called after step(); call update() first, once for all "
              "optimizers");
    EBB_CHECK(false,
              "unscale_() has already been called on this optimizer since the last update(); call "
              "it once between backward() and step(), and update() after each iteration");
  }
  unscale(optimizer, "unscale_", /*may_be_half=*/false);
}

bool GradScaler::step(optim::Optimizer& optimizer) {
  if (!options_.enabled()) {
    optimizer.step();
    return true;
  }
  Progress* progress = find(optimizer);
  EBB_CHECK(progress == nullptr || progress->stage != Stage::stepped,
            "step() has already been called on this optimizer since the last update()");
  if (progress == nullptr) {
    progress = &unscale(optimizer, "step", optimizer.unscales_half_gradients());
  }
  const bool finite = !is_any_set(progress->found);
  if (finite) {
    const HalfGradientFactor factor(optimizer, 1 / static_cast<double>(scale_));
    optimizer.step();
  } else {
    ++skipped_steps_;
  }
  progress->stage = Stage::stepped;
  return finite;
}

void GradScaler::back_off() {
  growth_tracker_ = 0;
  const double lower = scale_ * options_.backoff_factor();
  if (lower >= options_.min_scale()) {
    scale_ = static_cast<float>(lower);
    return;
  }
  EBB_CHECK(false, "GradScaler::update: a gradient is inf or NaN at the scale ", scale_,
            ", and a lower one would be below min_scale, ", options_.min_scale(), " (",
            skipped_steps_,
            " steps were skipped so far): the loss or a parameter is probably not finite itself; "
            "min_scale(0) lets the scale sink");
}

void GradScaler::update() {
  if (!options_.enabled()) return;
  check_scaled("update");
  EBB_CHECK(!progress_.empty(),
            "no inf checks were recorded prior to update(): call step() or unscale_() first");
  const bool found = std::any_of(progress_.begin(), progress_.end(), [](const Progress& progress) {
    return is_any_set(progress.found);
  });
  progress_.clear();
  if (found) return back_off();
  if (++growth_tracker_ != options_.growth_interval()) return;
  growth_tracker_ = 0;
  const auto higher = static_cast<float>(scale_ * options_.growth_factor());
  if (std::isfinite(higher)) scale_ = higher;
}

void GradScaler::update(double new_scale) {
  if (!options_.enabled()) return;
  check_scale(static_cast<float>(new_scale));
  scale_ = static_cast<float>(new_scale);
  progress_.clear();
}

double GradScaler::get_scale() const noexcept { return options_.enabled() ? scale_ : 1; }

GradScaler::StateDict GradScaler::state_dict() const {
  if (!options_.enabled()) return {};
  EBB_CHECK(progress_.empty(), "GradScaler::state_dict: call update() first; between unscale_() ",
            "or step() and update() the state is not all of it");
  return {{"scale", scale_},
          {"growth_factor", options_.growth_factor()},
          {"backoff_factor", options_.backoff_factor()},
          {"growth_interval", static_cast<double>(options_.growth_interval())},
          {"_growth_tracker", static_cast<double>(growth_tracker_)}};
}

void GradScaler::load_state_dict(const StateDict& state) {
  if (!options_.enabled()) return;
  EBB_CHECK(!state.empty(),
            "the source state dict is empty, possibly because it was saved from a disabled "
            "instance of GradScaler");
  const auto entry = [&](const char* key) {
    const auto at = state.find(key);
    EBB_CHECK(at != state.end(), "GradScaler::load_state_dict: the state has no entry ", key);
    return at->second;
  };
  GradScalerOptions options = options_;
  options.init_scale(entry("scale"));
  options.growth_factor(entry("growth_factor"));
  options.backoff_factor(entry("backoff_factor"));
  options.growth_interval(static_cast<int64_t>(entry("growth_interval")));
  const auto tracker = static_cast<int64_t>(entry("_growth_tracker"));
  const GradScaler loaded(options);  // checks
  scale_ = loaded.scale_;
  options_ = options.init_scale(options_.init_scale());
  growth_tracker_ = tracker;
  progress_.clear();
}

}  // namespace ebb::amp
