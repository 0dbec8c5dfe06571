// The loader with and without workers.

#include <ebb/ebb.h>

#include <atomic>
#include <numeric>
#include <set>
#include <stdexcept>
#include <vector>

#include "catch.h"

namespace {

namespace data = ebb::data;

/// Sample i holds the number i; sample `broken` throws.
class Numbers : public data::datasets::Dataset<Numbers> {
 public:
  explicit Numbers(size_t size, size_t broken = SIZE_MAX) : size_(size), broken_(broken) {}
  data::Example<> get(size_t index) override {
    if (index == broken_) throw std::runtime_error("sample is broken");
    return {ebb::full({2}, static_cast<double>(index)), ebb::tensor(static_cast<int64_t>(index))};
  }
  std::optional<size_t> size() const override { return size_; }

 private:
  size_t size_;
  size_t broken_;
};

auto stacked(Numbers numbers) { return std::move(numbers).map(data::transforms::Stack<>()); }

std::vector<int64_t> values(const ebb::Tensor& tensor) {
  const ebb::Tensor here = tensor.cpu();
  const int64_t* begin = here.data_ptr<int64_t>();
  return {begin, begin + here.numel()};
}

template <typename Loader>
std::vector<int64_t> epoch(Loader& loader) {
  std::vector<int64_t> seen;
  for (auto& batch : loader) {
    const auto part = values(batch.target);
    seen.insert(seen.end(), part.begin(), part.end());
  }
  return seen;
}

}  // namespace

TEST_CASE("A sequential loader gives all samples in order, however many workers fetch them",
          "[threads]") {
  const auto workers = GENERATE(size_t{0}, size_t{1}, size_t{4});
  auto loader = data::make_data_loader<data::samplers::SequentialSampler>(
      stacked(Numbers(23)), data::DataLoaderOptions().batch_size(5).workers(workers));
  std::vector<int64_t> expected(23);
  std::iota(expected.begin(), expected.end(), 0);
  for (int round = 0; round < 3; ++round) CHECK(epoch(*loader) == expected);
}

TEST_CASE("A random loader gives each sample once, in an order that the seed decides",
          "[threads]") {
  const auto order = [](uint64_t seed, size_t workers) {
    ebb::manual_seed(seed);
    auto loader = data::make_data_loader(stacked(Numbers(40)),
                                         data::DataLoaderOptions().batch_size(7).workers(workers));
    return epoch(*loader);
  };
  const auto first = order(3, 0);
  CHECK(std::set<int64_t>(first.begin(), first.end()).size() == 40);
  CHECK(order(3, 2) == first);
  CHECK(order(4, 0) != first);
}

TEST_CASE("drop_last leaves out the batch that is not full") {
  auto loader = data::make_data_loader<data::samplers::SequentialSampler>(
      stacked(Numbers(23)), data::DataLoaderOptions().batch_size(5).drop_last(true));
  CHECK(epoch(*loader).size() == 20);
}

TEST_CASE("What a sample throws is thrown where its batch would have come", "[threads]") {
  const auto workers = GENERATE(size_t{0}, size_t{2});
  auto loader = data::make_data_loader<data::samplers::SequentialSampler>(
      stacked(Numbers(20, 12)), data::DataLoaderOptions().batch_size(5).workers(workers));
  auto batch = loader->begin();
  CHECK(values(batch->target).front() == 0);
  ++batch;
  CHECK(values(batch->target).front() == 5);
  CHECK_THROWS_WITH(++batch, "sample is broken");
}

TEST_CASE("An epoch may be left in the middle, and the next one is whole", "[threads]") {
  const auto workers = GENERATE(size_t{0}, size_t{3});
  auto loader = data::make_data_loader<data::samplers::SequentialSampler>(
      stacked(Numbers(30)), data::DataLoaderOptions().batch_size(4).workers(workers));
  for (int round = 0; round < 5; ++round) {
    for (auto& batch : *loader) {
      if (batch.target[0].item<int64_t>() >= 8) break;
    }
  }
  CHECK(epoch(*loader).size() == 30);
}

TEST_CASE("A loader may be destroyed in the middle of an epoch", "[threads]") {
  const auto before = ebb::memory::memory_allocated();
  {
    auto loader = data::make_data_loader(stacked(Numbers(100)),
                                         data::DataLoaderOptions().batch_size(3).workers(4));
    auto batch = loader->begin();
    CHECK(batch->target.size(0) == 3);
  }
  CHECK(ebb::memory::memory_allocated() == before);
}

TEST_CASE("Random transforms draw the same numbers for any number of workers", "[threads]") {
  const auto noisy = [](size_t workers) {
    ebb::manual_seed(11);
    const auto add_noise = [](ebb::Tensor x) {
      return x + ebb::rand({2}, ebb::TensorOptions(ebb::kCPU)).to(x.device());
    };
    auto set = Numbers(24)
                   .map(data::transforms::TensorLambda<>(add_noise))
                   .map(data::transforms::Stack<>());
    auto loader = data::make_data_loader<data::samplers::SequentialSampler>(
        std::move(set), data::DataLoaderOptions().batch_size(4).workers(workers));
    std::vector<ebb::Tensor> all;
    for (auto& batch : *loader) all.push_back(batch.data);
    return ebb::cat(all);
  };
  const auto alone = noisy(0);
  CHECK(ebb::equal(noisy(1), alone));
  CHECK(ebb::equal(noisy(3), alone));
}

TEST_CASE("Batches count as input") {
  auto loader = data::make_data_loader<data::samplers::SequentialSampler>(
      stacked(Numbers(8)), data::DataLoaderOptions().batch_size(8));
  const auto before = ebb::memory::category_bytes(ebb::memory::Category::input);
  auto batch = loader->begin();
  // Eight rows of two floats and eight labels: 64 bytes each, counted as 512.
  CHECK(ebb::memory::category_bytes(ebb::memory::Category::input) - before == 1024);
}

TEST_CASE("A batch size of zero and a loader that was joined are errors") {
  CHECK_THROWS_AS(
      data::make_data_loader(stacked(Numbers(4)), data::DataLoaderOptions().batch_size(0)),
      ebb::Error);
  auto loader = data::make_data_loader(stacked(Numbers(4)), data::DataLoaderOptions(2));
  loader->join();
  CHECK_THROWS_AS(loader->begin(), ebb::Error);
}

TEST_CASE("Normalize subtracts the mean and divides by the deviation of each channel") {
  data::transforms::Normalize<> normalize({0.5, 1.0}, {0.25, 2.0});
  const auto out = normalize(ebb::ones({2, 1, 2}));
  CHECK(ebb::equal(out, ebb::tensor({{{2.0, 2.0}}, {{0.0, 0.0}}})));
}
