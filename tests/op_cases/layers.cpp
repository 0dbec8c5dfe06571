#include <ebb/ebb.h>

#include "op_cases.h"

namespace op_cases {
namespace {

using Sizes = std::vector<int64_t>;

void add_products(std::vector<Case>& cases) {
  cases.push_back({"mm",
                   {real("self", {6, 100}), real("mat2", {100, 3})},
                   [](const Tensors& a) { return ebb::mm(a[0], a[1]); },
                   {}});
  cases.push_back({"bmm",
                   {real("self", {2, 5, 60}), real("mat2", {2, 60, 3})},
                   [](const Tensors& a) { return ebb::bmm(a[0], a[1]); },
                   {}});
  cases.push_back({"mv",
                   {real("self", {6, 100}), real("vec", {100})},
                   [](const Tensors& a) { return ebb::mv(a[0], a[1]); },
                   {}});
  cases.push_back({"dot",
                   {real("self", {100}), real("tensor", {100})},
                   [](const Tensors& a) { return ebb::dot(a[0], a[1]); },
                   {}});
  cases.push_back({"matmul",
                   {real("self", {2, 5, 60}), real("other", {60, 3})},
                   [](const Tensors& a) { return ebb::matmul(a[0], a[1]); },
                   {}});
  cases.push_back({"addmm",
                   {real("self", {6, 3}), real("mat1", {6, 100}), real("mat2", {100, 3})},
                   [](const Tensors& a) { return ebb::addmm(a[0], a[1], a[2], 2, 3); },
                   [](const Tensors& a) { ebb::addmm_(a[0], a[1], a[2], 2, 3); }});
  cases.push_back({"linear",
                   {real("input", {6, 100}), real("weight", {3, 100}), optional_real("bias", {3})},
                   [](const Tensors& a) { return ebb::linear(a[0], a[1], a[2]); },
                   {}});
}

void add_attention(std::vector<Case>& cases) {
  std::vector<Argument> arguments = {real("query", {4, 6, 8}), real("key", {4, 7, 8}),
                                     real("value", {4, 7, 9})};
  cases.push_back(
      {"scaled_dot_product_attention",
       arguments,
       [](const Tensors& a) { return ebb::scaled_dot_product_attention(a[0], a[1], a[2]); },
       {}});
  arguments.push_back(constant("attn_mask", {6, 7}));
  arguments.back().optional = true;
  cases.push_back(
      {"scaled_dot_product_attention.mask",
       arguments,
       [](const Tensors& a) { return ebb::scaled_dot_product_attention(a[0], a[1], a[2], a[3]); },
       {}});
}

void add_norms(std::vector<Case>& cases) {
  const std::vector<Argument> channels = {real("input", {4, 5, 50}), optional_real("weight", {5}),
                                          optional_real("bias", {5})};
  cases.push_back(
      {"batch_norm.training",
       channels,
       [](const Tensors& a) { return ebb::batch_norm(a[0], a[1], a[2], {}, {}, true, 0.1, 1e-5); },
       {}});
  auto with_statistics = channels;
  with_statistics.push_back(constant("running_mean", {5}));
  with_statistics.push_back(constant("running_var", {5}));
  cases.push_back({"batch_norm.evaluation",
                   with_statistics,
                   [](const Tensors& a) {
                     return ebb::batch_norm(a[0], a[1], a[2], a[3], a[4], false, 0.1, 1e-5);
                   },
                   {}});
  cases.push_back(
      {"layer_norm",
       {real("input", {6, 100}), optional_real("weight", {100}), optional_real("bias", {100})},
       [](const Tensors& a) { return ebb::layer_norm(a[0], {100}, a[1], a[2]); },
       {}});
}

void add_recurrent(std::vector<Case>& cases) {
  // Three steps of 6, 4 and 2 sequences.
  const auto list = [](const auto& results) {
    const auto& [output, hidden, cell] = results;
    return cell.defined() ? Results(Tensors{output, hidden, cell})
                          : Results(Tensors{output, hidden});
  };
  cases.push_back(
      {"rnn_layer",
       {real("input", {12, 40}), real("w_ih", {80, 40}), real("w_hh", {80, 20})},
       [list](const Tensors& a) {
         return list(ebb::rnn_layer("LSTM", a[0], {}, {}, {a[1], a[2], {}, {}}, {6, 4, 2}));
       },
       {}});
  cases.push_back(
      {"rnn_layer.gru",
       {real("input", {12, 40}), optional_real("hx", {1, 6, 20}), real("w_ih", {60, 40}),
        real("w_hh", {60, 20})},
       [list](const Tensors& a) {
         return list(ebb::rnn_layer("GRU", a[0], a[1], {}, {a[2], a[3], {}, {}}, {6, 4, 2}));
       },
       {}});
}

void add_convolutions(std::vector<Case>& cases) {
  const Sizes input = {2, 4, 8, 9};
  const Sizes weight = {6, 2, 3, 3};
  const Sizes output = {2, 6, 4, 5};
  cases.push_back({"conv2d",
                   {real("input", input), real("weight", weight), optional_real("bias", {6})},
                   [](const Tensors& a) { return ebb::conv2d(a[0], a[1], a[2], 2, 1, 1, 2); },
                   {}});
  cases.push_back({"conv2d_backward_input",
                   {real("grad_output", output), real("weight", weight)},
                   [input](const Tensors& a) {
                     return ebb::conv2d_backward_input(input, a[0], a[1], 2, 1, 1, 2);
                   },
                   {}});
  cases.push_back({"conv2d_backward_weight",
                   {real("grad_output", output), real("input", input)},
                   [weight](const Tensors& a) {
                     return ebb::conv2d_backward_weight(weight, a[0], a[1], 2, 1, 1, 2);
                   },
                   {}});
}

void add_pooling(std::vector<Case>& cases) {
  const Sizes input = {4, 8, 16, 16};
  const Sizes output = {4, 8, 8, 8};
  cases.push_back({"max_pool2d",
                   {real("self", input)},
                   [](const Tensors& a) { return ebb::max_pool2d(a[0], 2); },
                   {}});
  cases.push_back({"max_pool2d.large_window",
                   {real("self", {4, 8, 34, 34})},
                   [](const Tensors& a) { return ebb::max_pool2d(a[0], 17); },
                   {}});
  cases.push_back({"avg_pool2d",
                   {real("self", input)},
                   [](const Tensors& a) { return ebb::avg_pool2d(a[0], 2); },
                   {}});
  const auto offsets = index("offsets", output, 4);
  // Offsets are bytes.
  const auto bytes = [](const ebb::Tensor& x) { return x.defined() ? x.to(ebb::kByte) : x; };
  cases.push_back({"max_pool2d_backward",
                   {real("grad_output", output), offsets},
                   [input, bytes](const Tensors& a) {
                     return ebb::max_pool2d_backward(a[0], bytes(a[1]), input, 2, 2, 0, 1, false);
                   },
                   {}});
  cases.push_back({"max_pool2d_gather",
                   {real("self", input), offsets},
                   [bytes](const Tensors& a) {
                     return ebb::max_pool2d_gather(a[0], bytes(a[1]), 2, 2, 0, 1, false);
                   },
                   {}});
  cases.push_back({"avg_pool2d_backward",
                   {real("grad_output", output)},
                   [input](const Tensors& a) {
                     return ebb::avg_pool2d_backward(a[0], input, 2, 2, 0, false, true,
                                                     std::nullopt);
                   },
                   {}});
}

void add_embedding(std::vector<Case>& cases) {
  cases.push_back({"embedding",
                   {real("weight", {9, 100}), index("indices", {4, 30}, 9)},
                   [](const Tensors& a) { return ebb::embedding(a[0], a[1], 2, true); },
                   {}});
  cases.push_back({"embedding_backward",
                   {real("grad_output", {4, 30, 100}), index("indices", {4, 30}, 9)},
                   [](const Tensors& a) { return ebb::embedding_backward(a[0], a[1], 9, 2, true); },
                   {}});
}

void add_losses(std::vector<Case>& cases) {
  const auto rows = real("self", {200, 7});
  const auto target = index("target", {200}, 7);
  auto weight = constant("weight", {7});
  weight.optional = true;
  const auto mean = ebb::Reduction::Mean;
  cases.push_back({"nll_loss",
                   {rows, target, weight},
                   [](const Tensors& a) { return ebb::nll_loss(a[0], a[1], a[2]); },
                   {}});
  cases.push_back({"cross_entropy_loss",
                   {rows, target, weight},
                   [](const Tensors& a) { return ebb::cross_entropy_loss(a[0], a[1], a[2]); },
                   {}});
  cases.push_back(
      {"linear_cross_entropy",
       {real("input", {200, 24}), real("weight", {7, 24}), target, optional_real("bias", {7})},
       [](const Tensors& a) {
         return ebb::linear_cross_entropy(a[0], a[1], a[2], a[3], ebb::Reduction::Mean, -100, 0.1,
                                          48);
       },
       {}});
  cases.push_back({"mse_loss",
                   {rows, real("target", {200, 7})},
                   [](const Tensors& a) { return ebb::mse_loss(a[0], a[1]); },
                   {}});
  cases.push_back({"nll_loss_backward",
                   {real("grad_output", {}), target, weight, constant("total_weight", {})},
                   [mean](const Tensors& a) {
                     return ebb::nll_loss_backward(a[0], a[1], a[2], a[3], {200, 7}, mean, -100);
                   },
                   {}});
  cases.push_back({"cross_entropy_loss_backward",
                   {real("grad_output", {}), rows, target, weight, constant("log_sum_exp", {200}),
                    constant("total_weight", {})},
                   [mean](const Tensors& a) {
                     return ebb::cross_entropy_loss_backward(a[0], a[1], a[2], a[3], a[4], a[5],
                                                             mean, -100, 0);
                   },
                   {}});
  cases.push_back({"mse_loss_backward",
                   {real("grad_output", {}), rows, real("target", {200, 7})},
                   [](const Tensors& a) { return ebb::mse_loss_backward(a[0], a[1], a[2]); },
                   {}});
}

}  // namespace

void add_layers(std::vector<Case>& cases) {
  add_products(cases);
  add_attention(cases);
  add_norms(cases);
  add_recurrent(cases);
  add_convolutions(cases);
  add_pooling(cases);
  add_embedding(cases);
  add_losses(cases);
}

}  // namespace op_cases
