// Workloads in the LibTorch C++ API: one source, compiled against LibTorch and against ebb, so that
// a ratio compares the same program.
//   workloads NAME [iterations]   prints "NAME median_us peak_rss_kib loss"
#include <torch/torch.h>

#include <sys/resource.h>

#include <algorithm>
#include <chrono>
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
