#include "networks.h"

#include <cmath>

#include <ebb/testing/measure.h>

using namespace networks;
using Catch::Matchers::ContainsSubstring;
using ebb::memory::Category;
namespace F = ebb::nn::functional;

namespace {

/// Whether all values are in [-bound, bound], and spread like a uniform distribution there.
void check_uniform(const Tensor& values, double bound) {
  CHECK(values.abs().max().item<double>() <= bound);
  CHECK(values.std().item<double>() == Approx(bound / std::sqrt(3)).epsilon(0.05));
  CHECK(values.mean().item<double>() == Approx(0).margin(0.05 * bound));
}

}  // namespace

TEST_CASE("linear layers and convolutions start uniform in one over the root of fan in") {
  ebb::manual_seed(1);
  nn::Linear linear(400, 100);
  check_uniform(linear->weight.detach(), 1 / std::sqrt(400.0));
  CHECK(linear->bias.abs().max().item<double>() <= 1 / std::sqrt(400.0));
  CHECK(linear->bias.std().item<double>() > 0);
  nn::Conv2d conv(nn::Conv2dOptions(8, 64, 5).groups(2));
  check_uniform(conv->weight.detach(), 1 / std::sqrt(4.0 * 25));
  CHECK(conv->bias.abs().max().item<double>() <= 1 / std::sqrt(4.0 * 25));
  CHECK(linear->weight.is_leaf());
  CHECK(linear->weight._version() == 1);
}

TEST_CASE("the first values of a layer depend on the seed alone") {
  ebb::manual_seed(7);
  const nn::Linear first(5, 6);
  ebb::manual_seed(7);
  const nn::Linear second(5, 6);
  CHECK(ebb::equal(first->weight, second->weight));
  CHECK(ebb::equal(first->bias, second->bias));
}

TEST_CASE("embeddings start normal, norms as the identity") {
  ebb::manual_seed(2);
  nn::Embedding embedding(nn::EmbeddingOptions(200, 50).padding_idx(-1));
  CHECK(*embedding->options.padding_idx() == 199);
  CHECK(embedding->weight[199].abs().sum().item<double>() == 0);
  const Tensor rest = embedding->weight.detach().narrow(0, 0, 199);
  CHECK(rest.mean().item<double>() == Approx(0).margin(0.05));
  CHECK(rest.std().item<double>() == Approx(1).epsilon(0.03));
  nn::LayerNorm norm(nn::LayerNormOptions({2, 3}));
  CHECK(ebb::equal(norm->weight.detach(), ebb::ones({2, 3})));
  CHECK(ebb::equal(norm->bias.detach(), ebb::zeros({2, 3})));
  nn::BatchNorm3d batch_norm(4);
  CHECK(ebb::equal(batch_norm->running_var, ebb::ones({4})));
  CHECK(ebb::equal(batch_norm->running_mean, ebb::zeros({4})));
}

TEST_CASE("options leave parameters out") {
  nn::Linear linear(nn::LinearOptions(2, 3).bias(false));
  CHECK_FALSE(linear->bias.defined());
  CHECK(linear->named_parameters().keys() == std::vector<std::string>{"weight"});
  nn::LayerNorm norm(nn::LayerNormOptions({2}).elementwise_affine(false));
  CHECK(norm->parameters().empty());
  CHECK(norm(ebb::tensor({{1.0, 3.0}}))[0][1].item<float>() == Approx(1).epsilon(1e-4));
  nn::BatchNorm1d batch_norm(nn::BatchNorm1dOptions(2).affine(false).track_running_stats(false));
  CHECK(batch_norm->parameters().empty());
  CHECK(batch_norm->buffers().empty());
  batch_norm->eval();
  CHECK(batch_norm(ebb::tensor({{1.0, 3.0}, {3.0, 1.0}}))[0][0].item<float>() ==
        Approx(-1).epsilon(1e-4));
  const auto options = nn::Conv2dOptions(1, 2, 3).stride({1, 2}).padding({0, 3}).dilation(2);
  CHECK(ebb::IntArrayRef(options.stride()) == ebb::IntArrayRef({1, 2}));
  CHECK(ebb::IntArrayRef(options.kernel_size()) == ebb::IntArrayRef({3, 3}));
}

TEST_CASE("layers print their options") {
  CHECK(printed(nn::Identity()) == "ebb::nn::Identity()");
  CHECK(printed(nn::Flatten()) == "ebb::nn::Flatten(start_dim=1, end_dim=-1)");
  CHECK(printed(nn::Conv2d(1, 32, 3)) ==
        "ebb::nn::Conv2d(1, 32, kernel_size=[3, 3], stride=[1, 1])");
  CHECK(printed(nn::Conv2d(
            nn::Conv2dOptions(2, 4, {1, 2}).padding({1, 2}).dilation(2).groups(2).bias(false))) ==
        "ebb::nn::Conv2d(2, 4, kernel_size=[1, 2], stride=[1, 1], padding=[1, 2], "
        "dilation=[2, 2], groups=2, bias=false)");
  CHECK(printed(nn::Conv2d(nn::Conv2dOptions(2, 4, 3).padding(ebb::kSame))) ==
        "ebb::nn::Conv2d(2, 4, kernel_size=[3, 3], stride=[1, 1], padding='same')");
  CHECK(printed(nn::LayerNorm(nn::LayerNormOptions({2, 3}))) ==
        "ebb::nn::LayerNorm([2, 3], eps=1e-05, elementwise_affine=true)");
  CHECK(printed(nn::BatchNorm1d(nn::BatchNorm1dOptions(3).momentum(std::nullopt))) ==
        "ebb::nn::BatchNorm1d(3, eps=1e-05, momentum=None, affine=true, "
        "track_running_stats=true)");
  CHECK(printed(nn::Embedding(nn::EmbeddingOptions(4, 2).padding_idx(1))) ==
        "ebb::nn::Embedding(num_embeddings=4, embedding_dim=2, padding_idx=1)");
  CHECK(printed(nn::Dropout(0.25)) == "ebb::nn::Dropout(p=0.25, inplace=false)");
  CHECK(printed(nn::MaxPool2d(2)) ==
        "ebb::nn::MaxPool2d(kernel_size=[2, 2], stride=[2, 2], padding=[0, 0], "
        "dilation=[1, 1], ceil_mode=false)");
  CHECK(printed(nn::AvgPool2d(2)) ==
        "ebb::nn::AvgPool2d(kernel_size=[2, 2], stride=[2, 2], padding=[0, 0])");
  CHECK(printed(nn::ReLU(nn::ReLUOptions(true))) == "ebb::nn::ReLU(inplace=true)");
  CHECK(printed(nn::GELU()) == "ebb::nn::GELU()");
  CHECK(printed(nn::Softmax(1)) == "ebb::nn::Softmax(dim=1)");
  CHECK(printed(nn::CrossEntropyLoss()) == "ebb::nn::CrossEntropyLoss()");
  CHECK(printed(nn::Functional(ebb::relu)) == "ebb::nn::Functional()");
}

TEST_CASE("modules and functions compute the same") {
  const Tensor x = ebb::randn({2, 3, 6, 5});
  nn::Conv2d conv(nn::Conv2dOptions(3, 4, 3).stride(2).padding(1));
  CHECK(ebb::equal(
      conv(x),
      F::conv2d(x, conv->weight, F::Conv2dFuncOptions().bias(conv->bias).stride(2).padding(1))));
  CHECK(ebb::equal(nn::MaxPool2d(2)(x), F::max_pool2d(x, F::MaxPool2dFuncOptions(2))));
  CHECK(ebb::equal(nn::AvgPool2d(2)(x), ebb::avg_pool2d(x, 2)));
  CHECK(ebb::equal(nn::SiLU()(x), F::silu(x)));
  CHECK(ebb::equal(nn::GELU(nn::GELUOptions().approximate("tanh"))(x), ebb::gelu(x, "tanh")));
  CHECK(ebb::equal(nn::LogSoftmax(1)(x), F::log_softmax(x, 1)));
  CHECK(ebb::equal(nn::Identity()(x), x));
  nn::BatchNorm2d norm(3);
  norm->eval();
  CHECK(ebb::equal(norm(x),
                   F::batch_norm(x, norm->running_mean, norm->running_var,
                                 F::BatchNormFuncOptions().weight(norm->weight).bias(norm->bias))));
  const auto ids = ebb::tensor({2, 0});
  nn::Embedding embedding(3, 4);
  CHECK(ebb::equal(embedding(ids), F::embedding(ids, embedding->weight)));
  CHECK(ebb::equal(F::one_hot(ids, 3), ebb::tensor({{0, 0, 1}, {1, 0, 0}})));
}

TEST_CASE("padding 'same' keeps the sizes, also for even windows; 'valid' pads nothing") {
  const Tensor x = ebb::randn({1, 1, 5, 7});
  nn::Conv2d same(nn::Conv2dOptions(1, 1, {3, 4}).dilation({2, 1}).padding(ebb::kSame));
  const Tensor y = same(x);
  CHECK(y.sizes() == x.sizes());
  // One zero on the left, two on the right.
  Tensor padded = ebb::zeros({1, 1, 9, 10});
  padded.narrow(2, 2, 5).narrow(3, 1, 7).copy_(x);
  const Tensor wanted = ebb::conv2d(padded, same->weight, same->bias, 1, 0, {2, 1});
  CHECK(ebb::allclose(y, wanted, 1e-4, 1e-6));
  nn::Conv2d valid(nn::Conv2dOptions(1, 1, 3).padding(ebb::kValid));
  CHECK(valid(x).sizes() == ebb::IntArrayRef({1, 1, 3, 5}));
  CHECK_THROWS_WITH(nn::Conv2d(nn::Conv2dOptions(1, 1, 3).stride(2).padding(ebb::kSame)),
                    ContainsSubstring("strided"));
}

TEST_CASE("layers refuse what they cannot do") {
  CHECK_THROWS_WITH(nn::Conv2d(nn::Conv2dOptions(3, 4, 3).groups(2)),
                    ContainsSubstring("in_channels (3) must be divisible by groups (2)"));
  CHECK_THROWS_WITH(nn::Conv2d(nn::Conv2dOptions(2, 3, 3).groups(2)),
                    ContainsSubstring("out_channels (3) must be divisible"));
  CHECK_THROWS_AS(nn::Conv2d(nn::Conv2dOptions(1, 1, 3).padding_mode(ebb::kReflect)),
                  ebb::NotImplementedError);
  CHECK_THROWS_WITH(nn::Conv2d(nn::Conv2dOptions(1, 1, {1, 2, 3})),
                    ContainsSubstring("Expected 2 values, but instead got 3"));
  CHECK_THROWS_WITH(nn::Conv2d(1, 1, 0), ContainsSubstring("must be positive"));
  CHECK_THROWS_WITH(nn::Dropout(1.5), ContainsSubstring("between 0 and 1, but got 1.5"));
  CHECK_THROWS_WITH(F::dropout(ebb::ones({2}), F::DropoutFuncOptions().p(-0.5)),
                    ContainsSubstring("between 0 and 1"));
  CHECK_THROWS_WITH(nn::Linear(-1, 2), ContainsSubstring("must not be negative"));
  CHECK_THROWS_WITH(nn::BatchNorm2d(3)(ebb::ones({2, 3})),
                    ContainsSubstring("BatchNorm2d: expected 4D input (got 2D input, [2, 3])"));
  CHECK_THROWS_WITH(nn::BatchNorm1d(3)(ebb::ones({3})), ContainsSubstring("2D or 3D"));
  CHECK_THROWS_WITH(nn::Embedding(nn::EmbeddingOptions(4, 2).padding_idx(4)),
                    ContainsSubstring("padding_idx 4 must be within num_embeddings (4)"));
  CHECK_THROWS_AS(nn::Embedding(nn::EmbeddingOptions(4, 2).max_norm(1.0)),
                  ebb::NotImplementedError);
  CHECK_THROWS_AS(nn::Embedding(nn::EmbeddingOptions(4, 2).sparse(true)), ebb::NotImplementedError);
  CHECK_THROWS_WITH(nn::Embedding(nn::EmbeddingOptions(4, 2)._weight(ebb::ones({4, 3}))),
                    ContainsSubstring("[4, 3]"));
  CHECK_THROWS_AS(nn::Linear(3, 2)(ebb::ones({2, 4})), ebb::Error);
}

TEST_CASE("a pretrained embedding shares its table and is frozen by default") {
  const auto table = ebb::tensor({{1.0, 2.0}, {3.0, 4.0}});
  const auto frozen = nn::Embedding::from_pretrained(table);
  CHECK(frozen->weight.is_alias_of(table));
  CHECK_FALSE(frozen->weight.requires_grad());
  auto trained =
      nn::Embedding::from_pretrained(table, nn::EmbeddingFromPretrainedOptions().freeze(false));
  CHECK(trained->weight.requires_grad());
  CHECK_FALSE(table.requires_grad());
  CHECK(trained(ebb::tensor({1}))[0][0].item<float>() == 3);
  const auto copy = std::dynamic_pointer_cast<nn::EmbeddingImpl>(trained->clone());
  CHECK_FALSE(copy->weight.is_alias_of(table));
  CHECK(ebb::equal(copy->weight.detach(), table));
  CHECK_THROWS_WITH(nn::Embedding::from_pretrained(ebb::ones({3})), ContainsSubstring("[3]"));
}

TEST_CASE("losses keep their weight as a buffer, and a clone has its own") {
  const auto weight = ebb::tensor({1.0, 2.0});
  nn::CrossEntropyLoss loss(nn::CrossEntropyLossOptions().weight(weight));
  CHECK(loss->named_buffers().keys() == std::vector<std::string>{"weight"});
  const auto copy = std::dynamic_pointer_cast<nn::CrossEntropyLossImpl>(loss->clone());
  CHECK_FALSE(copy->weight.is_alias_of(loss->weight));
  CHECK(ebb::equal(copy->weight, weight));
  loss->to(ebb::kDouble);
  CHECK(loss->weight.scalar_type() == ebb::kDouble);
  CHECK(weight.scalar_type() == ebb::kFloat);
}

TEST_CASE("dropout scales in training and does nothing in evaluation") {
  nn::Dropout dropout(0.25);
  const Tensor x = ebb::ones({10000});
  const Tensor y = dropout(x);
  CHECK(y.max().item<float>() == Approx(1 / 0.75));
  CHECK(y.min().item<float>() == 0);
  CHECK(y.mean().item<float>() == Approx(1).margin(0.05));
  dropout->eval();
  CHECK(ebb::equal(dropout(x), x));
  nn::Dropout inplace(nn::DropoutOptions(0.5).inplace(true));
  Tensor z = ebb::ones({1000});
  const Tensor result = inplace(z);
  CHECK(result.is_alias_of(z));
  CHECK(z.min().item<float>() == 0);
}

TEST_CASE("ReLU in place writes its input") {
  nn::ReLU relu(nn::ReLUOptions().inplace(true));
  Tensor x = ebb::tensor({-1.0, 2.0});
  CHECK(relu(x).is_alias_of(x));
  CHECK(ebb::equal(x, ebb::tensor({0.0, 2.0})));
}

TEST_CASE("batch norm without momentum takes the mean over all batches") {
  nn::BatchNorm1d norm(nn::BatchNorm1dOptions(1).momentum(std::nullopt));
  norm(ebb::tensor({{0.0}, {2.0}}));
  norm(ebb::tensor({{4.0}, {6.0}}));
  CHECK(norm->num_batches_tracked.item<int64_t>() == 2);
  CHECK(norm->running_mean.item<float>() == Approx(3));
  norm->reset_running_stats();
  CHECK(norm->running_mean.item<float>() == 0);
  CHECK(norm->num_batches_tracked.item<int64_t>() == 0);
}

TEST_CASE("a sequence of layers trains") {
  ebb::manual_seed(3);
  nn::Sequential model(nn::Conv2d(nn::Conv2dOptions(1, 4, 3).padding(1)), nn::BatchNorm2d(4),
                       nn::ReLU(), nn::MaxPool2d(2), nn::Flatten(), nn::Linear(16, 2));
  const Tensor x = ebb::randn({8, 1, 4, 4});
  const Tensor target = (x.mean({1, 2, 3}) > 0).to(ebb::kLong);
  ebb::optim::Adam optimizer(model->parameters(), ebb::optim::AdamOptions(0.02));
  float first = 0, last = 0;
  for (int i = 0; i < 40; ++i) {
    optimizer.zero_grad();
    const Tensor loss = F::cross_entropy(model->forward(x), target);
    loss.backward();
    optimizer.step();
    last = loss.item<float>();
    if (i == 0) first = last;
  }
  CHECK(last < 0.2F * first);
}
