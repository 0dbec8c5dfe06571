#pragma once

#include <ebb/cuda/cuda.h>
#include <ebb/cuda/emulator.h>
#include <ebb/ebb.h>

#include <vector>

#include "catch.h"

// A small network of the tour's kind, and what its training steps do on one device.

namespace training {

namespace nn = ebb::nn;
using ebb::Tensor;

/// Convolution, batch norm, pooling, dropout and two linear layers, for images [n, 1, 8, 8].
inline nn::Sequential network(double dropout = 0) {
  return nn::Sequential(nn::Conv2d(nn::Conv2dOptions(1, 4, 3).padding(1)), nn::BatchNorm2d(4),
                        nn::ReLU(), nn::MaxPool2d(2), nn::Flatten(), nn::Dropout(dropout),
                        nn::Linear(64, 16), nn::ReLU(), nn::Linear(16, 5));
}

/// A network with its optimizer and one batch, the same numbers on whatever device.
struct Training {
  explicit Training(ebb::Device device, ebb::ScalarType dtype = ebb::kFloat, double dropout = 0) {
    ebb::manual_seed(7);
    {
      // Made on the CPU, so that the initial parameters are the same.
      net = network(dropout);
      images = ebb::randn({6, 1, 8, 8}, ebb::kCPU);
      labels = ebb::randint(5, {6}, ebb::TensorOptions().device(ebb::kCPU).dtype(ebb::kLong));
    }
    net->to(device, dtype);
    images = images.to(device, dtype);
    labels = labels.to(device);
    optimizer = std::make_unique<ebb::optim::Adam>(net->parameters(),
                                                   ebb::optim::AdamOptions(1e-2).eps(1e-4));
    ebb::manual_seed(11);
  }

  Tensor loss() { return ebb::cross_entropy_loss(net->forward(images), labels); }
  Tensor step() {
    optimizer->zero_grad();
    Tensor result = loss();
    result.backward();
    optimizer->step();
    return result.detach();
  }

  nn::Sequential net{nullptr};
  std::unique_ptr<ebb::optim::Optimizer> optimizer;
  Tensor images, labels;
};

/// The losses of the first steps.
inline std::vector<double> losses(ebb::Device device, int steps,
                                  ebb::ScalarType dtype = ebb::kFloat, double dropout = 0) {
  Training training(device, dtype, dropout);
  std::vector<double> result;
  for (int i = 0; i < steps; ++i) result.push_back(training.step().item<double>());
  return result;
}

}  // namespace training
