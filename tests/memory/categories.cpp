#include <numeric>

#include "catch.h"
#include "memory/helpers.h"

using namespace ebb::memory;
using test::Fixture;
using test::Held;

namespace {

int64_t bytes_of(const Fixture& f, Category category) {
  return f.allocator.statistics().categories[static_cast<size_t>(category)].current;
}

int64_t sum_of_categories(const Fixture& f) {
  int64_t sum = 0;
  for (const auto& category : f.allocator.statistics().categories) sum += category.current;
  return sum;
}

}  // namespace

TEST_CASE("a block is temporary until somebody knows better") {
  Fixture f;
  const Held a = f.get(1000);
  CHECK(category(a.get()) == Category::temporary);
  CHECK(bytes_of(f, Category::temporary) == 1024);
}

TEST_CASE("sticky categories keep the highest rank, and temporary clears them") {
  Fixture f;
  const Held a = f.get(1000);
  set_category(a.get(), Category::gradient);
  CHECK(category(a.get()) == Category::gradient);
  set_category(a.get(), Category::input);
  CHECK(category(a.get()) == Category::gradient);
  set_category(a.get(), Category::parameter);
  CHECK(bytes_of(f, Category::parameter) == 1024);
  CHECK(bytes_of(f, Category::gradient) == 0);
  set_category(a.get(), Category::temporary);
  CHECK(category(a.get()) == Category::temporary);
  CHECK(sum_of_categories(f) == 1024);
}

TEST_CASE("saved and workspace are not set by hand") {
  Fixture f;
  const Held a = f.get(1000);
  set_category(a.get(), Category::saved);
  set_category(a.get(), Category::workspace);
  CHECK(category(a.get()) == Category::temporary);
}

TEST_CASE("a block is saved as long as a node holds it, unless a sticky category ranks higher") {
  Fixture f;
  const Held a = f.get(1000);
  hold_saved(a.get());
  hold_saved(a.get());
  CHECK(bytes_of(f, Category::saved) == 1024);
  unhold_saved(a.get());
  CHECK(category(a.get()) == Category::saved);
  set_category(a.get(), Category::parameter);
  CHECK(category(a.get()) == Category::parameter);
  CHECK(bytes_of(f, Category::saved) == 0);
  unhold_saved(a.get());
  set_category(a.get(), Category::temporary);
  CHECK(category(a.get()) == Category::temporary);
}

TEST_CASE("scratch is workspace, also while inputs are made") {
  Fixture f;
  const InputGuard guard;
  const Held a = f.get(1000, Purpose::workspace);
  CHECK(category(a.get()) == Category::workspace);
  hold_saved(a.get());
  CHECK(category(a.get()) == Category::saved);
  unhold_saved(a.get());
  CHECK(category(a.get()) == Category::workspace);

  const int64_t before = category_bytes(Category::workspace);
  {
    const Workspace scratch(3000, ebb::kCPU);
    scratch.as<char>()[2999] = 1;
    CHECK(category_bytes(Category::workspace) == before + 3072);
  }
  CHECK(category_bytes(Category::workspace) == before);
}

TEST_CASE("what is made under an InputGuard is input") {
  Fixture f;
  Held a;
  {
    const InputGuard outer;
    { const InputGuard inner; }
    a = f.get(1000);
  }
  const Held b = f.get(1000);
  CHECK(category(a.get()) == Category::input);
  CHECK(category(b.get()) == Category::temporary);
}

TEST_CASE("a block that is used again has lost its category") {
  Fixture f;
  Held a = f.get(1000);
  set_category(a.get(), Category::parameter);
  hold_saved(a.get());
  unhold_saved(a.get());
  a.reset();
  CHECK(bytes_of(f, Category::parameter) == 0);
  const Held b = f.get(1000);
  CHECK(category(b.get()) == Category::temporary);
}

TEST_CASE("the breakdown is that of the moment of the peak") {
  Fixture f;
  const Held weight = f.get(2048);
  set_category(weight.get(), Category::parameter);
  {
    const Held activation = f.get(4096);
    hold_saved(activation.get());
    const Held scratch = f.get(1024, Purpose::workspace);  // the peak
    unhold_saved(activation.get());
  }
  set_category(weight.get(), Category::buffer);  // a lower rank: stays a parameter
  const Statistics statistics = f.allocator.statistics();
  const auto& at_peak = statistics.categories_at_peak;
  CHECK(at_peak[static_cast<size_t>(Category::parameter)] == 2048);
  CHECK(at_peak[static_cast<size_t>(Category::saved)] == 4096);
  CHECK(at_peak[static_cast<size_t>(Category::workspace)] == 1024);
  CHECK(at_peak[static_cast<size_t>(Category::temporary)] == 0);
  CHECK(std::accumulate(at_peak.begin(), at_peak.end(), int64_t{0}) ==
        statistics.get(Metric::allocated_bytes).peak);
  CHECK(statistics.categories[static_cast<size_t>(Category::saved)].peak == 4096);
  f.allocator.reset_peak();
  const Statistics after = f.allocator.statistics();
  CHECK(after.categories_at_peak[static_cast<size_t>(Category::parameter)] == 2048);
  CHECK(after.categories_at_peak[static_cast<size_t>(Category::saved)] == 0);
  CHECK(after.categories[static_cast<size_t>(Category::saved)].peak == 0);
}

TEST_CASE("every category has a name") {
  CHECK(std::string(name(Category::parameter)) == "parameter");
  CHECK(std::string(name(Category::optimizer_state)) == "optimizer state");
  CHECK(std::string(name(Category::temporary)) == "temporary");
}
