#include <ebb/autograd/record.h>

#include <algorithm>
#include <mutex>

#include <ebb/autograd/autograd_meta.h>
#include <ebb/autograd/engine.h>
#include <ebb/autograd/grad_mode.h>
#include <ebb/autograd/view.h>
#include <ebb/core/ops/copy.h>

namespace ebb::autograd {

bool needs_recording(TensorList inputs) {
  if (!thread_state().grad_enabled) return false;
  for (const Tensor& input : inputs) {
    if (input.defined() && input.requires_grad()) return true;
  }
  return false;
}

// --- Backward ---

bool Backward::needs(size_t i) const { return node_.should_compute(i); }

Tensor Backward::get(const SavedTensor& saved) const {
  return saved.unpack(intrusive_ptr<Node>::share(&node_), GradMode::is_enabled());
}

Tensor Backward::result(size_t i) const {
  EBB_CHECK(i < node_.kept_results_.size(), node_.name(), ": output ", i, " was not kept");
  return get(node_.kept_results_[i]);
}

// --- FormulaNodeBase ---

variable_list FormulaNodeBase::apply(variable_list&& grads) {
  const std::lock_guard lock(lock_);
  if (spent()) raise_spent();
  variable_list results(num_outputs());
  // Where nothing depends on the outputs, nothing depends on the inputs.
  const auto is_defined = [](const Tensor& grad) { return grad.defined(); };
  if (std::none_of(grads.begin(), grads.end(), is_defined)) return results;
  Backward backward(*this, grads, results);
  run(backward);
  return results;
}

void FormulaNodeBase::release_variables() noexcept {
  const std::lock_guard lock(lock_);
  drop_formula();
  kept_results_.clear();
}

// --- Recorder ---

Recorder::Recorder(const char* node_name, TensorRefs inputs, const Tensor* written)
    : name_(node_name), written_(written) {
  if (written != nullptr) prepare_write(*written);
  edges_.reserve(inputs.size());
  for (const Tensor& input : inputs) collect(input);
}

Recorder::Recorder(const char* node_name, TensorList inputs, const Tensor* written)
    : name_(node_name), written_(written) {
  if (written != nullptr) prepare_write(*written);
  edges_.reserve(inputs.size());
  for (const Tensor& input : inputs) collect(input);
}

void Recorder::collect(const Tensor& input) {
  if (written_ != nullptr && input.is_same(*written_) && written_input_ > edges_.size()) {
    written_input_ = edges_.size();
  }
  edges_.push_back(gradient_edge(input));
}

/// What could not be recorded must be refused before the write.
void Recorder::prepare_write(const Tensor& written) {
  const Tensor* base = view_base(written);
  if (base == nullptr) return;
  check_view_kind(written, /*indirect=*/false);
  EBB_CHECK(!base->requires_grad() || grad_fn(*base).defined(),
            "a view of a leaf Variable that requires grad is being used in an in-place operation "
            "(sizes ",
            written.sizes(), "): write under NoGradGuard, or out of place");
}

SavedTensor Recorder::save(const Tensor& tensor) {
  if (!tensor.defined()) return {};
  saves_ = true;
  if (written_ == nullptr || !tensor.is_same(*written_)) return SavedTensor(tensor);
  if (!written_copy_.defined()) written_copy_ = Tensor(ops::clone(tensor));
  return SavedTensor::of_copy(written_copy_, gradient_edge(tensor));
}

template <typename Results>
void Recorder::tie(const intrusive_ptr<FormulaNodeBase>& node, const Results& results) {
  node->set_next_edges(std::move(edges_));
  node->saves_ = saves_ || kept_ != 0;
  uint32_t i = 0;
  for (const Tensor& result : results) {
    node->add_input_metadata(result);
    if (result.defined() && is_floating_point(result.scalar_type())) set_history(result, node, i);
    ++i;
  }
  if (kept_ == 0) return;
  node->kept_results_.resize(results.size());
  i = 0;
  for (const Tensor& result : results) {
    if ((kept_ >> i & 1U) != 0) node->kept_results_[i] = SavedTensor::of_output(result, i);
    ++i;
  }
}

void Recorder::finish(intrusive_ptr<FormulaNodeBase> node, TensorRefs results) {
  tie(node, results);
}
void Recorder::finish(intrusive_ptr<FormulaNodeBase> node, const std::vector<Tensor>& results) {
  tie(node, results);
}

void Recorder::finish_in_place(intrusive_ptr<FormulaNodeBase> node, const Tensor& self) {
  if (!is_floating_point(self.scalar_type())) return;  // integers have no gradient
  node->set_next_edges(std::move(edges_));
  node->saves_ = saves_ || kept_ != 0;
  if (kept_ != 0) {
    node->kept_results_.resize(1);
    node->kept_results_[0] = SavedTensor::of_output(self, 0);
  }
  rebase_history(self, std::move(node), written_input_);
}

namespace {

[[noreturn]] void refuse_leaf(const Tensor& self, bool is_view) {
  EBB_CHECK(false, is_view ? "a view of a leaf Variable" : "a leaf Variable",
            " that requires grad is being used in an in-place operation (sizes ", self.sizes(),
            "): write under NoGradGuard, or out of place");
  std::abort();
}

void check_recorded_write(const Tensor& self) {
  if (const Tensor* base = view_base(self)) {
    check_view_kind(self, /*indirect=*/false);
    if (base->requires_grad() && !grad_fn(*base).defined()) refuse_leaf(self, true);
  }
  if (!grad_fn(self).defined()) refuse_leaf(self, false);
}

}  // namespace

void check_inplace(const Tensor& self) {
  if (!self.defined()) static_cast<void>(self.sizes());  // raises
  const ThreadState& state = thread_state();
  EBB_CHECK(!self.is_inference() || state.inference_mode, "an inference tensor (sizes ",
            self.sizes(), ") is written in place outside InferenceMode: write to a clone of it");
  EBB_CHECK(
      self.is_contiguous() || !has_internal_overlap(self.sizes(), self.strides()),
      "a tensor of sizes ", self.sizes(), " and strides ", self.strides(),
      " is written in place, but several of its elements share memory (expand): clone it first");
  if (state.grad_enabled && self.requires_grad()) check_recorded_write(self);
}

}  // namespace ebb::autograd
