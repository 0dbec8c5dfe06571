#include <ebb/autograd/engine.h>

#include <algorithm>

#include <ebb/autograd/accumulate_grad.h>
#include <ebb/autograd/anomaly.h>
#include <ebb/autograd/backward_streams.h>
#include <ebb/autograd/grad_mode.h>
#include <ebb/autograd/node_table.h>
#include <ebb/core/ops/binary.h>

namespace ebb::autograd::engine {

namespace {

class GraphTask;
constinit thread_local GraphTask* current_task = nullptr;

/// Sets what backward needs of the thread, and puts back what was there.
class EngineScope {
 public:
  EngineScope(GraphTask* task, bool create_graph)
      : state_(thread_state()), saved_(state_), outer_task_(std::exchange(current_task, task)) {
    state_.grad_enabled = create_graph;
    state_.inference_mode = false;
    // Gradients have the dtypes of forward; a guard that a hook opens is an outermost one.
    state_.autocast = {.dtype = {saved_.autocast.dtype[0], saved_.autocast.dtype[1]}};
  }
  ~EngineScope() {
    state_.op_name = saved_.op_name;
    state_.current_node = saved_.current_node;
    state_.grad_enabled = saved_.grad_enabled;
    state_.inference_mode = saved_.inference_mode;
    state_.autocast = saved_.autocast;
    current_task = outer_task_;
  }
  EngineScope(const EngineScope&) = delete;
  EngineScope& operator=(const EngineScope&) = delete;

 private:
  ThreadState& state_;
  ThreadState saved_;
  GraphTask* outer_task_;
};

/// `into += grad`, in the memory of one of them where nobody else sees it.
void add_to(Tensor& into, Tensor&& grad) {
  if (!into.defined()) {
    into = std::move(grad);
  } else if (GradMode::is_enabled()) {
    into = into + grad;
  } else if (owns_memory(into)) {
    ops::add(ops::Form::in_place, into, grad, 1);
  } else if (owns_memory(grad)) {
    ops::add(ops::Form::in_place, grad, into, 1);
    into = std::move(grad);
  } else {
    into = Tensor(ops::add(ops::Form::fresh, into, grad, 1));
  }
}

/// Makes a gradient fit the input of the node that it goes to: the sum over what was broadcast, in
/// the dtype of the forward pass.
void fit(Tensor& grad, const Node& from, const Edge& edge) {
  if (edge.input_nr >= edge.node->num_inputs()) return;
  const InputMetadata& wanted = edge.node->input_metadata(edge.input_nr);
  const IntArrayRef sizes = wanted.sizes;
  if (grad.sizes() == sizes && grad.scalar_type() == wanted.dtype && grad.device() == wanted.device)
      [[likely]] {
    return;
  }
  if (wanted.dtype == ScalarType::Undefined) return;
  if (grad.sizes() != sizes) {
    EBB_CHECK(is_expandable_to(sizes, grad.sizes()), "Function ", from.name(),
              " returned an invalid gradient for ", edge.node->name(), ": got sizes ", grad.sizes(),
              " but expected sizes compatible with ", sizes);
    grad = grad.sum_to_size(sizes);
  }
  EBB_CHECK(grad.is_floating_point(), "Function ", from.name(), " returned a gradient of dtype ",
            to_string(grad.scalar_type()), "; expected ", to_string(wanted.dtype));
  EBB_CHECK(grad.device() == wanted.device, "Function ", from.name(), " returned a gradient on ",
            grad.device(), "; expected one on ", wanted.device);
  if (grad.scalar_type() != wanted.dtype) grad = grad.to(wanted.dtype);
}

/// One run of backward.
class GraphTask {
 public:
  explicit GraphTask(Request request) : request_(std::move(request)) {}
  ~GraphTask() {
    call_all(after_node_);
    call_all(after_backward_);
  }
  GraphTask(const GraphTask&) = delete;
  GraphTask& operator=(const GraphTask&) = delete;

  variable_list run() {
    const EngineScope scope(this, request_.create_graph);
    mark_inputs();
    discover();
    enter_roots();
    try {
      while (!ready_.empty()) evaluate(pop());
    } catch (...) {
      if (!request_.keep_graph) spend_all();
      throw;
    }
    streams_.join();
    return std::move(captured_);
  }

  void after_node(std::function<void()> action) { after_node_.push_back(std::move(action)); }
  void after_backward(std::function<void()> action) {
    after_backward_.push_back(std::move(action));
  }

  [[nodiscard]] bool wants(const Node& node) const noexcept {
    if (request_.inputs == nullptr) return true;
    const uint32_t index = table_.find(&node);
    return index == NodeTable::kNone || table_[index].wanted();
  }

 private:
  struct Capture {
    uint32_t state = 0;
    uint32_t input_nr = 0;
    size_t result = 0;
  };

  void mark_inputs() {
    if (request_.inputs == nullptr) return;
    const edge_list& inputs = *request_.inputs;
    if (!request_.accumulate) captured_.resize(inputs.size());
    for (size_t i = 0; i < inputs.size(); ++i) {
      const uint32_t index = table_.find_or_add(inputs[i].node.get());
      table_[index].captured = true;
      if (!request_.accumulate) captures_.push_back({index, inputs[i].input_nr, i});
    }
  }

  /// Visits every node once, counts the edges that lead to it, and finds out which lead to the
  /// inputs. Its stack is its own: a graph may be a million nodes deep.
  void discover() {
    std::vector<uint32_t> stack;
    for (const Edge& root : request_.roots) visit(root.node.get(), stack);
    while (!stack.empty()) {
      NodeState& state = table_[stack.back()];
      const edge_list& edges = state.node->next_edges();
      if (state.next_child == edges.size()) {
        finish_visit(state);
        stack.pop_back();
        continue;
      }
      const Edge& edge = edges[state.next_child++];
      if (!edge.valid()) continue;
      const uint32_t child = visit(edge.node.get(), stack);  // may move `state`
      ++table_[child].dependencies;
    }
  }

  uint32_t visit(Node* node, std::vector<uint32_t>& stack) {
    const uint32_t index = table_.find_or_add(node);
    if (!table_[index].visited) {
      table_[index].visited = true;
      stack.push_back(index);
    }
    return index;
  }

  void finish_visit(NodeState& state) {
    if (request_.inputs == nullptr) return;
    state.runs = request_.accumulate && state.captured;
    for (const Edge& edge : state.node->next_edges()) {
      if (state.runs) break;
      state.runs = edge.valid() && table_[table_.find(edge.node.get())].wanted();
    }
  }

  void enter_roots() {
    for (size_t i = 0; i < request_.roots.size(); ++i) {
      const Edge& root = request_.roots[i];
      const uint32_t index = table_.find(root.node.get());
      NodeState& state = table_[index];
      if (!state.wanted()) continue;
      deposit(state, root.input_nr, std::move(request_.root_grads[i]));
      if (state.dependencies == 0) enqueue(index);
    }
    request_.root_grads.clear();
  }

  static void deposit(NodeState& state, uint32_t input_nr, Tensor&& grad) {
    if (state.buffer.empty()) state.buffer.resize(state.node->num_inputs());
    std::optional<StreamIdGuard> stream;
    if (!grad.is_cpu() && input_nr < state.node->num_inputs()) {
      const InputMetadata& wanted = state.node->input_metadata(input_nr);
      BackwardStreams::hand_over(grad, wanted);
      if (grad.device() == wanted.device) stream.emplace(wanted.device, wanted.stream);
    }
    add_to(state.buffer[input_nr], std::move(grad));
  }

  // The latest node first: memory falls as backward goes. Accumulation into leaves before all.
  static bool runs_later(const std::pair<uint64_t, uint32_t>& a,
                         const std::pair<uint64_t, uint32_t>& b) {
    return a.first < b.first;
  }
  void enqueue(uint32_t index) {
    if (std::exchange(table_[index].queued, true)) return;
    ready_.emplace_back(table_[index].node->sequence_number(), index);
    std::push_heap(ready_.begin(), ready_.end(), runs_later);
  }
  uint32_t pop() {
    std::pop_heap(ready_.begin(), ready_.end(), runs_later);
    const uint32_t index = ready_.back().second;
    ready_.pop_back();
    return index;
  }

  void evaluate(uint32_t index) {
    NodeState& state = table_[index];
    Node& node = *state.node;
    ThreadState& thread = thread_state();
    thread.current_node = &node;
    thread.op_name = nullptr;  // hooks are the user's code
    std::optional<StreamIdGuard> stream;
    streams_.enter(node, stream);
    variable_list grads = std::move(state.buffer);
    grads.resize(node.num_inputs());
    node.run_hooks(grads);
    if (state.captured) capture(index, grads);
    if (!state.runs) return;

    thread.op_name = node.name();
    if (node.spent()) node.raise_spent();
    variable_list results = node.apply(std::move(grads));
    grads.clear();
    if (!request_.keep_graph) node.spend(/*failed=*/false);
    if (!after_node_.empty()) call_all(after_node_);
    check_results(node, results);
    for (size_t i = 0; i < node.num_outputs(); ++i) {
      const Edge& edge = node.next_edge(i);
      if (edge.valid()) pass_on(node, edge, std::move(results[i]));
    }
  }

  static void check_results(const Node& node, variable_list& results) {
    while (results.size() > node.num_outputs() && !results.back().defined()) results.pop_back();
    EBB_CHECK(results.size() == node.num_outputs(), "Function ", node.name(),
              " returned an incorrect number of gradients (expected ", node.num_outputs(), ", got ",
              results.size(), ")");
    if (AnomalyMode::is_enabled() && AnomalyMode::should_check_nan()) check_for_nan(node, results);
  }

  void pass_on(const Node& from, const Edge& edge, Tensor&& grad) {
    const uint32_t index = table_.find(edge.node.get());
    NodeState& state = table_[index];
    if (!state.wanted()) return;
    if (grad.defined()) {
      fit(grad, from, edge);
      deposit(state, edge.input_nr, std::move(grad));
    }
    if (--state.dependencies == 0) enqueue(index);
  }

  void capture(uint32_t index, const variable_list& grads) {
    for (const Capture& wanted : captures_) {
      if (wanted.state == index) captured_[wanted.result] = grads[wanted.input_nr];
    }
  }

  void spend_all() noexcept {
    for (NodeState& state : table_.states()) {
      state.buffer.clear();
      if (state.visited && state.runs) {
        state.node->spend(/*failed=*/true);
      }
    }
  }

  static void call_all(std::vector<std::function<void()>>& actions) {
    for (const auto& action : actions) action();
    actions.clear();
  }

  Request request_;
  std::vector<std::function<void()>> after_node_;
  std::vector<std::function<void()>> after_backward_;
  NodeTable table_;
  std::vector<Capture> captures_;
  variable_list captured_;
  std::vector<std::pair<uint64_t, uint32_t>> ready_;
  BackwardStreams streams_;
};

}  // namespace

variable_list run(Request request) { return GraphTask(std::move(request)).run(); }

bool after_node(std::function<void()> action) {
  if (current_task == nullptr) return false;
  current_task->after_node(std::move(action));
  return true;
}

bool after_backward(std::function<void()> action) {
  if (current_task == nullptr) return false;
  current_task->after_backward(std::move(action));
  return true;
}

bool is_wanted(const Node& node) noexcept {
  return current_task == nullptr || current_task->wants(node);
}

}  // namespace ebb::autograd::engine
