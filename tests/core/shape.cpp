#include <ebb/core/tensor/shape.h>

#include <set>

#include "catch.h"

using namespace ebb;

namespace {

/// Calls f(index) for each index of a tensor of `sizes` in row-major order.
template <typename F>
void for_each_index(IntArrayRef sizes, F f) {
  int64_t numel = 1;
  for (const int64_t size : sizes) numel *= size;
  DimVector index(sizes.size());
  for (; numel > 0; --numel) {
    f(index);
    for (size_t i = index.size(); i-- > 0 && ++index[i] == sizes[i];) index[i] = 0;
  }
}

/// The offsets of all elements in row-major order.
std::vector<int64_t> offsets(IntArrayRef sizes, IntArrayRef strides) {
  std::vector<int64_t> result;
  for_each_index(sizes, [&](const DimVector& index) {
    int64_t offset = 0;
    for (size_t i = 0; i < index.size(); ++i) offset += index[i] * strides[i];
    result.push_back(offset);
  });
  return result;
}

bool overlaps(IntArrayRef sizes, IntArrayRef strides) {
  const auto all = offsets(sizes, strides);
  return std::set<int64_t>(all.begin(), all.end()).size() < all.size();
}

bool is_dense(IntArrayRef sizes, IntArrayRef strides) {
  const auto all = offsets(sizes, strides);
  const std::set<int64_t> places(all.begin(), all.end());
  return places.size() == all.size() &&
         (all.empty() || *places.rbegin() == static_cast<int64_t>(all.size()) - 1);
}

/// All lists of `length` numbers from `choices`.
std::vector<DimVector> all_lists(size_t length, std::initializer_list<int64_t> choices) {
  std::vector<DimVector> lists(1);
  for (size_t i = 0; i < length; ++i) {
    std::vector<DimVector> longer;
    for (const DimVector& list : lists) {
      for (const int64_t choice : choices) {
        longer.push_back(list);
        longer.back().push_back(choice);
      }
    }
    lists = std::move(longer);
  }
  return lists;
}

}  // namespace

TEST_CASE("contiguous strides are row-major, zeros counting as one") {
  CHECK(contiguous_strides({2, 3, 4}).size() == 3);
  CHECK(IntArrayRef(contiguous_strides({2, 3, 4})) == std::vector<int64_t>{12, 4, 1});
  CHECK(IntArrayRef(contiguous_strides({2, 0, 4})) == std::vector<int64_t>{4, 4, 1});
  CHECK(contiguous_strides({}).empty());
}

TEST_CASE("predicates on strides agree with the offsets of the elements") {
  for (const DimVector& sizes : all_lists(3, {0, 1, 2, 3})) {
    for (const DimVector& strides : all_lists(3, {0, 1, 2, 3, 6, 9})) {
      INFO(sizes << " " << strides);
      const auto all = offsets(sizes, strides);
      bool in_order = true;
      for (size_t i = 0; i < all.size(); ++i) in_order &= all[i] == static_cast<int64_t>(i);
      REQUIRE(is_contiguous(sizes, strides) == in_order);
      REQUIRE(is_non_overlapping_and_dense(sizes, strides) == is_dense(sizes, strides));
      const bool overlapping = overlaps(sizes, strides);
      if (has_internal_overlap(sizes, strides)) REQUIRE(overlapping);
      if (!may_overlap(sizes, strides)) REQUIRE_FALSE(overlapping);
    }
  }
  CHECK(has_internal_overlap({3}, {0}));
  CHECK_FALSE(may_overlap({2, 3}, {3, 1}));
  CHECK(may_overlap({4, 3}, {2, 3}));
}

TEST_CASE("view_strides gives strides that reach the same elements in the same order") {
  const std::initializer_list<std::pair<DimVector, DimVector>> geometries = {
      {{4, 6}, {6, 1}},        {{4, 6}, {1, 4}},        {{4, 6}, {12, 2}}, {{4, 6}, {0, 1}},
      {{2, 2, 6}, {12, 6, 1}}, {{2, 2, 6}, {24, 6, 1}}, {{24}, {3}},       {{1, 24}, {5, 1}},
      {{4, 1, 6}, {6, 77, 1}}, {{6, 4}, {4, 0}}};
  for (const auto& [sizes, strides] : geometries) {
    const auto expected = offsets(sizes, strides);
    for (size_t length = 1; length <= 4; ++length) {
      for (const DimVector& to : all_lists(length, {1, 2, 3, 4, 6, 12, 24})) {
        int64_t numel = 1;
        for (const int64_t size : to) numel *= size;
        if (numel != 24) continue;
        const auto result = view_strides(sizes, strides, to);
        INFO(sizes << " " << strides << " to " << to);
        if (result) REQUIRE(offsets(to, *result) == expected);
        if (is_contiguous(sizes, strides)) REQUIRE(result);
        if (IntArrayRef(to) == IntArrayRef(sizes)) REQUIRE(result);
      }
    }
  }
  CHECK_FALSE(view_strides({4, 6}, {1, 4}, {24}));
  CHECK(view_strides({4, 6}, {1, 4}, {2, 2, 6}));
  CHECK(view_strides({0, 3}, {3, 1}, {3, 0}));
  CHECK(view_strides({}, {}, {1, 1}));
}

TEST_CASE("the number of elements is checked") {
  CHECK(checked_numel({2, 3}) == 6);
  CHECK(checked_numel({}) == 1);
  CHECK(checked_numel({2, 0, 3}) == 0);
  CHECK_THROWS_AS(checked_numel({2, -1}), Error);
  CHECK_THROWS_AS(checked_numel({INT64_MAX, 2}), Error);
  CHECK_THROWS_AS(checked_numel({INT64_MAX, 2, 0}), Error);
  CHECK(checked_numel({INT64_MAX}) == INT64_MAX);
  CHECK_THROWS_AS(checked_numel({INT64_MAX}, 2), Error);
}

TEST_CASE("shapes broadcast by NumPy's rules") {
  const auto broadcast = [](IntArrayRef a, IntArrayRef b) { return broadcast_shapes(a, b); };
  CHECK(IntArrayRef(broadcast({2, 1}, {3})) == std::vector<int64_t>{2, 3});
  CHECK(IntArrayRef(broadcast({}, {3})) == std::vector<int64_t>{3});
  CHECK(IntArrayRef(broadcast({0}, {1})) == std::vector<int64_t>{0});
  CHECK(IntArrayRef(broadcast({4, 1, 3}, {2, 1})) == std::vector<int64_t>{4, 2, 3});
  CHECK_THROWS_AS(broadcast({2}, {3}), Error);
  CHECK_THROWS_AS(broadcast({0}, {3}), Error);
  CHECK(is_expandable_to({1, 3}, {5, 2, 3}));
  CHECK_FALSE(is_expandable_to({2, 3}, {3}));
  CHECK_FALSE(is_expandable_to({2}, {3}));
}

TEST_CASE("dimensions wrap and are checked") {
  CHECK(wrap_dim(-1, 3) == 2);
  CHECK(wrap_dim(2, 3) == 2);
  CHECK(wrap_dim(-1, 0) == 0);
  CHECK_THROWS_AS(wrap_dim(0, 0, false), IndexError);
  CHECK_THROWS_AS(wrap_dim(3, 3), IndexError);
  CHECK_THROWS_AS(wrap_dim(-4, 3), IndexError);
  CHECK(dims_to_mask({0, -1}, 3) == 0b101);
  CHECK(dims_to_mask({}, 3) == 0b111);
  CHECK(dims_to_mask({}, 3, false) == 0);
  CHECK(dims_to_mask({}, 64) == ~uint64_t{0});
  CHECK_THROWS_AS(dims_to_mask({0, -3}, 3), Error);
  CHECK_THROWS_AS(dims_to_mask({}, 65), Error);
}

TEST_CASE("one size is inferred") {
  CHECK(IntArrayRef(infer_size({-1, 3}, 6)) == std::vector<int64_t>{2, 3});
  CHECK(IntArrayRef(infer_size({-1, 3}, 0)) == std::vector<int64_t>{0, 3});
  CHECK_THROWS_AS(infer_size({-1, 0}, 0), Error);
  CHECK_THROWS_AS(infer_size({-1, 4}, 6), Error);
  CHECK_THROWS_AS(infer_size({7}, 6), Error);
  CHECK_THROWS_AS(infer_size({-3, -2}, 6), Error);
  CHECK_THROWS_AS(infer_size({INT64_MAX, 3}, 6), Error);
}
