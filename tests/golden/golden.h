#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include <ebb/autograd/tensor.h>

// The cases of the files tests/golden/*.txt, which tools/make_golden.py writes with PyTorch.

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

/// Checks sizes, dtype and, to a relative difference of `epsilon`, all elements.
void check_close(const ebb::Tensor& ours, const ebb::Tensor& expected, double epsilon = 1e-9);

/// Runs backward from the outputs as PyTorch did for the case, and checks the gradients of
/// `leaves`, which are numbered as the inputs.
void check_gradients(const GoldenCase& golden, const std::vector<ebb::Tensor>& leaves,
                     const std::vector<ebb::Tensor>& outputs, double epsilon = 1e-9);

/// What a case calls, by its name.
using GoldenTable =
    std::map<std::string,
             std::function<std::vector<ebb::Tensor>(const std::vector<ebb::Tensor>& inputs)>>;

/// Runs the cases of a file whose names are in the table, and checks results and gradients; each
/// name must be in the file.
void check_golden(const std::string& path, const GoldenTable& table, double epsilon = 1e-9);
