// The largest batch that fits.

#include <ebb/ebb.h>

#include <map>
#include <memory>
#include <stdexcept>
#include <vector>

#include "catch.h"

namespace {

namespace nn = ebb::nn;
namespace optim = ebb::optim;
using Catch::Matchers::ContainsSubstring;
using ebb::Tensor;
using ebb::find_batch_size;
using ebb::memory::memory_allocated;
using ebb::memory::memory_reserved;

constexpr int64_t kMiB = 1 << 20;

/// Leaves the device so many bytes above what is reserved now.
class Limit {
 public:
  explicit Limit(int64_t bytes) {
    ebb::memory::empty_cache();
    ebb::memory::set_memory_limit(ebb::get_default_device(),
                                  static_cast<size_t>(memory_reserved() + bytes));
  }
  ~Limit() { ebb::memory::set_memory_limit(ebb::get_default_device(), 0); }
  Limit(const Limit&) = delete;
  Limit& operator=(const Limit&) = delete;
};

/// A step that takes 2 MiB for each example, and notes its batches.
struct Greedy {
  std::map<int64_t, int> calls;
  void operator()(int64_t batch) {
    ++calls[batch];
    const Tensor x = ebb::empty({batch, kMiB / 2});
  }
};

struct Training {
  nn::Sequential net{nn::Linear(4, 128), nn::BatchNorm1d(128), nn::ReLU(), nn::Dropout(0.5),
                     nn::Linear(128, 4)};
  std::unique_ptr<optim::Optimizer> optimizer =
      std::make_unique<optim::Adam>(net->parameters(), optim::AdamOptions(0.01));

  void step(int64_t batch) {
    optimizer->zero_grad();
    net->forward(ebb::randn({batch, 4})).square().mean().backward();
    optimizer->step();
  }
  std::vector<Tensor> everything() {
    std::vector<Tensor> all = net->parameters();
    for (const Tensor& p : net->parameters()) {
      if (p.grad().defined()) all.push_back(p.grad());
      const auto found = optimizer->state().find(p.unsafeGetTensorImpl());
      if (found == optimizer->state().end()) continue;
      for (const Tensor& t : found->second->tensors()) all.push_back(t);
    }
    for (const Tensor& b : net->buffers()) all.push_back(b);
    return all;
  }
  std::vector<Tensor> copies() {
    std::vector<Tensor> all;
    for (const Tensor& t : everything()) all.push_back(t.detach().clone());
    return all;
  }
  int64_t find(int64_t first, const std::function<void(int64_t)>& step) {
    return find_batch_size(step, first, {.module = net.get(), .optimizer = optimizer.get()});
  }
};

bool same(const std::vector<Tensor>& a, const std::vector<Tensor>& b) {
  for (size_t i = 0; i < a.size() && i < b.size(); ++i) {
    if (!a[i].equal(b[i])) return false;
  }
  return a.size() == b.size();
}

}  // namespace

TEST_CASE("the largest batch that fits is found, whatever the limit") {
  for (const int64_t fits : {1, 2, 5, 16, 31, 32}) {
    const Limit limit(fits * 2 * kMiB + kMiB);
    Greedy step;
    CHECK(find_batch_size(std::ref(step), 32) == fits);
    CHECK(step.calls.size() <= 6);
    CHECK(step.calls.at(fits) == 2);
  }
}

TEST_CASE("a first batch that fits is the answer, and nothing else is tried") {
  Greedy step;
  CHECK(find_batch_size(std::ref(step), 3) == 3);
  CHECK(step.calls == std::map<int64_t, int>{{3, 2}});
}

TEST_CASE("if not even the least batch fits the error says so") {
  const Limit limit(9 * kMiB);
  Greedy step;
  CHECK_THROWS_AS(find_batch_size(std::ref(step), 64, {.least = 5}), ebb::OutOfMemoryError);
  CHECK_THROWS_WITH(find_batch_size(std::ref(step), 64, {.least = 5}),
                    ContainsSubstring("not even a batch of 5 fits"));
  CHECK(find_batch_size(std::ref(step), 64, {.least = 4}) == 4);
  CHECK_THROWS_WITH(find_batch_size(std::ref(step), 0), ContainsSubstring("first 0"));
  CHECK_THROWS_WITH(find_batch_size(std::ref(step), 4, {.least = 5}), ContainsSubstring("least 5"));
  CHECK_THROWS_WITH(find_batch_size(std::ref(step), 4, {.runs = 0}), ContainsSubstring("0 runs"));
}

TEST_CASE("finding leaves no trace, before training and in the middle of it") {
  for (const bool trained : {false, true}) {
    ebb::manual_seed(21);
    Training training;
    if (trained) {
      for (int i = 0; i < 3; ++i) training.step(8);
    }
    const auto before = training.copies();
    ebb::memory::empty_cache();
    const auto allocated = memory_allocated();
    const auto random = ebb::current_generator(ebb::get_default_device()).get_state();
    int64_t found = 0;
    {
      const Limit limit(4 * kMiB);
      found = training.find(4096, [&](int64_t batch) { training.step(batch); });
    }
    CHECK(found > 64);
    CHECK(found < 4096);
    CHECK(memory_allocated() == allocated);
    CHECK(same(training.everything(), before));
    CHECK(training.optimizer->state().size() == (trained ? 6 : 0));
    CHECK(ebb::current_generator(ebb::get_default_device()).get_state() == random);
    // Steps counted, too: the next step is that of a twin that never looked.
    training.step(8);
    const auto after = training.copies();
    ebb::manual_seed(21);
    Training twin;
    for (int i = 0; i < (trained ? 4 : 1); ++i) twin.step(8);
    CHECK(same(after, twin.copies()));
  }
}

TEST_CASE("the batch that was found fits for good, and one more does not") {
  ebb::manual_seed(22);
  Training training;
  const Limit limit(4 * kMiB);
  const int64_t found = training.find(4096, [&](int64_t batch) { training.step(batch); });
  const auto runs = [&](int64_t batch) {
    ebb::memory::empty_cache();
    training.step(batch);
    training.step(batch);
  };
  CHECK_NOTHROW(runs(found));
  Training fresh;
  training = std::move(fresh);
  CHECK_THROWS_AS(runs(found + 1), ebb::OutOfMemoryError);
}

TEST_CASE("float32 copies of two-byte parameters keep what these cannot hold") {
  const auto train = [](bool finds) {
    const Tensor w = ebb::ones({64}, ebb::kBFloat16).requires_grad_();
    optim::SGD optimizer({w}, optim::SGDOptions(1e-3).master_weights(true));
    const auto step = [&] {
      optimizer.zero_grad();
      w.sum().backward();
      optimizer.step();
    };
    for (int i = 0; i < 3; ++i) step();
    if (finds) CHECK(find_batch_size([&](int64_t) { step(); }, 8, {.optimizer = &optimizer}) == 8);
    for (int i = 0; i < 3; ++i) step();
    return static_cast<optim::SGDParamState&>(*optimizer.state().at(w.unsafeGetTensorImpl()))
        .master();
  };
  CHECK(train(true).equal(train(false)));
}

TEST_CASE("another exception passes, and leaves no trace either") {
  ebb::manual_seed(23);
  Training training;
  training.step(4);
  const auto before = training.copies();
  const auto allocated = memory_allocated();
  CHECK_THROWS_WITH(training.find(64,
                                  [&](int64_t batch) {
                                    training.step(batch);
                                    throw std::runtime_error("bad data");
                                  }),
                    ContainsSubstring("bad data"));
  CHECK(same(training.everything(), before));
  CHECK(memory_allocated() == allocated);
}

TEST_CASE("further tensors get their values back, and graphs of others stay valid") {
  const Tensor counter = ebb::zeros({3}, ebb::kLong);
  const Tensor w = ebb::ones({3}).requires_grad_();
  const Tensor loss = (w * w).sum();
  CHECK(find_batch_size([&](int64_t) { counter.add_(1); }, 8, {.tensors = {counter, w}}) == 8);
  CHECK(counter.equal(ebb::zeros({3}, ebb::kLong)));
  loss.backward();
  CHECK(w.grad().equal(ebb::full({3}, 2.0)));
}

TEST_CASE("a state that cannot tell its tensors is an error before anything runs") {
  struct State : optim::OptimizerCloneableParamState<State> {};
  const Tensor w = ebb::ones({3}).requires_grad_();
  optim::SGD optimizer({w}, optim::SGDOptions(0.1));
  optimizer.state()[w.unsafeGetTensorImpl()] = std::make_unique<State>();
  int calls = 0;
  CHECK_THROWS_WITH(find_batch_size([&](int64_t) { ++calls; }, 8, {.optimizer = &optimizer}),
                    ContainsSubstring("OptimizerParamState::tensors"));
  CHECK(calls == 0);
}
