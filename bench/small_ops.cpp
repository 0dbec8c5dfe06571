// The price of an op where the arithmetic costs nothing: four floats. One source, built against ebb
// and against LibTorch.
#include <torch/torch.h>

#include <benchmark/benchmark.h>

namespace {

void add(benchmark::State& state) {
  const auto a = torch::randn({4});
  const auto b = torch::randn({4});
  for (auto _ : state) benchmark::DoNotOptimize(a + b);
}
BENCHMARK(add);

void add_with_grad(benchmark::State& state) {
  const auto a = torch::randn({4}, torch::requires_grad());
  const auto b = torch::randn({4});
  for (auto _ : state) benchmark::DoNotOptimize(a + b);
}
BENCHMARK(add_with_grad);

/// Nine ops and a sum, forward and backward into one leaf.
void ten_op_graph(benchmark::State& state) {
  auto a = torch::randn({4}, torch::requires_grad());
  const auto b = torch::randn({4});
  for (auto _ : state) {
    auto x = a * b + a;
    x = torch::relu(x - b) * a;
    x = torch::tanh(x) + b;
    x = torch::sigmoid(x) * x;
    x.sum().backward();
    a.mutable_grad() = torch::Tensor();
  }
}
BENCHMARK(ten_op_graph);

}  // namespace

int main(int argc, char** argv) {
  torch::set_num_threads(1);
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 2;
  benchmark::RunSpecifiedBenchmarks();
}
