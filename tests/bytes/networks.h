#pragma once

#include <ebb/ebb.h>
#include <ebb/testing/measure.h>

#include <random>
#include <vector>

// Networks whose bytes can be told from their shapes, and a cache in disorder.

namespace bytes {

inline constexpr int64_t kBatch = 96;
inline constexpr int64_t kWidth = 160;
inline constexpr int kLayers = 5;

/// What a float tensor of these sizes counts as.
inline int64_t float_bytes(int64_t numel) {
  return static_cast<int64_t>(ebb::memory::rounded(static_cast<size_t>(numel) * 4));
}
inline int64_t activation_bytes() { return float_bytes(kBatch * kWidth); }
inline int64_t weight_bytes() { return float_bytes(kWidth * kWidth); }
inline int64_t bias_bytes() { return float_bytes(kWidth); }
/// Bytes of the gradients of `layers` linear layers.
inline int64_t gradient_bytes(int layers = kLayers) {
  return layers * (weight_bytes() + bias_bytes());
}

/// Linear and ReLU by turns, all of one width, ending with a ReLU.
inline ebb::nn::Sequential chain(int layers = kLayers) {
  ebb::nn::Sequential net;
  for (int i = 0; i < layers; ++i) {
    net->push_back(ebb::nn::Linear(kWidth, kWidth));
    net->push_back(ebb::nn::ReLU());
  }
  return net;
}

inline ebb::Tensor input() { return ebb::randn({kBatch, kWidth}); }

/// Leaves free blocks of odd sizes in the cache, with used ones between them for as long as it
/// lives: what a program has done before must not change any figure.
class OddCache {
 public:
  explicit OddCache(unsigned seed) {
    std::mt19937 random(seed);
    std::vector<ebb::Tensor> tensors;
    for (int i = 0; i < 200; ++i) {
      const int64_t size = static_cast<int64_t>(random() % 60000) + 1;
      tensors.push_back(ebb::empty({size}));
    }
    for (size_t i = 0; i < tensors.size(); ++i) {
      if (random() % 5 == 0) kept_.push_back(tensors[i]);
    }
    const auto large = ebb::empty({3 << 20});
  }

 private:
  std::vector<ebb::Tensor> kept_;
};

}  // namespace bytes
