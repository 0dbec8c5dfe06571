#include <ebb/core/random/philox.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstdint>
#include <set>
#include <thread>
#include <utility>
#include <vector>

#include <ebb/core/error.h>
#include <ebb/core/parallel.h>
#include <ebb/core/random/distributions.h>
#include <ebb/core/random/generator.h>

#include "catch.h"

using namespace ebb::random;  // NOLINT
using ebb::Generator;

namespace {

constexpr uint64_t kSeed = 42;
constexpr int kSamples = 200000;

/// Mean and standard deviation of draw(i) for kSamples values of i.
template <typename Draw>
std::pair<double, double> moments(const Draw& draw) {
  double sum = 0, squares = 0;
  for (int i = 0; i < kSamples; ++i) {
    const double value = draw(i);
    sum += value;
    squares += value * value;
  }
  const double mean = sum / kSamples;
  return {mean, std::sqrt(squares / kSamples - mean * mean)};
}

/// The largest distance between the distribution of the samples and `cumulative`
/// (Kolmogorov-Smirnov). Above 1.95 / sqrt(n) in one of a thousand seeds.
template <typename Cumulative>
double distance(std::vector<double> samples, const Cumulative& cumulative) {
  std::sort(samples.begin(), samples.end());
  double worst = 0;
  const double n = static_cast<double>(samples.size());
  for (size_t i = 0; i < samples.size(); ++i) {
    const double expected = cumulative(samples[i]);
    worst = std::max({worst, std::abs(expected - static_cast<double>(i) / n),
                      std::abs(expected - static_cast<double>(i + 1) / n)});
  }
  return worst;
}

}  // namespace

TEST_CASE("Philox4x32-10 gives the words of its authors' known-answer tests") {
  static_assert(philox(0, 0, 0) == Words4{{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}});
  constexpr uint64_t kOnes = ~uint64_t{0};
  REQUIRE(philox(kOnes, kOnes, kOnes) == Words4{{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}});
  REQUIRE(philox(0x299f31d0a4093822, 0x85a308d3243f6a88, 0x0370734413198a2e) ==
          Words4{{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}});
}

TEST_CASE("word i of a call is lane i % 4 of counter offset + i / 4") {
  for (const uint64_t offset : {uint64_t{0}, uint64_t{7}, uint64_t{0xfffffffe}}) {
    for (uint64_t i = 0; i < 20; ++i) {
      REQUIRE(word(kSeed, offset, i) == philox(kSeed, offset + i / 4).lane[i % 4]);
    }
    for (uint64_t i = 0; i < 20; ++i) {
      REQUIRE(bits64(kSeed, offset, i) ==
              (word(kSeed, offset, 2 * i) | static_cast<uint64_t>(word(kSeed, offset, 2 * i + 1))
                                                << 32));
    }
  }
}

TEST_CASE("fill_words gives the same words wherever the call is cut") {
  std::vector<uint32_t> expected(50);
  for (uint64_t w = 0; w < expected.size(); ++w) expected[w] = word(kSeed, 9, w);
  for (uint64_t first = 0; first < 9; ++first) {
    for (int64_t count = 0; count < 23; ++count) {
      std::vector<uint32_t> out(count + 1, 0xabababab);
      fill_words(kSeed, 9, first, count, out.data());
      REQUIRE(std::equal(out.begin(), out.end() - 1, expected.begin() + first));
      REQUIRE(out.back() == 0xabababab);
    }
  }
}

TEST_CASE("random numbers do not depend on the number of threads") {
  const int before = ebb::get_num_threads();
  std::vector<std::vector<float>> runs;
  for (const int threads : {1, 2, 8}) {
    ebb::set_num_threads(threads);
    std::vector<float> values(10007);
    ebb::parallel_for(0, static_cast<int64_t>(values.size()), 100, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) values[i] = normal_float(kSeed, 3, i);
    });
    runs.push_back(values);
  }
  ebb::set_num_threads(before);
  REQUIRE(runs[0] == runs[1]);
  REQUIRE(runs[0] == runs[2]);
}

TEST_CASE("uniforms span [0, 1) and never reach 1") {
  static_assert(to_uniform(uint32_t{0}) == 0.0f);
  static_assert(to_uniform(~uint32_t{0}) == 1.0f - 0x1p-24f);
  static_assert(to_uniform(uint64_t{0}) == 0.0);
  static_assert(to_uniform(~uint64_t{0}) == 1.0 - 0x1p-53);
  std::vector<double> floats, doubles;
  for (int i = 0; i < kSamples; ++i) {
    floats.push_back(uniform_float(kSeed, 0, i));
    doubles.push_back(uniform_double(kSeed, 0, i));
  }
  const auto identity = [](double x) { return x; };
  REQUIRE(distance(floats, identity) < 1.95 / std::sqrt(kSamples));
  REQUIRE(distance(doubles, identity) < 1.95 / std::sqrt(kSamples));
}

TEST_CASE("normals follow the normal distribution") {
  const auto cumulative = [](double x) { return std::erfc(-x / std::sqrt(2.0)) / 2; };
  std::vector<double> floats, doubles;
  for (int i = 0; i < kSamples; ++i) {
    floats.push_back(normal_float(kSeed, 0, i));
    doubles.push_back(normal_double(kSeed, 0, i));
  }
  REQUIRE(distance(floats, cumulative) < 1.95 / std::sqrt(kSamples));
  REQUIRE(distance(doubles, cumulative) < 1.95 / std::sqrt(kSamples));
  // The two of a pair are uncorrelated.
  double product = 0;
  for (int i = 0; i < kSamples; i += 2) product += floats[i] * floats[i + 1];
  REQUIRE(std::abs(product / (kSamples / 2)) < 4 / std::sqrt(kSamples / 2));
}

TEST_CASE("normals are finite for the extreme words") {
  for (const uint32_t radius : {0u, 1u, 0xffffff7fu, 0xffffffffu}) {
    for (const uint32_t angle : {0u, 0x40000000u, 0xffffffffu}) {
      const auto pair = to_normals(radius, angle);
      REQUIRE((std::abs(pair.first) < 6.7f && std::abs(pair.second) < 6.7f));
    }
  }
  for (const uint64_t radius : {uint64_t{0}, uint64_t{0x7ff}, ~uint64_t{0}}) {
    const auto pair = to_normals(radius, ~uint64_t{0});
    REQUIRE((std::abs(pair.first) < 8.6 && std::abs(pair.second) < 8.6));
  }
}

TEST_CASE("Bernoulli draws meet their probability, and 0 and 1 exactly") {
  for (const double p : {0.1, 0.5, 0.9}) {
    const auto [mean, deviation] =
        moments([&](int i) { return bernoulli(kSeed, 0, i, p) ? 1.0 : 0.0; });
    REQUIRE(std::abs(mean - p) < 4 * deviation / std::sqrt(kSamples));
  }
  static_assert(to_bernoulli(0xffffffff, 1.0));
  static_assert(!to_bernoulli(0, 0.0));
  static_assert(to_bernoulli(0x7fffffff, 0.5));
  static_assert(!to_bernoulli(0x80000000, 0.5));
}

TEST_CASE("integers fill their range evenly and stay inside it") {
  constexpr int64_t kMin = INT64_MIN, kMax = INT64_MAX;
  static_assert(to_integer(0, -3, 4) == -3);
  static_assert(to_integer(~uint64_t{0}, -3, 4) == 3);
  static_assert(to_integer(0, kMin, kMax) == kMin);
  static_assert(to_integer(~uint64_t{0}, kMin, kMax) == kMax - 1);
  static_assert(to_integer(~uint64_t{0}, 0, 0) == -1);
  static_assert(multiply_high(~uint64_t{0}, ~uint64_t{0}) == ~uint64_t{0} - 1);
  static_assert(multiply_high(0x123456789abcdef0, 0xfedcba9876543210) == 0x121fa00ad77d7422);
  int counts[10] = {};
  for (int i = 0; i < kSamples; ++i) {
    const int64_t value = integer(kSeed, 0, i, -5, 5);
    REQUIRE((value >= -5 && value < 5));
    ++counts[value + 5];
  }
  // Chi-squared with nine degrees of freedom: above 27.9 in one of a thousand seeds.
  double chi = 0;
  for (const int count : counts) chi += std::pow(count - kSamples / 10.0, 2) / (kSamples / 10.0);
  REQUIRE(chi < 27.9);
}

TEST_CASE("a call reserves a quarter of a counter for 32 bits and a half for 64") {
  REQUIRE(counters_for_32bit(0) == 0);
  REQUIRE(counters_for_32bit(1) == 1);
  REQUIRE(counters_for_32bit(4) == 1);
  REQUIRE(counters_for_32bit(5) == 2);
  REQUIRE(counters_for_64bit(0) == 0);
  REQUIRE(counters_for_64bit(1) == 1);
  REQUIRE(counters_for_64bit(2) == 1);
  REQUIRE(counters_for_64bit(5) == 3);
}

TEST_CASE("a generator hands out counters in a row, and starts anew from a seed") {
  Generator generator(ebb::kCPU, 5);
  REQUIRE(generator.current_seed() == 5);
  REQUIRE(generator.reserve(3).offset == 0);
  REQUIRE(generator.reserve(4).offset == 3);
  REQUIRE(generator.reserve(0).offset == 7);
  REQUIRE(generator.get_offset() == 7);
  generator.set_current_seed(6);
  const Reservation reservation = generator.reserve(1);
  REQUIRE(reservation.seed == 6);
  REQUIRE(reservation.offset == 0);
  generator.set_offset(100);
  REQUIRE(generator.reserve(1).offset == 100);
  const uint64_t drawn = generator.seed();
  REQUIRE(generator.current_seed() == drawn);
  REQUIRE(generator.get_offset() == 0);
}

TEST_CASE("copies of a generator share its state, clones do not") {
  Generator generator(ebb::kCPU, 5);
  generator.reserve(2);
  Generator copy = generator;
  Generator clone = generator.clone();
  REQUIRE(copy == generator);
  REQUIRE_FALSE(clone == generator);
  copy.reserve(3);
  REQUIRE(generator.get_offset() == 5);
  REQUIRE(clone.get_state() == ebb::GeneratorState{5, 2});
  clone.set_state(generator.get_state());
  REQUIRE(clone.reserve(1).offset == 5);
  REQUIRE(generator.get_offset() == 5);
}

TEST_CASE("substreams are distinct, repeatable, and leave their generator alone") {
  const Generator generator(ebb::kCPU, 5);
  std::set<uint64_t> seeds{5};
  for (uint64_t i = 0; i < 100; ++i) seeds.insert(generator.substream(i).current_seed());
  REQUIRE(seeds.size() == 101);
  REQUIRE(generator.get_offset() == 0);
  generator.reserve(9);
  REQUIRE(seeds.count(generator.substream(3).current_seed()) == 1);
}

TEST_CASE("threads that reserve at once get counters that do not overlap") {
  const Generator generator(ebb::kCPU);
  std::vector<std::vector<uint64_t>> taken(4);
  std::vector<std::thread> threads;
  for (auto& mine : taken) {
    threads.emplace_back([&mine, &generator] {
      for (int i = 0; i < 1000; ++i) mine.push_back(generator.reserve(3).offset);
    });
  }
  for (std::thread& thread : threads) thread.join();
  std::set<uint64_t> all;
  for (const auto& mine : taken) all.insert(mine.begin(), mine.end());
  REQUIRE(all.size() == 4000);
  REQUIRE(*all.rbegin() == 3 * 3999);
}

TEST_CASE("manual_seed reseeds the default generators of all devices") {
  const ebb::GeneratorState before = ebb::default_generator().get_state();
  ebb::manual_seed(77);
  ebb::default_generator().reserve(5);
  ebb::default_generator("cuda:1").reserve(6);
  REQUIRE(ebb::default_generator().get_state() == ebb::GeneratorState{77, 5});
  REQUIRE(ebb::default_generator("cuda:0").get_state() == ebb::GeneratorState{77, 0});
  REQUIRE(ebb::default_generator("cuda:1").get_state() == ebb::GeneratorState{77, 6});
  ebb::manual_seed(78);
  REQUIRE(ebb::default_generator("cuda:1").get_state() == ebb::GeneratorState{78, 0});
  Generator(ebb::default_generator()).set_state(before);
}

TEST_CASE("a guard gives this thread, and the pool's threads for it, another generator") {
  const Generator outer(ebb::kCPU, 1), inner(ebb::kCPU, 2), cuda(ebb::Device("cuda:0"), 3);
  REQUIRE(ebb::current_generator() == ebb::default_generator());
  {
    const ebb::GeneratorGuard outer_guard(outer);
    const ebb::GeneratorGuard cuda_guard(cuda);
    REQUIRE(ebb::current_generator() == outer);
    REQUIRE(ebb::current_generator("cuda:0") == cuda);
    REQUIRE(ebb::current_generator("cuda:1") == ebb::default_generator("cuda:1"));
    {
      const ebb::GeneratorGuard inner_guard(inner);
      REQUIRE(ebb::current_generator() == inner);
    }
    REQUIRE(ebb::current_generator(ebb::Device(ebb::kCPU, 0)) == outer);
    std::atomic<bool> pool_follows{true};
    ebb::parallel_for(0, 64, 1, [&](int64_t, int64_t) {
      if (!(ebb::current_generator() == outer)) pool_follows = false;
    });
    REQUIRE(pool_follows);
    bool elsewhere_default = false;
    std::thread([&] {
      elsewhere_default = ebb::current_generator() == ebb::default_generator();
    }).join();
    REQUIRE(elsewhere_default);
  }
  REQUIRE(ebb::current_generator() == ebb::default_generator());
}

TEST_CASE("an undefined generator and a device beyond the last are errors") {
  const Generator undefined;
  REQUIRE_FALSE(undefined.defined());
  REQUIRE_THROWS_AS(undefined.current_seed(), ebb::Error);
  REQUIRE_THROWS_AS(undefined.reserve(1), ebb::Error);
  REQUIRE_THROWS_AS(ebb::GeneratorGuard(undefined), ebb::Error);
  REQUIRE(ebb::default_generator("cuda") == ebb::default_generator("cuda:0"));
  REQUIRE_THROWS_AS(ebb::default_generator(ebb::Device(ebb::kCUDA, 16)), ebb::Error);
}
