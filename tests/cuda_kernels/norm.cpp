#include <ebb/autograd/autograd.h>

#include "against_cpu.h"

using namespace kernel_tests;

namespace {

Tensor leaf(const Tensor& tensor) { return tensor.detach().requires_grad_(); }

/// Output, running statistics and gradients; inputs: x, weight, bias, mean, variance, gradient.
std::vector<Tensor> batch_norms(const std::vector<Tensor>& in, bool training) {
  const Tensor x = leaf(in[0]);
  const Tensor weight = leaf(in[1]);
  const Tensor bias = leaf(in[2]);
  const Tensor mean = in[3].clone();
  const Tensor var = in[4].clone();
  const Tensor y = ebb::batch_norm(x, weight, bias, mean, var, training, 0.1, 1e-5);
  std::vector<Tensor> result = autograd::grad({y}, {x, weight, bias}, {in[5]});
  result.insert(result.end(), {y.detach(), mean, var});
  return result;
}

void check_batch_norm(IntArrayRef sizes, ScalarType dtype, ScalarType parameters,
                      double tolerance) {
  const int64_t channels = sizes[1];
  const std::vector<Tensor> inputs = {host_tensor(sizes, dtype),
                                      host_tensor(channels, parameters, 0.5, 2, 2),
                                      host_tensor(channels, parameters, -1, 1, 3),
                                      host_tensor(channels, parameters, -1, 1, 4),
                                      host_tensor(channels, parameters, 0.5, 2, 5),
                                      host_tensor(sizes, dtype, -1, 1, 6)};
  for (const bool training : {true, false}) {
    INFO("sizes " << sizes << ", " << dtype << (training ? ", training" : ""));
    check_against_cpu(
        inputs, [&](const std::vector<Tensor>& in) { return batch_norms(in, training); },
        tolerance);
  }
}

std::vector<Tensor> layer_norms(const std::vector<Tensor>& in, IntArrayRef shape) {
  const Tensor x = leaf(in[0]);
  const Tensor weight = leaf(in[1]);
  const Tensor bias = leaf(in[2]);
  const Tensor y = ebb::layer_norm(x, shape, weight, bias);
  std::vector<Tensor> result = autograd::grad({y}, {x, weight, bias}, {in[3]});
  result.push_back(y.detach());
  const Tensor plain = ebb::layer_norm(x, shape);
  result.push_back(autograd::grad({plain}, {x}, {in[3]})[0]);
  return result;
}

void check_layer_norm(int64_t rows, int64_t n, ScalarType dtype, ScalarType parameters,
                      double tolerance) {
  const std::vector<int64_t> sizes = {rows, n};
  const std::vector<Tensor> inputs = {
      host_tensor(sizes, dtype), host_tensor(n, parameters, 0.5, 2, 2),
      host_tensor(n, parameters, -1, 1, 3), host_tensor(sizes, dtype, -1, 1, 4)};
  INFO("sizes " << IntArrayRef(sizes) << ", " << dtype << " and " << parameters);
  check_against_cpu(
      inputs, [&](const std::vector<Tensor>& in) { return layer_norms(in, n); }, tolerance);
}

}  // namespace

TEST_CASE("Batch norm on the device is the CPU's, with running statistics and gradients",
          "[norm]") {
  check_batch_norm({6, 5, 3, 3}, kDouble, kDouble, 1e-12);
  check_batch_norm({6, 5, 3, 3}, kFloat, kFloat, 1e-5);
  check_batch_norm({6, 5, 3, 3}, kHalf, kHalf, 1e-2);
  check_batch_norm({6, 5, 3, 3}, kBFloat16, kBFloat16, 6e-2);
  check_batch_norm({6, 5, 3, 3}, kHalf, kFloat, 1e-2);
}

TEST_CASE("Batch norm of rows, of one image and of channels in several pieces", "[norm][short]") {
  for (const int64_t n : {2, 31, 33, 257}) check_batch_norm({n, 3}, kDouble, kDouble, 1e-11);
  check_batch_norm({3, 33}, kDouble, kDouble, 1e-11);
  check_batch_norm({1, 2, 33}, kDouble, kDouble, 1e-11);
  check_batch_norm({2, 2, 9000}, kFloat, kFloat, 1e-4);
}

TEST_CASE("Layer norm on the device and its gradients are the CPU's", "[norm]") {
  check_layer_norm(7, 37, kDouble, kDouble, 1e-12);
  check_layer_norm(7, 37, kFloat, kFloat, 1e-5);
  check_layer_norm(7, 37, kHalf, kHalf, 1e-2);
  check_layer_norm(7, 37, kBFloat16, kBFloat16, 6e-2);
  check_layer_norm(7, 37, kHalf, kFloat, 1e-2);
  for (const int64_t n : kLengths) check_layer_norm(3, n, kDouble, kDouble, 1e-11);
}

TEST_CASE("Layer norm adds up the gradients of its weight in pieces of the rows", "[norm]") {
  check_layer_norm(300, 5, kDouble, kDouble, 1e-11);
  check_layer_norm(129, 33, kFloat, kFloat, 1e-4);
}
