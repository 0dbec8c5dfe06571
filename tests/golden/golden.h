#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include <ebb/autograd/tensor.h>

// The cases of tests/golden/ops.txt and rnn.txt, which tools/make_golden.py
// writes with PyTorch.

/// What PyTorch computes for some inputs of an op.
struct GoldenCase {
  std::string name;
  std::vector<ebb::Tensor> inputs;
  std::vector<ebb::Tensor> outputs;
  /// The gradients of floating-point inputs, by number: those of the sum over all outputs, each
  /// multiplied by the cosine of its elements' numbers.
  std::vector<std::pair<size_t, ebb::Tensor>> grads;
};

/// All cases, in the order of the file. Throws std::runtime_error for a file that it cannot read.
std::vector<GoldenCase> load_golden(const std::string& path);

/// Checks sizes, dtype and, to nine digits, all elements.
void check_close(const ebb::Tensor& ours, const ebb::Tensor& expected);

/// Runs backward from the outputs as PyTorch did for the case, and checks the gradients of
/// `leaves`, which are numbered as the inputs.
void check_gradients(const GoldenCase& golden, const std::vector<ebb::Tensor>& leaves,
                     const std::vector<ebb::Tensor>& outputs);
