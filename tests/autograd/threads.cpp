#include <thread>

#include "helpers.h"

using namespace ebb;

namespace {

/// Runs `work(i)` on n threads at once.
template <typename Work>
void on_threads(int n, Work work) {
  std::vector<std::thread> threads;
  for (int i = 0; i < n; ++i) threads.emplace_back(work, i);
  for (std::thread& thread : threads) thread.join();
}

}  // namespace

TEST_CASE("Threads whose graphs share a leaf lose no gradient", "[threads]") {
  Tensor x = leaf({1, 2, 3});
  on_threads(4, [&](int) {
    for (int i = 0; i < 200; ++i) (x * x).sum().backward();
  });
  CHECK(values(x.grad()) == Values{4 * 200 * 2, 4 * 200 * 4, 4 * 200 * 6});
}

TEST_CASE("Threads run backward through one graph that is retained", "[threads]") {
  Tensor x = leaf({1, 2});
  const Tensor shared = (x * x).exp();
  const Tensor expected = autograd::grad({shared.sum()}, {x}, {}, true)[0];
  on_threads(4, [&](int) {
    for (int i = 0; i < 100; ++i) (shared * 1).sum().backward({}, /*retain_graph=*/true);
  });
  CHECK(values(x.grad())[0] == Approx(400 * values(expected)[0]));
}

TEST_CASE("Of threads that spend one graph at most one gets through each node", "[threads]") {
  for (int round = 0; round < 50; ++round) {
    Tensor x = leaf({1, 2});
    const Tensor out = (x * x).exp().sum();
    std::atomic<int> done{0}, refused{0};
    on_threads(3, [&](int) {
      try {
        out.backward();
        ++done;
      } catch (const Error&) {
        ++refused;
      }
    });
    CHECK(done + refused == 3);
  }
}

TEST_CASE("A graph may be made on one thread, run on another and freed on a third", "[threads]") {
  const int64_t nodes = autograd::live_nodes();
  {
    Tensor x = leaf({1, 2});
    Tensor out;
    std::thread([&] { out = (x * x).sum(); }).join();
    std::thread([&] { out.backward(); }).join();
    std::thread([&] { out = Tensor(); }).join();
    CHECK(values(x.grad()) == Values{2, 4});
  }
  CHECK(autograd::live_nodes() == nodes);
}

TEST_CASE("Modes and hooks of saved tensors are of one thread", "[threads]") {
  Tensor x = leaf({1});
  const NoGradGuard no_grad;
  const autograd::SavedTensorHooks hooks(
      [](const Tensor&) -> autograd::PackedTensor { throw std::runtime_error("not here"); },
      [](const autograd::PackedTensor&) { return Tensor(); });
  bool recorded = false;
  std::thread([&] { recorded = x.exp().requires_grad(); }).join();
  CHECK(recorded);
  CHECK_FALSE(x.exp().requires_grad());
}

TEST_CASE("Two threads make views of one tensor and read their history", "[threads]") {
  Tensor x = leaf({1, 2, 3, 4});
  const Tensor base = x * 1;
  const Tensor view = base.narrow(0, 0, 2);
  base.mul_(2);
  std::atomic<int> agreed{0};
  on_threads(4, [&](int) {
    for (int i = 0; i < 50; ++i) agreed += view.grad_fn() == view.grad_fn();
  });
  CHECK(agreed == 4 * 50);
}
