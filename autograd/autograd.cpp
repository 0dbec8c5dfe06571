#include <ebb/autograd/autograd.h>

#include <ebb/autograd/autograd_meta.h>
#include <ebb/autograd/engine.h>
#include <ebb/autograd/grad_mode.h>
#include <ebb/core/ops/factory.h>
#include <ebb/core/ops/fill.h>

namespace ebb::autograd {

namespace {

Tensor root_gradient(const Tensor& output, const Tensor& given, size_t i) {
  if (!given.defined()) {
    EBB_CHECK(output.numel() == 1,
              "grad can be implicitly created only for scalar outputs: output ", i,
              " has the sizes ", output.sizes(), "; pass its gradient");
    Tensor one(ops::empty_like(output));
    ops::fill_fresh(one, 1);
    return one;
  }
  EBB_CHECK(given.sizes() == output.sizes(), "Mismatch in shape: the gradient of output ", i,
            " has the sizes ", given.sizes(), ", the output has ", output.sizes());
  EBB_CHECK(given.is_floating_point() && given.device() == output.device(),
            "the gradient of output ", i, " is a ", to_string(given.scalar_type()), " tensor on ",
            given.device(), ", the output a ", to_string(output.scalar_type()), " tensor on ",
            output.device());
  return given.scalar_type() == output.scalar_type() ? given : given.to(output.scalar_type());
}

engine::Request request_of(const variable_list& outputs, const variable_list& grads,
                           std::optional<bool> retain_graph, bool create_graph) {
  EBB_CHECK(grads.empty() || grads.size() == outputs.size(), "got ", outputs.size(),
            " tensors and ", grads.size(), " gradients for them");
  engine::Request request;
  request.create_graph = create_graph;
  request.keep_graph = retain_graph.value_or(create_graph);
  request.roots.reserve(outputs.size());
  for (size_t i = 0; i < outputs.size(); ++i) {
    EBB_CHECK(outputs[i].defined(), "element ", i, " of tensors is undefined");
    Edge edge = gradient_edge(outputs[i]);
    EBB_CHECK(edge.valid(), "element ", i,
              " of tensors does not require grad and does not have a grad_fn (sizes ",
              outputs[i].sizes(), ")");
    request.root_grads.push_back(root_gradient(outputs[i], grads.empty() ? Tensor() : grads[i], i));
    request.roots.push_back(std::move(edge));
  }
  return request;
}

edge_list edges_of(const variable_list& inputs) {
  edge_list edges;
  edges.reserve(inputs.size());
  for (size_t i = 0; i < inputs.size(); ++i) {
    EBB_CHECK(inputs[i].defined(), "input ", i, " is undefined");
    edges.push_back(gradient_edge(inputs[i]));
    EBB_CHECK(edges[i].valid(), "one of the differentiated tensors does not require grad: input ",
              i, " (sizes ", inputs[i].sizes(), ")");
  }
  return edges;
}

}  // namespace

void backward(const variable_list& tensors, const variable_list& grad_tensors,
              std::optional<bool> retain_graph, bool create_graph, const variable_list& inputs) {
  const OpName name("backward");
  engine::Request request = request_of(tensors, grad_tensors, retain_graph, create_graph);
  edge_list edges;
  if (!inputs.empty()) {
    edges = edges_of(inputs);
    for (const Tensor& input : inputs) {
      if (!input.is_leaf()) input.retain_grad();
    }
    request.inputs = &edges;
  }
  engine::run(std::move(request));
}

variable_list grad(const variable_list& outputs, const variable_list& inputs,
                   const variable_list& grad_outputs, std::optional<bool> retain_graph,
                   bool create_graph, bool allow_unused) {
  const OpName name("grad");
  EBB_CHECK(!inputs.empty(), "no inputs to differentiate with respect to");
  engine::Request request = request_of(outputs, grad_outputs, retain_graph, create_graph);
  const edge_list edges = edges_of(inputs);
  request.inputs = &edges;
  request.accumulate = false;
  variable_list gradients = engine::run(std::move(request));
  for (size_t i = 0; i < gradients.size(); ++i) {
    EBB_CHECK(
        gradients[i].defined() || allow_unused,
        "one of the differentiated tensors appears to not have been used in the graph: input ", i,
        " (sizes ", inputs[i].sizes(), "); set allow_unused=true if this is meant");
  }
  return gradients;
}

}  // namespace ebb::autograd
