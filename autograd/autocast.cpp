#include <ebb/autograd/autocast.h>

#include <algorithm>
#include <memory>
#include <utility>
#include <vector>

#include <ebb/autograd/grad_mode.h>
#include <ebb/autograd/ops/autocast_call.h>

namespace ebb {

namespace amp {

/// The casts of the weights that a thread has used, by the weight.
class CastCache {
 public:
  /// `weight` in `dtype`: the cast that was made of these very values, or a new one. It is made
  /// with grad mode on, since a later use may want its gradient although this one does not.
  Tensor cast(const Tensor& weight, ScalarType dtype) {
    const TensorImpl* impl = weight.impl();
    auto at = std::lower_bound(entries_.begin(), entries_.end(), impl,
                               [](const Entry& e, const void* key) { return e.key() < key; });
    const bool found = at != entries_.end() && at->key() == impl;
    if (found && at->version == impl->version() && at->data == impl->data() &&
        at->cast.scalar_type() == dtype) {
      return at->cast;
    }
    const AutoGradMode grad_mode(true);
    Entry entry{weight.impl_ptr(), impl->data(), impl->version(), weight.to(dtype)};
    if (found) return (*at = std::move(entry)).cast;
    return insert(std::move(entry));
  }

 private:
  /// Holds the weight weakly, so that its address cannot be used anew, but its memory can.
  struct Entry {
    weak_intrusive_ptr<TensorImpl> weight;
    const void* data;
    uint32_t version;
    Tensor cast;

    [[nodiscard]] const void* key() const noexcept { return weight.unsafe_get(); }
  };

  Tensor insert(Entry entry) {
    if (entries_.size() >= sweep_at_) {
      std::erase_if(entries_, [](const Entry& e) { return e.weight.expired(); });
      sweep_at_ = std::max<size_t>(64, 2 * entries_.size());
    }
    const auto at = std::upper_bound(entries_.begin(), entries_.end(), entry.key(),
                                     [](const void* key, const Entry& e) { return key < e.key(); });
    return entries_.insert(at, std::move(entry))->cast;
  }

  std::vector<Entry> entries_;  // in the order of keys
  size_t sweep_at_ = 64;        // casts of weights that are gone are dropped at this size
};

namespace {

bool is_any_enabled(const AutocastFlags& flags) { return flags.enabled[0] || flags.enabled[1]; }

size_t index_of(DeviceType device_type) { return static_cast<size_t>(device_type); }

void check_low_dtype(ScalarType dtype) {
  EBB_CHECK(is_reduced_floating_point(dtype), "autocast to ", to_string(dtype),
            " is not possible: the dtype must be kHalf or kBFloat16");
}

}  // namespace

AutocastGuard::AutocastGuard(DeviceType device_type, ScalarType dtype, bool enabled,
                             bool cache_enabled)
    : outer_(thread_state().autocast) {
  AutocastFlags& flags = thread_state().autocast;
  const size_t i = index_of(device_type);
  if (dtype == ScalarType::Undefined) dtype = flags.dtype[i];
  check_low_dtype(dtype);
  flags.dtype[i] = dtype;
  flags.enabled[i] = enabled;
  flags.cache_enabled = cache_enabled;
  flags.active = is_any_enabled(flags);
  ++flags.nesting;
}

AutocastGuard::~AutocastGuard() {
  AutocastFlags& flags = thread_state().autocast;
  CastCache* const cache = std::exchange(flags, outer_).cache;
  flags.cache = cache;
  if (flags.nesting == 0) autocast::clear_cache();
}

AutocastStateGuard::AutocastStateGuard(const AutocastState& state)
    : outer_(thread_state().autocast) {
  AutocastFlags& flags = thread_state().autocast;
  flags = state.flags_;
  flags.active = is_any_enabled(flags);
  flags.nesting = 1;
  flags.cache = nullptr;
}

AutocastStateGuard::~AutocastStateGuard() {
  autocast::clear_cache();
  thread_state().autocast = outer_;
}

}  // namespace amp

namespace autocast {

bool is_autocast_enabled(DeviceType device_type) {
  return thread_state().autocast.enabled[amp::index_of(device_type)];
}

void set_autocast_enabled(DeviceType device_type, bool enabled) {
  AutocastFlags& flags = thread_state().autocast;
  flags.enabled[amp::index_of(device_type)] = enabled;
  flags.active = amp::is_any_enabled(flags);
}

ScalarType get_autocast_dtype(DeviceType device_type) {
  return thread_state().autocast.dtype[amp::index_of(device_type)];
}

void set_autocast_dtype(DeviceType device_type, ScalarType dtype) {
  amp::check_low_dtype(dtype);
  thread_state().autocast.dtype[amp::index_of(device_type)] = dtype;
}

bool is_autocast_cache_enabled() { return thread_state().autocast.cache_enabled; }
void set_autocast_cache_enabled(bool enabled) { thread_state().autocast.cache_enabled = enabled; }

void clear_cache() noexcept { delete std::exchange(thread_state().autocast.cache, nullptr); }

int increment_nesting() noexcept { return ++thread_state().autocast.nesting; }

int decrement_nesting() noexcept {
  const int nesting = --thread_state().autocast.nesting;
  if (nesting == 0) clear_cache();
  return nesting;
}

}  // namespace autocast

namespace autograd {

namespace detail {

struct AutocastFrame {
  std::vector<Tensor> inputs;
};

namespace {

/// Whether autocast may change the dtype of the tensor.
bool can_be_cast(const Tensor& tensor, DeviceType device_type) {
  return tensor.defined() && tensor.is_floating_point() && tensor.scalar_type() != kDouble &&
         tensor.device().type() == device_type;
}

bool can_be_kept(const Tensor& tensor, ScalarType dtype, const AutocastFlags& flags) {
  return flags.cache_enabled && flags.nesting > 0 && is_reduced_floating_point(dtype) &&
         tensor.scalar_type() == kFloat && tensor.requires_grad() && tensor.is_leaf() &&
         !tensor.is_view() && !tensor.is_inference() && !InferenceMode::is_enabled();
}

Tensor cast_to(const Tensor& tensor, ScalarType dtype, AutocastFlags& flags) {
  if (!can_be_kept(tensor, dtype, flags)) return tensor.to(dtype);
  if (flags.cache == nullptr) flags.cache = new amp::CastCache;
  return flags.cache->cast(tensor, dtype);
}

DeviceType device_type_of(TensorRefs inputs) {
  for (const Tensor& tensor : inputs) {
    if (tensor.defined() && !tensor.is_cpu()) return tensor.device().type();
  }
  return kCPU;
}

AutocastClass class_of(AutocastRow row, DeviceType device_type) {
  if (!thread_state().autocast.enabled[static_cast<size_t>(device_type)]) {
    return AutocastClass::none;
  }
  return device_type == kCPU ? row.cpu : row.cuda;
}

ScalarType target_of(AutocastClass wanted, DeviceType device_type, TensorRefs inputs) {
  if (wanted == AutocastClass::fp32) return kFloat;
  if (wanted == AutocastClass::low) {
    return thread_state().autocast.dtype[static_cast<size_t>(device_type)];
  }
  ScalarType widest = ScalarType::Undefined;
  for (const Tensor& tensor : inputs) {
    if (!can_be_cast(tensor, device_type)) continue;
    const ScalarType dtype = tensor.scalar_type();
    widest = widest == ScalarType::Undefined ? dtype : promote_types(widest, dtype);
  }
  return widest;
}

}  // namespace

AutocastFrame* enter_autocast(AutocastRow row, TensorRefs inputs) {
  const DeviceType device_type = device_type_of(inputs);
  const AutocastClass wanted = class_of(row, device_type);
  if (wanted == AutocastClass::none) return nullptr;
  const ScalarType target = target_of(wanted, device_type, inputs);
  auto frame = std::make_unique<AutocastFrame>();
  frame->inputs.reserve(inputs.size());
  AutocastFlags& flags = thread_state().autocast;
  for (const Tensor& tensor : inputs) {
    const bool changes = can_be_cast(tensor, device_type) && tensor.scalar_type() != target;
    frame->inputs.push_back(changes ? cast_to(tensor, target, flags) : tensor);
  }
  flags.active = false;
  return frame.release();
}

void leave_autocast(AutocastFrame* frame) noexcept {
  thread_state().autocast.active = true;
  delete frame;
}

const Tensor& autocast_input(const AutocastFrame* frame, size_t i) noexcept {
  return frame->inputs[i];
}

std::optional<ScalarType> autocast_result(AutocastRow row, const Tensor& self) {
  if (!self.defined()) return {};
  const DeviceType device_type = self.device().type();
  const bool applies = class_of(row, device_type) != AutocastClass::none;
  return applies && can_be_cast(self, device_type) ? std::optional(kFloat) : std::nullopt;
}

}  // namespace detail

const Tensor& or_undefined(const std::optional<Tensor>& tensor) noexcept {
  static const Tensor undefined;
  return tensor ? *tensor : undefined;
}

}  // namespace autograd

}  // namespace ebb
