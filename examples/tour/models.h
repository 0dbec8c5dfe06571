#pragma once

#include <ebb/ebb.h>

#include "recipe.h"

// The two networks on which the techniques are measured.

namespace tour {

/// A body of layers and a linear layer that gives the logits.
class NetworkImpl : public ebb::nn::Module {
 public:
  NetworkImpl(ebb::nn::Sequential body, ebb::nn::Linear head);
  /// The head's weight is a tensor of the body.
  NetworkImpl(ebb::nn::Sequential body, ebb::nn::Embedding table);

  /// The mean cross entropy of the logits: input [n, ...] of images or tokens, target the class of
  /// each row that the body gives. The recipe says how it is computed.
  ebb::Tensor loss(const ebb::Tensor& input, const ebb::Tensor& target, const Recipe& recipe);
  /// What an optimizer is to change.
  [[nodiscard]] std::vector<ebb::Tensor> trained_parameters() const;

 private:
  ebb::nn::Sequential body_;
  ebb::nn::Linear head_{nullptr};
  ebb::nn::Embedding table_{nullptr};
};
EBB_MODULE(Network);

/// Two blocks of convolution, batch norm, relu and pooling, and two linear layers: the network of
/// the account of MNIST, without dropout. Images [n, 1, 28, 28].
Network make_convnet(const Recipe& recipe);

/// A small GPT that reads words and guesses the next: embeddings of words and positions, blocks of
/// causal attention and a layer of four times the width, each behind a layer norm and beside a
/// residual connection. Tokens [n, length].
Network make_gpt(const Recipe& recipe, const Shapes& shapes);

}  // namespace tour
