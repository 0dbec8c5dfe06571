// Optimizers with small states: Adam8bit and Adafactor.

#include <ebb/core/ops/quantize.h>
#include <ebb/ebb.h>
#include <ebb/testing/fail_allocation.h>
#include <ebb/testing/measure.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <vector>

#include "catch.h"

namespace {

namespace nn = ebb::nn;
namespace ops = ebb::ops;
namespace optim = ebb::optim;
using Catch::Matchers::ContainsSubstring;
using ebb::Tensor;
using ebb::memory::Category;
using ebb::memory::category_bytes;
using ebb::memory::rounded;
using ebb::testing::measure;

Tensor parameter(ebb::IntArrayRef sizes, ebb::Dtype dtype = ebb::kFloat) {
  return ebb::randn(sizes).to(dtype).detach().requires_grad_(true);
}
void give_gradient(const Tensor& p) { p.mutable_grad() = ebb::randn_like(p.detach()); }

template <typename State>
State& state_of(optim::Optimizer& optimizer, const Tensor& p) {
  return static_cast<State&>(*optimizer.state().at(p.unsafeGetTensorImpl()));
}

int64_t bytes_of(int64_t count) { return static_cast<int64_t>(rounded(static_cast<size_t>(count))); }

/// What a first step leaves as optimizer state.
int64_t state_bytes(optim::Optimizer& optimizer) {
  const auto before = category_bytes(Category::optimizer_state);
  optimizer.step();
  return category_bytes(Category::optimizer_state) - before;
}

/// The loss of a small regression after some steps.
template <typename Optimizer, typename Options>
double regression(const Options& options, int steps) {
  ebb::manual_seed(11);
  nn::Sequential net(nn::Linear(16, 64), nn::Tanh(), nn::Linear(64, 1));
  const Tensor x = ebb::randn({64, 16});
  const Tensor y = (x.select(1, 0) * x.select(1, 1)).unsqueeze(1);
  Optimizer optimizer(net->parameters(), options);
  for (int i = 0; i < steps; ++i) {
    optimizer.zero_grad();
    ebb::mse_loss(net->forward(x), y).backward();
    optimizer.step();
  }
  return ebb::mse_loss(net->forward(x), y).template item<double>();
}

optim::Adam8bitOptions always_8bit(double lr) { return optim::Adam8bitOptions(lr).min_8bit_size(0); }

}  // namespace

TEST_CASE("Adam8bit keeps two bytes a parameter and eight a block, where Adam keeps eight bytes") {
  const Tensor p = parameter({256, 1024});
  give_gradient(p);
  constexpr int64_t kNumel = 256 * 1024;
  {
    optim::Adam adam({p});
    CHECK(state_bytes(adam) == 8 * kNumel);
  }
  for (const int64_t block : {256, 2048}) {
    optim::Adam8bit optimizer({p}, optim::Adam8bitOptions().block_size(block));
    CHECK(state_bytes(optimizer) == 2 * kNumel + 8 * kNumel / block);
    // No further step takes memory, not even for the time of the step.
    const auto second = measure([&] { optimizer.step(); });
    CHECK(second.requests == 0);
    CHECK(second.peak_bytes == 0);
    const auto& state = state_of<optim::Adam8bitParamState>(optimizer, p);
    CHECK(state.step() == 2);
    CHECK(state.exp_avg().scalar_type() == ebb::kByte);
    CHECK(state.exp_avg_absmax().numel() == kNumel / block);
    CHECK(state.tensors().size() == 4);
  }
}

TEST_CASE("small, double and strided parameters have the state and the steps of Adam") {
  for (const auto dtype : {ebb::kFloat, ebb::kDouble}) {
    const Tensor p = dtype == ebb::kDouble ? parameter({100, 50}, dtype) : parameter({63, 65});
    const Tensor q = p.detach().clone().requires_grad_();
    optim::Adam8bit small({p}, optim::Adam8bitOptions(0.01));
    optim::Adam adam({q}, optim::AdamOptions(0.01));
    for (int i = 0; i < 3; ++i) {
      give_gradient(p);
      q.mutable_grad() = p.grad();
      small.step();
      adam.step();
    }
    CHECK(p.equal(q));
    CHECK(state_of<optim::Adam8bitParamState>(small, p).exp_avg().scalar_type() == dtype);
  }
  const Tensor strided = ebb::randn({100, 50}).t().requires_grad_();
  optim::Adam8bit optimizer({strided});
  give_gradient(strided);
  optimizer.step();
  CHECK(state_of<optim::Adam8bitParamState>(optimizer, strided).block_size() == 0);
}

TEST_CASE("a step of Adam8bit is Adam's on the state's values, which are then quantised") {
  ebb::manual_seed(12);
  for (const auto dtype : {ebb::kFloat, ebb::kHalf, ebb::kBFloat16}) {
    for (const bool decoupled : {false, true}) {
      const Tensor p = parameter({50, 33}, dtype);
      optim::Adam8bit optimizer({p}, always_8bit(0.01)
                                         .weight_decay(0.1)
                                         .decoupled_weight_decay(decoupled)
                                         .block_size(64));
      Tensor m = ebb::zeros({50, 33});
      Tensor v = ebb::zeros({50, 33});
      for (int t = 1; t <= 3; ++t) {
        give_gradient(p);
        const Tensor before = p.detach().to(ebb::kFloat);
        const Tensor g = decoupled ? p.grad().to(ebb::kFloat)
                                   : p.grad().to(ebb::kFloat) + 0.1 * before;
        m = 0.9 * m + 0.1 * g;
        v = 0.999 * v + 0.001 * g * g;
        const double c1 = 1 - std::pow(0.9, t), c2 = 1 - std::pow(0.999, t);
        const Tensor expected = (decoupled ? before * (1 - 0.001) : before) -
                                0.01 / c1 * m / (v.sqrt() / std::sqrt(c2) + 1e-8);
        optimizer.step();
        CHECK(ebb::allclose(p.detach(), expected.to(dtype), dtype == ebb::kFloat ? 1e-5 : 1e-2,
                            dtype == ebb::kFloat ? 1e-6 : 1e-2));
        const auto& s = state_of<optim::Adam8bitParamState>(optimizer, p);
        const auto value = [&](const Tensor& codes, const Tensor& absmax, ops::Code code) {
          return Tensor(ops::dequantize_blockwise(codes, absmax, code, 64));
        };
        const Tensor m8 = value(s.exp_avg(), s.exp_avg_absmax(), ops::Code::dynamic_signed);
        const Tensor v8 = value(s.exp_avg_sq(), s.exp_avg_sq_absmax(), ops::Code::dynamic_unsigned);
        CHECK((m8 - m).abs().max().item<float>() <= m.abs().max().item<float>() / 141);
        CHECK((v8 - v).abs().max().item<float>() <= v.abs().max().item<float>() / 283);
        m = m8;
        v = v8;
      }
    }
  }
}

TEST_CASE("a second moment that is not zero is never lost beside a large one") {
  // The mean of the small gradient would outlive its square, and be divided by eps.
  const Tensor p = ebb::zeros({256}).requires_grad_();
  optim::Adam8bit optimizer({p}, always_8bit(0.1));
  Tensor g = ebb::full({256}, 1e-4);
  g[0].fill_(1.0);
  p.mutable_grad() = g;
  optimizer.step();
  const auto& state = state_of<optim::Adam8bitParamState>(optimizer, p);
  CHECK(state.exp_avg_sq().min().item<int>() >= 1);
  const Tensor after_one = p.detach().clone();
  p.mutable_grad() = ebb::zeros({256});
  for (int i = 0; i < 5; ++i) optimizer.step();
  CHECK((p.detach() - after_one).abs().max().item<float>() < 1);
}

TEST_CASE("gradients of any layout are stepped alike") {
  ebb::manual_seed(13);
  const Tensor p = parameter({64, 80});
  const Tensor q = p.detach().clone().requires_grad_();
  const Tensor g = ebb::randn({80, 64});
  p.mutable_grad() = g.t();
  q.mutable_grad() = g.t().contiguous();
  optim::Adam8bit a({p}, always_8bit(0.1));
  optim::Adam8bit b({q}, always_8bit(0.1));
  a.step();
  b.step();
  CHECK(p.equal(q));
}

TEST_CASE("Adam8bit and Adafactor train as far as Adam does, and SGD without momentum trains too") {
  const double start = regression<optim::SGD>(optim::SGDOptions(0), 1);
  const double adam = regression<optim::Adam>(optim::AdamOptions(0.01), 150);
  const double adam8 = regression<optim::Adam8bit>(always_8bit(0.01), 150);
  const double adafactor = regression<optim::Adafactor>(optim::AdafactorOptions(0.05), 150);
  const double sgd = regression<optim::SGD>(optim::SGDOptions(0.1), 150);
  INFO("start " << start << ", Adam " << adam << ", Adam8bit " << adam8 << ", Adafactor "
                << adafactor << ", SGD " << sgd);
  CHECK(adam < start / 20);
  CHECK(adam8 < start / 20);
  CHECK(adafactor < start / 20);
  CHECK(sgd < start);
}

TEST_CASE("on MNIST the loss under Adam8bit stays close to that under Adam") {
  const auto final_loss = [](auto make) {
    ebb::manual_seed(14);
    nn::Sequential net(nn::Linear(784, 32), nn::ReLU(), nn::Linear(32, 10));
    const ebb::data::datasets::MNIST digits(EBB_SOURCE_DIR "/examples/data/mnist",
                                            ebb::data::datasets::MNIST::Mode::kTest);
    const ebb::Device device = net->parameters().front().device();
    const Tensor x = digits.images().slice(0, 0, 512).flatten(1).to(device);
    const Tensor y = digits.targets().slice(0, 0, 512).to(device);
    const auto optimizer = make(net->parameters());
    for (int i = 0; i < 60; ++i) {
      optimizer->zero_grad();
      ebb::cross_entropy_loss(net->forward(x), y).backward();
      optimizer->step();
    }
    return ebb::cross_entropy_loss(net->forward(x), y).template item<double>();
  };
  const double adam = final_loss([](const std::vector<Tensor>& p) {
    return std::make_unique<optim::Adam>(p, optim::AdamOptions(3e-3));
  });
  const double adam8 = final_loss([](const std::vector<Tensor>& p) {
    return std::make_unique<optim::Adam8bit>(p, optim::Adam8bitOptions(3e-3));
  });
  INFO("Adam " << adam << ", Adam8bit " << adam8);
  CHECK(adam < 0.5);
  CHECK(adam8 == Approx(adam).epsilon(0.1));
}

TEST_CASE("Adafactor keeps the rows and columns of a matrix, and vectors in full") {
  const Tensor p = parameter({200, 300});
  const Tensor kernel = parameter({32, 16, 3, 3});
  const Tensor bias = parameter({1000});
  for (const Tensor& q : {p, kernel, bias}) give_gradient(q);
  const int64_t factored = bytes_of(4 * 200) + bytes_of(4 * 300) + bytes_of(4 * 32) +
                           bytes_of(4 * 16 * 9) + bytes_of(4 * 1000);
  optim::Adafactor optimizer({p, kernel, bias});
  CHECK(state_bytes(optimizer) == factored);
  CHECK(state_of<optim::AdafactorParamState>(optimizer, p).tensors().size() == 2);
  // The squared gradient of one parameter at a time.
  const auto second = measure([&] { optimizer.step(); });
  CHECK(second.net_bytes == 0);
  CHECK(second.peak_bytes >= bytes_of(4 * 200 * 300));
  CHECK(second.peak_bytes <= bytes_of(4 * 200 * 300) + 3 * factored + 8 * 512);

  optim::Adafactor with_mean({p}, optim::AdafactorOptions().beta1(0.9));
  CHECK(state_bytes(with_mean) ==
        bytes_of(4 * 200) + bytes_of(4 * 300) + bytes_of(4 * 200 * 300));
}

namespace {

/// Adafactor in double, element by element, for a matrix of one row or more.
struct Reference {
  int64_t rows, columns;
  std::vector<double> row, column, full, mean;
  int t = 0;

  void step(std::vector<double>& p, const std::vector<double>& g,
            const optim::AdafactorOptions& o) {
    const auto n = static_cast<double>(p.size());
    const bool factored = rows > 1 && columns > 1;
    row.resize(static_cast<size_t>(rows));
    column.resize(static_cast<size_t>(columns));
    full.resize(p.size());
    mean.resize(p.size());
    const double keep = 1 - std::pow(++t, o.decay_rate());
    const double rho = o.lr() ? *o.lr() : std::min(1e-2, 1 / std::sqrt(t));
    const auto at = [&](int64_t r, int64_t c) { return static_cast<size_t>(r * columns + c); };
    for (int64_t r = 0; r < rows; ++r) {
      double sum = 0;
      for (int64_t c = 0; c < columns; ++c) sum += g[at(r, c)] * g[at(r, c)] + o.eps1();
      row[r] = keep * row[r] + (1 - keep) * sum / static_cast<double>(columns);
    }
    for (int64_t c = 0; c < columns; ++c) {
      double sum = 0;
      for (int64_t r = 0; r < rows; ++r) sum += g[at(r, c)] * g[at(r, c)] + o.eps1();
      column[c] = keep * column[c] + (1 - keep) * sum / static_cast<double>(rows);
    }
    double row_mean = 0, size = 0;
    for (const double r : row) row_mean += r / static_cast<double>(rows);
    for (const double x : p) size += x * x;
    std::vector<double> update(p.size());
    double square = 0;
    for (int64_t r = 0; r < rows; ++r) {
      for (int64_t c = 0; c < columns; ++c) {
        const size_t i = at(r, c);
        full[i] = keep * full[i] + (1 - keep) * (g[i] * g[i] + o.eps1());
        update[i] = g[i] / std::sqrt(factored ? row[r] * column[c] / row_mean : full[i]);
        square += update[i] * update[i];
      }
    }
    const double clip = std::max(1.0, std::sqrt(square / n) / o.clip_threshold());
    const double alpha =
        rho * (o.scale_parameter() ? std::max(o.eps2(), std::sqrt(size / n)) : 1.0);
    for (size_t i = 0; i < p.size(); ++i) {
      const double u = alpha * update[i] / clip;
      mean[i] = o.beta1() * mean[i] + (1 - o.beta1()) * u;
      p[i] = p[i] * (1 - rho * o.weight_decay()) - (o.beta1() > 0 ? mean[i] : u);
    }
  }
};

std::vector<double> values(const Tensor& x) {
  const Tensor host = x.detach().cpu().to(ebb::kDouble).contiguous();
  return {host.data_ptr<double>(), host.data_ptr<double>() + host.numel()};
}

}  // namespace

TEST_CASE("Adafactor does what the paper's algorithms say") {
  using Options = optim::AdafactorOptions;
  ebb::manual_seed(15);
  const Options all[] = {Options(),
                         Options(0.1),
                         Options(0.1).scale_parameter(false).clip_threshold(0.5),
                         Options(0.1).beta1(0.9).weight_decay(0.1),
                         Options().weight_decay(0.5).decay_rate(-0.5).eps1(1e-3)};
  const std::vector<std::vector<int64_t>> shapes = {{7, 5}, {4, 3, 2, 2}, {9}, {1, 6}, {6, 1}, {}};
  for (const Options& options : all) {
    for (const auto& sizes : shapes) {
      const Tensor p = parameter(sizes, ebb::kDouble);
      const int64_t rows = sizes.empty() ? 1 : sizes[0];
      Reference reference{rows, p.numel() / rows, {}, {}, {}, {}};
      auto expected = values(p);
      optim::Adafactor optimizer({p}, options);
      for (int step = 0; step < 4; ++step) {
        give_gradient(p);
        reference.step(expected, values(p.grad()), options);
        optimizer.step();
        const auto got = values(p);
        for (size_t i = 0; i < got.size(); ++i) {
          CHECK(got[i] == Approx(expected[i]).epsilon(1e-9).margin(1e-12));
        }
      }
    }
  }
}

TEST_CASE("Adafactor steps any dtype and layout as it does float32 in order") {
  ebb::manual_seed(16);
  const Tensor p = parameter({40, 30});
  const Tensor g = ebb::randn({40, 30});
  p.mutable_grad() = g;
  const Tensor strided = p.detach().t().contiguous().t().requires_grad_();
  strided.mutable_grad() = g.t().contiguous().t();
  const Tensor half = p.detach().to(ebb::kBFloat16).requires_grad_();
  half.mutable_grad() = g.to(ebb::kBFloat16);
  const Tensor empty = parameter({0, 3});
  empty.mutable_grad() = ebb::zeros({0, 3});
  optim::Adafactor({p}, optim::AdafactorOptions(0.1)).step();
  optim::Adafactor({strided, empty}, optim::AdafactorOptions(0.1)).step();
  optim::Adafactor half_optimizer({half}, optim::AdafactorOptions(0.1));
  half_optimizer.step();
  CHECK(ebb::allclose(strided, p, 1e-5, 1e-6));
  CHECK(ebb::allclose(half.to(ebb::kFloat), p, 0.02, 0.02));
  const auto& state = state_of<optim::AdafactorParamState>(half_optimizer, half);
  CHECK(state.exp_avg_sq_row().scalar_type() == ebb::kFloat);
  // Gradients of zero move nothing.
  const Tensor before = p.detach().clone();
  p.mutable_grad() = ebb::zeros({40, 30});
  optim::Adafactor({p}, optim::AdafactorOptions(0.1)).step();
  CHECK(p.equal(before));
}

TEST_CASE("the options of both are checked, and relative steps have no learning rate") {
  const Tensor p = parameter({2});
  using optim::Adam8bit;
  using optim::Adafactor;
  using optim::AdafactorOptions;
  using optim::Adam8bitOptions;
  CHECK_THROWS_WITH(Adam8bit({p}, Adam8bitOptions(-1)),
                    ContainsSubstring("Adam8bit: Invalid learning rate: -1"));
  CHECK_THROWS_WITH(Adam8bit({p}, Adam8bitOptions().block_size(0)),
                    ContainsSubstring("block_size: 0"));
  CHECK_THROWS_WITH(Adam8bit({p}, Adam8bitOptions().block_size(5000)),
                    ContainsSubstring("1 to 4096"));
  CHECK_THROWS_WITH(Adafactor({p}, AdafactorOptions(-1)), ContainsSubstring("learning rate: -1"));
  CHECK_THROWS_WITH(Adafactor({p}, AdafactorOptions().decay_rate(0.8)),
                    ContainsSubstring("decay_rate"));
  CHECK_THROWS_WITH(Adafactor({p}, AdafactorOptions().beta1(1)), ContainsSubstring("beta1"));
  CHECK_THROWS_WITH(Adafactor({p}, AdafactorOptions().clip_threshold(0)),
                    ContainsSubstring("clip_threshold"));
  CHECK_THROWS_WITH(AdafactorOptions().get_lr(), ContainsSubstring("AdafactorOptions(lr)"));
  CHECK(AdafactorOptions(0.5).get_lr() == 0.5);
  give_gradient(p);
  Adam8bit optimizer({p}, always_8bit(0.1));
  optimizer.step();
  p.set_data(ebb::ones({3}));
  p.mutable_grad() = ebb::ones({3});
  CHECK_THROWS_WITH(optimizer.step(), ContainsSubstring("replaced") && ContainsSubstring("[3]"));
}

TEST_CASE("a step of small states that runs out of memory changes nothing, wherever it fails") {
  const auto check = [](auto make) {
    ebb::manual_seed(17);
    const Tensor p = parameter({30, 20});
    const Tensor q = parameter({7});
    p.mutable_grad() = ebb::randn({20, 30}).t();
    give_gradient(q);
    auto optimizer = make(std::vector<Tensor>{p, q});
    optimizer->step();
    optimizer->state().clear();
    const Tensor p_before = p.detach().clone();
    const Tensor q_before = q.detach().clone();
    const auto allocated = ebb::memory::memory_allocated();
    int failures = 0;
    for (int n = 1;; ++n) {
      ebb::testing::FailAllocation failure(n);
      try {
        optimizer->step();
        break;
      } catch (const ebb::OutOfMemoryError&) {
        failure.clear();
        ++failures;
        CHECK(ebb::memory::memory_allocated() == allocated);
        CHECK(optimizer->state().empty());
        CHECK(p.equal(p_before));
        CHECK(q.equal(q_before));
      }
    }
    CHECK_FALSE(p.equal(p_before));
    return failures;
  };
  CHECK(check([](std::vector<Tensor> params) {
          return std::make_unique<optim::Adam8bit>(std::move(params), always_8bit(0.1));
        }) == 9);  // four tensors of state for each, and a copy of the strided gradient
  CHECK(check([](std::vector<Tensor> params) {
          return std::make_unique<optim::Adafactor>(std::move(params),
                                                    optim::AdafactorOptions().beta1(0.9));
        }) > 10);
}
