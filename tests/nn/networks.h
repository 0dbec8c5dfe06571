#pragma once

#include <cstdint>
#include <memory>
#include <sstream>
#include <string>

#include <ebb/ebb.h>
#include "catch.h"

// What the tests of modules share.

namespace networks {

namespace nn = ebb::nn;
using ebb::Tensor;

/// Two layers with a shortcut: everything is registered in reset(), so it can be cloned.
struct BlockImpl : nn::Cloneable<BlockImpl> {
  explicit BlockImpl(int64_t width) : width(width) { reset(); }
  void reset() override {
    first = register_module("first", nn::Linear(width, width));
    second = register_module("second", nn::Linear(nn::LinearOptions(width, width).bias(false)));
    gain = register_parameter("gain", ebb::ones({width}));
    offset = register_buffer("offset", ebb::full({width}, 0.5));
  }
  Tensor forward(Tensor x) { return x + gain * second(ebb::tanh(first(x))) + offset; }

  int64_t width;
  nn::Linear first{nullptr}, second{nullptr};
  Tensor gain, offset;
};
EBB_MODULE(Block);

/// A network of the user's: not cloneable.
struct NetImpl : nn::Module {
  NetImpl() {
    register_module("stem", stem);
    register_module("blocks", blocks);
    for (int i = 0; i < 2; ++i) blocks->push_back(Block(2));
    head = register_module("head", nn::Linear(2, 1));
    scale = register_parameter("scale", ebb::ones({1}));
  }
  Tensor forward(Tensor x) {
    x = stem->forward(x);
    for (size_t i = 0; i < blocks->size(); ++i) x = blocks[i]->as<Block>()->forward(x);
    return scale * head(x);
  }

  nn::Sequential stem{nn::Linear(3, 4), nn::ReLU(), nn::Linear(4, 2), nn::Dropout(0.5)};
  nn::ModuleList blocks;
  nn::Linear head{nullptr};
  Tensor scale;
};
EBB_MODULE(Net);

template <typename T>
std::string printed(const T& object) {
  std::ostringstream stream;
  stream << object;
  return stream.str();
}

}  // namespace networks
