#include <algorithm>
#include <random>

#include "catch.h"
#include "memory/helpers.h"

using namespace ebb::memory;
using test::Fixture;
using test::Held;
using test::kMiB;

namespace {

/// The naive model: what is held, added up.
struct Model {
  struct Piece {
    Held block;
    Category category;
  };
  std::vector<Piece> pieces;
  int64_t peak = 0;

  [[nodiscard]] int64_t allocated() const {
    int64_t bytes = 0;
    for (const Piece& piece : pieces) bytes += static_cast<int64_t>(rounded(piece.block->nbytes));
    return bytes;
  }
  [[nodiscard]] bool overlap() const {
    std::vector<std::pair<char*, size_t>> ranges;
    for (const Piece& piece : pieces) {
      if (piece.block->nbytes > 0) {
        ranges.emplace_back(static_cast<char*>(piece.block->data), piece.block->nbytes);
      }
    }
    std::sort(ranges.begin(), ranges.end());
    for (size_t i = 1; i < ranges.size(); ++i) {
      if (ranges[i - 1].first + ranges[i - 1].second > ranges[i].first) return true;
    }
    return false;
  }
};

size_t random_size(std::mt19937& random) {
  constexpr size_t kLimits[] = {600, 5'000, 200'000, kMiB + 2000, 12 * kMiB, 40 * kMiB};
  return random() % kLimits[random() % std::size(kLimits)];
}

void step(Fixture& f, Model& model, std::mt19937& random) {
  switch (random() % 12) {
    default:
      if (model.pieces.size() < 60 && random() % 2 == 0) {
        f.streams.stream = random() % 4 == 0 ? 3 : 0;
        try {
          model.pieces.push_back({f.get(random_size(random)), Category::temporary});
        } catch (const ebb::OutOfMemoryError&) {  // the limit; nothing has changed
        }
        model.peak = std::max(model.peak, model.allocated());
      } else if (!model.pieces.empty()) {
        const size_t i = random() % model.pieces.size();
        if (random() % 8 == 0) f.allocator.record_stream(model.pieces[i].block.get(), 5);
        std::swap(model.pieces[i], model.pieces.back());
        model.pieces.pop_back();
      }
      break;
    case 0:
      if (!model.pieces.empty()) {
        auto& piece = model.pieces[random() % model.pieces.size()];
        const auto category = static_cast<Category>(random() % 5);
        set_category(piece.block.get(), category);
        if (piece.block->nbytes > 0) piece.category = std::min(piece.category, category);
      }
      break;
    case 1:
      if (random() % 10 == 0) f.allocator.empty_cache();
      f.streams.pass(5);
      break;
  }
}

void compare(const Fixture& f, const Model& model) {
  f.allocator.check_invariants();
  const Statistics statistics = f.allocator.statistics();
  CHECK(statistics.get(Metric::allocated_bytes).current == model.allocated());
  CHECK(statistics.get(Metric::allocated_bytes).peak == model.peak);
  CHECK_FALSE(model.overlap());
  int64_t categories[kCategories] = {};
  for (const auto& piece : model.pieces) {
    categories[static_cast<int>(piece.category)] +=
        static_cast<int64_t>(rounded(piece.block->nbytes));
    CHECK(category(piece.block.get()) == piece.category);
  }
  for (size_t i = 0; i < kCategories; ++i) {
    CHECK(statistics.categories[i].current == categories[i]);
  }
}

}  // namespace

TEST_CASE("random requests agree with a naive model") {
  const char* config = GENERATE("", "max_split_size_mb:20,garbage_collection_threshold:0.6",
                                "roundup_power2_divisions:[1:4,>:8]");
  const unsigned seed = GENERATE(range(1u, 6u));
  CAPTURE(config, seed);
  Fixture f(config);
  if (seed % 2 == 0) f.allocator.set_limit(300 * kMiB);
  std::mt19937 random(seed);
  Model model;
  for (int i = 0; i < 1500; ++i) {
    step(f, model, random);
    if (i % 50 == 0) compare(f, model);
  }
  compare(f, model);
  model.pieces.clear();
  f.allocator.empty_cache();
  CHECK(f.allocated() == 0);
  CHECK(f.reserved() == 0);
  CHECK(f.addresses.pieces() == 0);
  CHECK_FALSE(f.addresses.wrong());
  CHECK(f.streams.alive() == 0);
}

TEST_CASE("requests that fail at the source leave everything in order") {
  for (int64_t n = 1; n <= 8; ++n) {
    test::AddressSource addresses;
    FailingSource failing(addresses, n, n + 3);
    {
      CachingAllocator allocator(ebb::kCPU, failing);
      std::vector<Held> held;
      int failures = 0;
      for (size_t i = 0; i < 12; ++i) {
        try {
          held.emplace_back(allocator.allocate((i % 4 + 1) * 7 * kMiB));
        } catch (const ebb::OutOfMemoryError&) {
          ++failures;
        }
        allocator.check_invariants();
      }
      CHECK(failures >= 1);
      CHECK(failures <= 2);
    }
    CHECK(addresses.pieces() == 0);
  }
}
