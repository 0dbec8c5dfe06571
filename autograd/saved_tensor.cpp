#include <ebb/autograd/saved_tensor.h>

#include <ebb/autograd/accumulate_grad.h>
#include <ebb/autograd/autograd_meta.h>
#include <ebb/autograd/grad_mode.h>
#include <ebb/autograd/saved_tensor_hooks.h>
#include <ebb/autograd/view.h>
#include <ebb/core/memory/block.h>

namespace ebb::autograd {

struct SavedTensorState {
  std::shared_ptr<const SavedTensorHooks::Functions> functions;
  std::vector<SavedTensor> tensors;
  std::any state;
};

SavedTensorHooks::SavedTensorHooks(Pack pack, Unpack unpack)
    : functions_(std::make_shared<Functions>(Functions{std::move(pack), std::move(unpack)})),
      outer_(static_cast<SavedTensorHooks*>(thread_state().saved_tensor_hooks)) {
  thread_state().saved_tensor_hooks = this;
}
SavedTensorHooks::~SavedTensorHooks() { thread_state().saved_tensor_hooks = outer_; }

NoSavedTensorHooks::NoSavedTensorHooks()
    : outer_(std::exchange(thread_state().saved_tensor_hooks, nullptr)) {}
NoSavedTensorHooks::~NoSavedTensorHooks() { thread_state().saved_tensor_hooks = outer_; }

// --- saving ---

SavedTensor::SavedTensor(const Tensor& tensor)
    : SavedTensor(tensor, gradient_edge(tensor), /*is_output=*/false) {}

SavedTensor SavedTensor::of_output(const Tensor& tensor, uint32_t output_nr) {
  return SavedTensor(tensor, Edge{{}, output_nr}, /*is_output=*/true);
}

SavedTensor SavedTensor::of_copy(const Tensor& copy, Edge edge) {
  SavedTensor saved(copy, std::move(edge), /*is_output=*/false);
  saved.requires_grad_ = saved.edge_.valid();
  return saved;
}

SavedTensor::SavedTensor(const Tensor& tensor, Edge edge, bool is_output)
    : edge_(std::move(edge)), is_output_(is_output) {
  if (!tensor.defined()) return;
  EBB_CHECK(!tensor.is_inference(), "an inference tensor (sizes ", tensor.sizes(),
            ") cannot be saved for backward: clone it outside InferenceMode first");
  requires_grad_ = tensor.requires_grad();
  sizes_ = DimVector(tensor.sizes());
  dtype_ = tensor.scalar_type();
  device_ = tensor.device();
  if (thread_state().saved_tensor_hooks != nullptr) {
    pack(tensor);
  } else {
    snapshot(tensor);
  }
  defined_ = true;
}

void SavedTensor::snapshot(const Tensor& tensor) {
  storage_ = tensor.storage();
  strides_ = DimVector(tensor.strides());
  storage_offset_ = tensor.storage_offset();
  is_wrapped_number_ = tensor.impl()->is_wrapped_number();
  counter_ = tensor.impl()->share_version();
  version_ = counter_->current();
  if (memory::Block* block = storage_.block()) memory::hold_saved(block);
}

void SavedTensor::pack(const Tensor& tensor) {
  ThreadState& state = thread_state();
  auto* hooks = static_cast<SavedTensorHooks*>(state.saved_tensor_hooks);
  struct Restore {
    ThreadState& state;
    void* hooks;
    ~Restore() { state.saved_tensor_hooks = hooks; }
  } restore{state, hooks};
  state.saved_tensor_hooks = hooks->outer();

  auto packed_state = std::make_unique<SavedTensorState>();
  packed_state->functions = hooks->functions();
  const uint32_t version = tensor.impl()->version();
  {
    const NoGradGuard no_grad;
    PackedTensor packed = hooks->functions()->pack(alias(tensor));
    EBB_CHECK(tensor.impl()->version() == version,
              "a saved-tensor pack hook wrote its argument (sizes ", tensor.sizes(),
              ") in place: it must not");
    for (const Tensor& part : packed.tensors) {
      packed_state->tensors.push_back(SavedTensor(part, Edge{}, /*is_output=*/false));
    }
    packed_state->state = std::move(packed.state);
  }
  state_ = packed_state.release();
}

// --- giving back ---

Tensor SavedTensor::unpack(const intrusive_ptr<Node>& node, bool with_history) const {
  if (!defined_) return {};
  if (state_ != nullptr) {
    PackedTensor packed;
    for (const SavedTensor& part : state_->tensors)
      packed.tensors.push_back(part.unpack(node, false));
    packed.state = state_->state;
    Tensor tensor;
    {
      const NoGradGuard no_grad;
      tensor = state_->functions->unpack(packed);
    }
    EBB_CHECK(
        tensor.defined() && tensor.sizes() == IntArrayRef(sizes_) && tensor.scalar_type() == dtype_,
        "a saved-tensor unpack hook gave a tensor of ",
        tensor.defined() ? detail::concat("sizes ", tensor.sizes(), " and dtype ",
                                          to_string(tensor.scalar_type()))
                         : std::string("no kind"),
        " for one of sizes ", IntArrayRef(sizes_), " and dtype ", to_string(dtype_));
    if (!with_history) return tensor;
    return with_place(alias(tensor).impl_ptr(), node);
  }
  check_version(node.get());
  auto impl =
      make_intrusive<TensorImpl>(storage_, dtype_, device_, sizes_, strides_, storage_offset_);
  impl->set_inference(false);
  impl->set_version(counter_);
  impl->set_wrapped_number(is_wrapped_number_);
  if (!with_history) return Tensor(std::move(impl));
  return with_place(std::move(impl), node);
}

namespace {

/// Whether both show the same elements.
bool same_elements(const TensorImpl& a, const TensorImpl& b) {
  return a.storage().is_alias_of(b.storage()) && a.storage_offset() == b.storage_offset() &&
         a.sizes() == b.sizes() && a.strides() == b.strides() && a.dtype() == b.dtype();
}

}  // namespace

Tensor SavedTensor::with_place(intrusive_ptr<TensorImpl> impl,
                               const intrusive_ptr<Node>& node) const {
  Tensor tensor(std::move(impl));
  if (!requires_grad_) return tensor;
  if (is_output_) {
    set_history(tensor, node, edge_.input_nr);
  } else if (edge_.valid() && !edge_.node->is_accumulate_grad()) {
    set_history(tensor, edge_.node, edge_.input_nr);
  } else if (edge_.valid()) {
    Tensor leaf = static_cast<const AccumulateGrad&>(*edge_.node).leaf();
    if (leaf.defined() && same_elements(*leaf.impl(), *tensor.impl())) return leaf;
    materialize_meta(tensor).accumulator = edge_.node;
    tensor.impl()->set_requires_grad_flag(true);
  }
  return tensor;
}

void SavedTensor::check_version(const Node* node) const {
  const uint32_t current = counter_->current();
  if (current == version_) [[likely]]
    return;
  const char* source = is_output_ ? (node == nullptr ? "" : node->name())
                       : edge_.valid() && !edge_.node->is_accumulate_grad() ? edge_.node->name()
                                                                            : nullptr;
  EBB_CHECK(false,
            "one of the variables needed for gradient computation has been modified by an "
            "inplace operation: ",
            to_string(dtype_), IntArrayRef(sizes_),
            source == nullptr
                ? std::string()
                : detail::concat(", which is output ", edge_.input_nr, " of ", source),
            ", saved by ", node == nullptr ? "an op" : node->name(),
            node == nullptr ? std::string() : detail::concat(" (", node->describe_op(), ")"),
            ", is at version ", current, "; expected version ", version_,
            ". Write to a clone, or use the op that is not in place");
}

// --- letting go ---

SavedTensor::SavedTensor(SavedTensor&& other) noexcept { take(other); }

SavedTensor& SavedTensor::operator=(SavedTensor&& other) noexcept {
  if (this != &other) {
    reset();
    take(other);
  }
  return *this;
}

SavedTensor::~SavedTensor() { reset(); }

void SavedTensor::take(SavedTensor& other) noexcept {
  storage_ = std::move(other.storage_);
  counter_ = std::move(other.counter_);
  edge_ = std::move(other.edge_);
  state_ = std::exchange(other.state_, nullptr);
  sizes_ = std::move(other.sizes_);
  strides_ = std::move(other.strides_);
  storage_offset_ = other.storage_offset_;
  version_ = other.version_;
  dtype_ = other.dtype_;
  device_ = other.device_;
  defined_ = std::exchange(other.defined_, false);
  is_output_ = other.is_output_;
  requires_grad_ = other.requires_grad_;
  is_wrapped_number_ = other.is_wrapped_number_;
}

void SavedTensor::reset() noexcept {
  if (!defined_) return;
  defined_ = false;
  if (memory::Block* block = storage_.block()) memory::unhold_saved(block);
  storage_.reset();
  counter_.reset();
  edge_ = {};
  delete std::exchange(state_, nullptr);
}

}  // namespace ebb::autograd
