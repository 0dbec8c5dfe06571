#include <ebb/ebb.h>

#include "catch.h"
#include "golden/golden.h"

using ebb::Scalar;
using ebb::Tensor;

namespace {

using Tensors = std::vector<Tensor>;

auto one(Tensor (*op)(const Tensor&)) {
  return [op](const Tensors& in) { return Tensors{op(in[0])}; };
}
auto two(Tensor (*op)(const Tensor&, const Tensor&)) {
  return [op](const Tensors& in) { return Tensors{op(in[0], in[1])}; };
}

GoldenTable table() {
  return {
      {"atan", one(ebb::atan)},
      {"sinh", one(ebb::sinh)},
      {"cosh", one(ebb::cosh)},
      {"asinh", one(ebb::asinh)},
      {"erfc", one(ebb::erfc)},
      {"exp2", one(ebb::exp2)},
      {"frac", one(ebb::frac)},
      {"asin", one(ebb::asin)},
      {"acos", one(ebb::acos)},
      {"atanh", one(ebb::atanh)},
      {"acosh", one(ebb::acosh)},
      {"elu", one([](const Tensor& x) { return ebb::elu(x); })},
      {"selu", one(ebb::selu)},
      {"celu", one([](const Tensor& x) { return ebb::celu(x); })},
      {"leaky_relu", one([](const Tensor& x) { return ebb::leaky_relu(x); })},
      {"hardtanh", one([](const Tensor& x) { return ebb::hardtanh(x); })},
      {"relu6", one(ebb::relu6)},
      {"hardswish", one(ebb::hardswish)},
      {"softplus", one([](const Tensor& x) { return ebb::softplus(x); })},
      {"mish", one(ebb::mish)},
      {"softsign", one(ebb::softsign)},
      {"tanhshrink", one(ebb::tanhshrink)},
      {"softshrink", one([](const Tensor& x) { return ebb::softshrink(x); })},
      {"hardshrink", one([](const Tensor& x) { return ebb::hardshrink(x); })},
      {"log_sigmoid", one(ebb::log_sigmoid)},
      {"elu alpha", one([](const Tensor& x) { return ebb::elu(x, 0.3); })},
      {"leaky_relu slope", one([](const Tensor& x) { return ebb::leaky_relu(x, 0.3); })},
      {"hardtanh bounds", one([](const Tensor& x) { return ebb::hardtanh(x, -0.3, 0.9); })},
      {"softplus beta", one([](const Tensor& x) { return ebb::softplus(x, 2.5, 3); })},
      {"softshrink lambd", one([](const Tensor& x) { return ebb::softshrink(x, 0.9); })},
      {"hardshrink lambd", one([](const Tensor& x) { return ebb::hardshrink(x, 0.9); })},
      {"threshold", one([](const Tensor& x) { return ebb::threshold(x, 0.2, -3); })},
      {"logit", one([](const Tensor& x) { return ebb::logit(x); })},
      {"logit eps", one([](const Tensor& x) { return ebb::logit(x, 0.2); })},
      {"prelu", two(ebb::prelu)},
      {"prelu one weight", two(ebb::prelu)},
      {"fmod", two(ebb::fmod)},
      {"fmax", two(ebb::fmax)},
      {"fmin", two(ebb::fmin)},
      {"atan2", two(ebb::atan2)},
      {"hypot", two(ebb::hypot)},
      {"integer fmod", two(ebb::fmod)},
      {"nan_to_num", one([](const Tensor& x) { return ebb::nan_to_num(x); })},
  };
}

/// Those that PyTorch computes with a constant rounded to float32 (1/6, 1/alpha).
GoldenTable with_short_constants() {
  return {
      {"hardsigmoid", one(ebb::hardsigmoid)},
      {"celu alpha", one([](const Tensor& x) { return ebb::celu(x, 1.7); })},
  };
}

}  // namespace

TEST_CASE("further elementwise ops and their gradients agree with PyTorch") {
  const std::string file = EBB_SOURCE_DIR "/tests/golden/elementwise.txt";
  check_golden(file, table());
  check_golden(file, with_short_constants(), 1e-7);
  CHECK(load_golden(file).size() == table().size() + with_short_constants().size());
}
