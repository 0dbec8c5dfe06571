// Workloads in the LibTorch C++ API: one source, compiled against LibTorch and against ebb, so that
// a ratio compares the same program.
//   workloads NAME [iterations]   prints "NAME median_us peak_rss_kib loss"
#include <torch/torch.h>

#include <sys/resource.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <map>
#include <string>
#include <vector>

namespace nn = torch::nn;
using torch::Tensor;

struct Run {
  std::function<double()> step;  // one iteration, returns a number to print
  int iterations;
};

struct BlockImpl : nn::Module {
  BlockImpl(int64_t d, int64_t h)
      : d(d),
        h(h),
        ln1(nn::LayerNormOptions({d})),
        ln2(nn::LayerNormOptions({d})),
        qkv(d, 3 * d),
        proj(d, d),
        up(d, 4 * d),
        down(4 * d, d) {
    register_module("ln1", ln1);
    register_module("ln2", ln2);
    register_module("qkv", qkv);
    register_module("proj", proj);
    register_module("up", up);
    register_module("down", down);
  }
  Tensor forward(Tensor x, Tensor mask) {
    auto b = x.size(0), t = x.size(1);
    auto parts = qkv(ln1(x)).view({b, t, 3, h, d / h}).permute({2, 0, 3, 1, 4});
    auto q = parts.select(0, 0), k = parts.select(0, 1), v = parts.select(0, 2);
    auto att = torch::matmul(q, k.transpose(-2, -1)) / std::sqrt(double(d / h));
    att = torch::softmax(att.masked_fill(mask, -1e9), -1);
    auto y = torch::matmul(att, v).transpose(1, 2).contiguous().view({b, t, d});
    x = x + proj(y);
    return x + down(torch::gelu(up(ln2(x))));
  }
  int64_t d, h;
  nn::LayerNorm ln1, ln2;
  nn::Linear qkv, proj, up, down;
};
TORCH_MODULE(Block);

struct GptImpl : nn::Module {
  GptImpl(int64_t v, int64_t t, int64_t d, int64_t h, int64_t l)
      : tok(v, d),
        pos(t, d),
        ln(nn::LayerNormOptions({d})),
        head(nn::LinearOptions(d, v).bias(false)) {
    register_module("tok", tok);
    register_module("pos", pos);
    for (int64_t i = 0; i < l; ++i)
      blocks.push_back(register_module("b" + std::to_string(i), Block(d, h)));
    register_module("ln", ln);
    register_module("head", head);
    mask = torch::ones({t, t}, torch::kBool).triu(1);
    index = torch::arange(t, torch::kLong);
  }
  Tensor forward(Tensor ids) {
    auto x = tok(ids) + pos(index);
    for (auto& b : blocks) x = b(x, mask);
    return head(ln(x));
  }
  nn::Embedding tok, pos;
  std::vector<Block> blocks;
  nn::LayerNorm ln;
  nn::Linear head;
  Tensor mask, index;
};
TORCH_MODULE(Gpt);

static double median(std::vector<double> v) {
  std::sort(v.begin(), v.end());
  return v[v.size() / 2];
}

int main(int argc, char** argv) {
  torch::manual_seed(0);
  if (const char* t = std::getenv("THREADS")) torch::set_num_threads(std::atoi(t));
  std::map<std::string, std::function<Run()>> all;

  all["add4"] = [] {
    auto a = torch::randn({4}), b = torch::randn({4});
    return Run{[=] {
                 Tensor c;
                 for (int i = 0; i < 1000; ++i) c = a + b;
                 return c.size(0) * 1.0;
               },
               200};
  };
  all["add4_grad"] = [] {
    auto a = torch::randn({4}, torch::requires_grad()), b = torch::randn({4});
    return Run{[=] {
                 Tensor c;
                 for (int i = 0; i < 1000; ++i) c = a + b;
                 return c.size(0) * 1.0;
               },
               200};
  };
  all["tiny_backward"] = [] {
    auto a = torch::randn({4}, torch::requires_grad());
    return Run{[=]() mutable {
                 Tensor c;
                 for (int i = 0; i < 100; ++i) {
                   c = a;
                   for (int k = 0; k < 10; ++k) c = c * a + a;
                   c.sum().backward();
                 }
                 a.mutable_grad() = Tensor();
                 return c.size(0) * 1.0;
               },
               100};
  };
  all["elementwise_1m"] = [] {
    auto a = torch::randn({1 << 20}), b = torch::randn({1 << 20});
    return Run{[=] {
                 auto c = torch::relu(a * b + a);
                 return double(c.size(0));
               },
               200};
  };
  all["softmax_4096x1024"] = [] {
    auto a = torch::randn({4096, 1024});
    return Run{[=] {
                 auto c = torch::softmax(a, 1);
                 return double(c.size(0));
               },
               30};
  };
  all["sum_16m"] = [] {
    auto a = torch::randn({4096, 4096});
    return Run{[=] { return double(a.sum(0).size(0) + a.sum(1).size(0) + a.sum().numel()); }, 20};
  };
  all["matmul_1024"] = [] {
    auto a = torch::randn({1024, 1024}), b = torch::randn({1024, 1024});
    return Run{[=] { return double(torch::mm(a, b).size(0)); }, 20};
  };
  all["mlp_adam"] = [] {
    nn::Sequential m(nn::Linear(784, 256), nn::ReLU(), nn::Linear(256, 256), nn::ReLU(),
                     nn::Linear(256, 10));
    auto opt =
        std::make_shared<torch::optim::Adam>(m->parameters(), torch::optim::AdamOptions(1e-3));
    auto x = torch::randn({64, 784});
    auto y = torch::randint(0, 10, {64}, torch::kLong);
    return Run{[=]() mutable {
                 opt->zero_grad();
                 auto loss = torch::cross_entropy_loss(m->forward(x), y);
                 loss.backward();
                 opt->step();
                 return loss.template item<double>();
               },
               300};
  };
  all["mnist_cnn"] = [] {
    nn::Sequential m(nn::Conv2d(nn::Conv2dOptions(1, 32, 3)), nn::ReLU(),
                     nn::Conv2d(nn::Conv2dOptions(32, 64, 3)), nn::ReLU(), nn::MaxPool2d(2),
                     nn::Flatten(), nn::Linear(9216, 128), nn::ReLU(), nn::Linear(128, 10));
    auto opt = std::make_shared<torch::optim::SGD>(m->parameters(),
                                                   torch::optim::SGDOptions(1e-2).momentum(0.9));
    auto x = torch::randn({64, 1, 28, 28});
    auto y = torch::randint(0, 10, {64}, torch::kLong);
    return Run{[=]() mutable {
                 opt->zero_grad();
                 auto loss = torch::cross_entropy_loss(m->forward(x), y);
                 loss.backward();
                 opt->step();
                 return loss.template item<double>();
               },
               15};
  };
  all["gpt_small"] = [] {
    Gpt m(256, 128, 128, 4, 4);
    auto opt =
        std::make_shared<torch::optim::AdamW>(m->parameters(), torch::optim::AdamWOptions(1e-3));
    auto x = torch::randint(0, 256, {8, 128}, torch::kLong),
         y = torch::randint(0, 256, {8, 128}, torch::kLong);
    return Run{[=]() mutable {
                 opt->zero_grad();
                 auto loss = torch::cross_entropy_loss(m(x).view({-1, 256}), y.view({-1}));
                 loss.backward();
                 opt->step();
                 return loss.template item<double>();
               },
               20};
  };

  std::string name = argc > 1 ? argv[1] : "";
  if (!all.count(name)) {
    for (auto& e : all) std::printf("%s\n", e.first.c_str());
    return name.empty() ? 0 : 2;
  }
  auto run = all[name]();
  if (argc > 2) run.iterations = std::atoi(argv[2]);
  double value = 0;
  for (int i = 0; i < 3; ++i) value = run.step();
  std::vector<double> us;
  for (int i = 0; i < run.iterations; ++i) {
    auto a = std::chrono::steady_clock::now();
    value = run.step();
    us.push_back(
        std::chrono::duration<double, std::micro>(std::chrono::steady_clock::now() - a).count());
  }
  rusage u;
  getrusage(RUSAGE_SELF, &u);
  std::printf("%s %.1f %ld %.6f\n", name.c_str(), median(us), u.ru_maxrss, value);
}
