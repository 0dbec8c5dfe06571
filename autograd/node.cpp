#include <ebb/autograd/node.h>

#include <algorithm>
#include <mutex>

#include <ebb/autograd/autograd_meta.h>
#include <ebb/autograd/engine.h>
#include <ebb/autograd/grad_mode.h>
#include <ebb/core/device_streams.h>
#include <ebb/core/thread_state.h>

namespace ebb::autograd {

namespace {

std::atomic<int64_t> node_count{0};

struct Stand {
  const Node* inner = nullptr;
  const Node* outer = nullptr;
};
constinit thread_local Stand stand;

}  // namespace

int64_t live_nodes() noexcept { return node_count.load(std::memory_order_relaxed); }

/// The nodes of this thread that wait for their end. Whoever comes first works the list off, so
/// that the nodes that a node held are taken one after the other, not one inside the other.
class Worklist {
 public:
  constexpr Worklist() = default;
  void add(Node* node) noexcept {
    node->next_doomed_ = first_;
    first_ = node;
    if (running_) return;
    running_ = true;
    while (first_ != nullptr) {
      Node* doomed = std::exchange(first_, first_->next_doomed_);
      finish(doomed);
    }
    running_ = false;
  }

 private:
  static void finish(Node* node) noexcept {
    if (node->weak_self_.expired() && node->weak_self_.unsafe_get() != nullptr) {
      const auto alive = std::move(node->weak_self_);
      node->release_variables();
      node->next_edges_.clear();
      node->hooks_.reset();
      node->uncount();
      return;
    }
    delete node;
  }

  Node* first_ = nullptr;
  bool running_ = false;
};

namespace {
constinit thread_local Worklist worklist;
}  // namespace

Node::Node(const char* name) : name_(name) {
  ThreadState& state = thread_state();
  op_name_ = state.op_name;
  sequence_number_ = state.next_sequence_number++;
  node_count.fetch_add(1, std::memory_order_relaxed);
}

Node::~Node() { uncount(); }

void Node::uncount() noexcept {
  if (std::exchange(is_counted_, false)) node_count.fetch_sub(1, std::memory_order_relaxed);
}

void Node::destroy() noexcept { worklist.add(this); }

void Node::release_resources() noexcept {
  // Weak owners keep the node itself; it waits in the worklist with a weak count of its own.
  auto self = intrusive_ptr<Node>::adopt(this);
  weak_self_ = self;
  static_cast<void>(self.detach());
  worklist.add(this);
}

uint32_t Node::add_input_metadata(const TensorBase& tensor) {
  if (tensor.defined()) {
    input_metadata_.emplace_back(DimVector(tensor.sizes()), tensor.scalar_type(), tensor.device(),
                                 current_stream_id(tensor.device()));
  } else {
    input_metadata_.emplace_back();
  }
  return static_cast<uint32_t>(input_metadata_.size() - 1);
}

bool Node::should_compute(size_t i) const noexcept {
  const Node* asked = stand.inner == this ? stand.outer : this;
  if (i >= asked->next_edges_.size() || !asked->next_edges_[i].valid()) return false;
  return engine::is_wanted(*asked->next_edges_[i].node);
}

void Node::spend(bool failed) noexcept {
  if (is_accumulate_grad_) return;   // it is there for every backward, with the hooks of its leaf
  std::unique_ptr<NodeHooks> hooks;  // end outside of the lock: they are the user's
  {
    const std::lock_guard lock(lock_);
    hooks = std::move(hooks_);
    if (failed || saves_ || hooks != nullptr) spent_.store(true, std::memory_order_release);
  }
  if (saves_ || failed) release_variables();
}

void Node::raise_spent() const {
  EBB_CHECK(false, "Trying to backward through the graph a second time: what ", name_,
            " saved for the gradient of ", describe_op(),
            " was freed by the first one. Call backward() or grad() with retain_graph=true the "
            "first time");
  std::abort();
}

NodeHooks& Node::hooks() {
  if (hooks_ == nullptr) hooks_ = std::make_unique<NodeHooks>();
  return *hooks_;
}

std::string Node::describe_op() const {
  const std::string op = op_name_ == nullptr ? name_ : op_name_;
  if (input_metadata_.empty() || input_metadata_[0].dtype == ScalarType::Undefined) return op;
  return detail::concat(op, ", whose result has the sizes ", IntArrayRef(input_metadata_[0].sizes));
}

void run_tensor_hooks(const std::vector<TensorHook>& hooks, variable_list& grads) {
  // A copy: a hook may remove itself.
  const std::vector<TensorHook> calls = hooks;
  for (const TensorHook& hook : calls) {
    Tensor& grad = grads[hook.input_nr];
    if (!grad.defined()) continue;
    Tensor replacement = (*hook.call)(grad);
    if (!replacement.defined()) continue;
    EBB_CHECK(replacement.sizes() == grad.sizes(),
              "a tensor hook changed the sizes of a gradient from ", grad.sizes(), " to ",
              replacement.sizes());
    grad = std::move(replacement);
  }
}

void Node::run_hooks(variable_list& grads) {
  NodeHooks hooks;  // a copy: a hook may remove itself, and another thread may spend the node
  {
    const std::lock_guard lock(lock_);
    if (hooks_ == nullptr) return;
    hooks = *hooks_;
  }
  run_tensor_hooks(hooks.tensor_hooks, grads);
  for (const RetainedGrad& retained : hooks.retained) {
    const Tensor& grad = grads[retained.input_nr];
    if (const auto impl = retained.tensor.lock(); impl.defined() && grad.defined()) {
      retain_gradient(Tensor(impl), grad);
    }
  }
}

ActingFor::ActingFor(const Node* inner, const Node* outer) noexcept
    : outer_inner_(std::exchange(stand.inner, inner)),
      outer_outer_(std::exchange(stand.outer, outer)) {}

ActingFor::~ActingFor() {
  stand.inner = outer_inner_;
  stand.outer = outer_outer_;
}

}  // namespace ebb::autograd
