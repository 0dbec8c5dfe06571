#include "networks.h"
#include "programs_expected.h"

using namespace networks;
using programs::wave;
namespace F = ebb::nn::functional;

// Forward, backward and gradients of each module against what LibTorch printed for
// tests/programs/layers.cpp. The lines have five decimals.

namespace {

constexpr double kTolerance = 1.1e-5;

const programs::Expected& expected() {
  static const programs::Expected lines("layers");
  return lines;
}

void fill_parameters(nn::Module& module) {
  const ebb::NoGradGuard no_grad;
  int k = 0;
  for (const auto& p : module.parameters()) p.copy_(0.5 * wave(p.sizes(), ++k));
}

template <typename M>
void check_layer(const std::string& label, M module, Tensor x) {
  fill_parameters(*module);
  x = x.clone();
  if (x.is_floating_point()) x.set_requires_grad(true);
  const Tensor y = module->forward(x);
  expected().check(label, y, kTolerance);
  y.backward(wave(y.sizes(), 1.0));
  if (x.requires_grad()) expected().check(label + ".dx", x.grad(), kTolerance);
  for (const auto& p : module->named_parameters()) {
    expected().check(label + ".d_" + p.key(), p.value().grad(), kTolerance);
  }
}

template <typename Loss>
void check_loss(const std::string& label, Loss loss) {
  const auto logits = wave({3, 4}).requires_grad_(true);
  const Tensor value = loss(logits);
  expected().check(label, value, kTolerance);
  value.sum().backward();
  expected().check(label + ".dx", logits.grad(), kTolerance);
}

}  // namespace

TEST_CASE("linear layers and convolutions compute what LibTorch computes") {
  check_layer("linear", nn::Linear(3, 2), wave({2, 3}));
  check_layer("linear.no_bias", nn::Linear(nn::LinearOptions(2, 2).bias(false)), wave({1, 3, 2}));
  check_layer("conv2d", nn::Conv2d(1, 2, 3), wave({1, 1, 4, 4}));
  check_layer("conv2d.stride_padding", nn::Conv2d(nn::Conv2dOptions(2, 1, 3).stride(2).padding(1)),
              wave({1, 2, 4, 4}));
  check_layer("conv2d.dilation", nn::Conv2d(nn::Conv2dOptions(1, 1, 2).dilation(2)),
              wave({1, 1, 4, 3}));
  check_layer("conv2d.groups", nn::Conv2d(nn::Conv2dOptions(2, 4, {1, 2}).groups(2).bias(false)),
              wave({1, 2, 2, 3}));
}

TEST_CASE("norms compute what LibTorch computes, and keep its running statistics") {
  nn::BatchNorm1d norm1d(3);
  check_layer("batch_norm1d", norm1d, wave({4, 3}));
  expected().check("batch_norm1d.running_mean", norm1d->running_mean, kTolerance);
  expected().check("batch_norm1d.running_var", norm1d->running_var, kTolerance);
  CHECK(norm1d->num_batches_tracked.item<int64_t>() == 1);
  norm1d->eval();
  expected().check("batch_norm1d.eval", norm1d->forward(wave({2, 3}, 0.5)), kTolerance);
  CHECK(norm1d->num_batches_tracked.item<int64_t>() == 1);

  nn::BatchNorm2d norm2d(nn::BatchNorm2dOptions(2).momentum(0.5).eps(1e-3));
  check_layer("batch_norm2d", norm2d, wave({2, 2, 1, 2}));
  norm2d->forward(wave({2, 2, 1, 2}, 2.0));
  expected().check("batch_norm2d.running_mean", norm2d->running_mean, kTolerance);
  expected().check("batch_norm2d.running_var", norm2d->running_var, kTolerance);

  check_layer("layer_norm", nn::LayerNorm(nn::LayerNormOptions({2, 2})), wave({2, 2, 2}));
}

TEST_CASE("embedding and pooling compute what LibTorch computes") {
  const auto words = ebb::tensor({{1, 3}, {0, 1}});
  check_layer("embedding", nn::Embedding(4, 2), words);
  check_layer("embedding.padding", nn::Embedding(nn::EmbeddingOptions(4, 2).padding_idx(1)), words);
  const auto image = wave({1, 1, 4, 4});
  check_layer("max_pool2d", nn::MaxPool2d(2), image);
  check_layer("max_pool2d.overlap", nn::MaxPool2d(nn::MaxPool2dOptions(3).stride(1).padding(1)),
              image);
  check_layer("avg_pool2d", nn::AvgPool2d(nn::AvgPool2dOptions({2, 1}).stride({2, 3})), image);
  check_layer("avg_pool2d.padding",
              nn::AvgPool2d(nn::AvgPool2dOptions(3).stride(2).padding(1).count_include_pad(false)),
              image);
}

TEST_CASE("activations compute what LibTorch computes") {
  const auto x = ebb::tensor({{-3.0, -1.0, -0.2}, {0.3, 1.0, 30.0}});
  check_layer("relu", nn::ReLU(), x);
  check_layer("gelu", nn::GELU(), x);
  check_layer("silu", nn::SiLU(), x);
  check_layer("tanh", nn::Tanh(), x);
  check_layer("sigmoid", nn::Sigmoid(), x);
  check_layer("softmax", nn::Softmax(1), wave({2, 3}));
  check_layer("log_softmax", nn::LogSoftmax(nn::LogSoftmaxOptions(0)), wave({2, 3}));
  check_layer("flatten", nn::Flatten(), wave({2, 1, 3}));
}

TEST_CASE("a network of modules computes what LibTorch computes") {
  Net net;
  fill_parameters(*net);
  for (const auto& p : net->named_parameters()) {
    CHECK(printed(p.value().sizes()) == expected().text("net.parameter." + p.key()));
  }
  for (const auto& b : net->named_buffers()) {
    expected().check("net.buffer." + b.key(), b.value(), kTolerance);
  }
  net->eval();
  const auto y = net->forward(wave({2, 3}));
  expected().check("net.forward", y, kTolerance);
  y.sum().backward();
  expected().check("net.grad", net->named_parameters()["blocks.0.first.weight"].grad(), kTolerance);

  Block block(2);
  fill_parameters(*block);
  block->eval();
  const auto copy = std::dynamic_pointer_cast<BlockImpl>(block->clone());
  {
    const ebb::NoGradGuard no_grad;
    copy->first->weight.zero_();
    copy->offset.fill_(0);
  }
  expected().check("clone.original", block(wave({1, 2})), kTolerance);
  expected().check("clone.changed", copy->forward(wave({1, 2})), kTolerance);
  block->to(ebb::kDouble);
  expected().check("to.double", block(wave({1, 2}, 0.0, ebb::kDouble)), 1e-7);
}

TEST_CASE("losses compute what LibTorch computes") {
  const auto input = wave({2, 3});
  const auto goal = wave({2, 3}, 2.0);
  expected().check("mse_loss", F::mse_loss(input, goal), kTolerance);
  expected().check("mse_loss.sum", F::mse_loss(input, goal, F::MSELossFuncOptions(ebb::kSum)),
                   kTolerance);
  expected().check("mse_loss.none", F::mse_loss(input, goal, ebb::kNone), kTolerance);
  expected().check("mse_loss.sum", nn::MSELoss(nn::MSELossOptions(ebb::kSum))(input, goal),
                   kTolerance);

  using Options = F::CrossEntropyFuncOptions;
  const auto target = ebb::tensor({2, 0, 3});
  const auto weight = ebb::tensor({0.5, 1.0, 2.0, 4.0});
  const auto with = [&](Options options) {
    return [=](const Tensor& x) { return F::cross_entropy(x, target, options); };
  };
  check_loss("cross_entropy", with(Options()));
  check_loss("cross_entropy.sum", with(Options().reduction(ebb::kSum)));
  check_loss("cross_entropy.none", with(Options().reduction(ebb::kNone)));
  check_loss("cross_entropy.weight", with(Options().weight(weight)));
  check_loss("cross_entropy.ignore", with(Options().weight(weight).ignore_index(0)));
  check_loss("cross_entropy.smoothing", with(Options().label_smoothing(0.2)));
  check_loss("cross_entropy.module", [&](const Tensor& x) {
    return nn::CrossEntropyLoss(nn::CrossEntropyLossOptions().ignore_index(3))(x, target);
  });
  check_loss("nll_loss", [&](const Tensor& x) {
    return nn::NLLLoss(nn::NLLLossOptions().weight(weight))(ebb::log_softmax(x, 1), target);
  });
}
