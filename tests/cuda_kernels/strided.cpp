#include <ebb/cuda/kernels/strided.h>

#include <cstdint>
#include <memory>
#include <random>
#include <vector>

#include <ebb/cuda/kernels/pack.h>

#include "catch.h"

using namespace ebb;
using namespace ebb::cuda;

// Index arithmetic is host code as much as device code: here it runs over tensors far larger than
// any memory, since nothing is read.

namespace {

using Sizes = std::vector<int64_t>;

/// An iterator over float32 operands of these sizes and strides (in elements) at made-up addresses.
std::unique_ptr<TensorIterator> iterate(const Sizes& sizes, const std::vector<Sizes>& strides) {
  auto it = std::make_unique<TensorIterator>(IntArrayRef(sizes));
  uintptr_t address = uintptr_t{1} << 44;
  for (const Sizes& each : strides) {
    it->add(reinterpret_cast<void*>(address), kFloat, sizes, each);
    address += uintptr_t{1} << 44;
  }
  it->build();
  return it;
}

Sizes contiguous_strides(const Sizes& sizes) {
  Sizes strides(sizes.size(), 1);
  for (size_t i = sizes.size() - 1; i > 0; --i) strides[i - 1] = strides[i] * sizes[i];
  return strides;
}

/// Checks that position p of the iteration is where the iterator itself says.
void check_position(const TensorIterator& it, const Piece& piece, int64_t p) {
  const StridedIndex<2> index(piece);
  const Offsets<2> offsets = index(static_cast<uint32_t>(p - piece.first()));
  const IteratorPosition expected(it, p);
  for (int i = 0; i < 2; ++i) {
    REQUIRE(piece.data(i) + offsets[i] == expected.pointer(i));
  }
}

/// Goes through all pieces and checks ends, middle and random positions of some of them.
int64_t check_pieces(const TensorIterator& it, int64_t every) {
  std::mt19937_64 generator(1);
  int64_t pieces = 0;
  int64_t next = 0;
  for_each_piece(it, [&](const Piece& piece) {
    REQUIRE(piece.first() == next);
    REQUIRE(piece.numel() > 0);
    REQUIRE(piece.numel() <= kMaxPieceNumel);
    REQUIRE(piece.ndim() <= kMaxPieceDims);
    next += piece.numel();
    if (pieces++ % every != 0) return;
    check_position(it, piece, piece.first());
    check_position(it, piece, piece.first() + piece.numel() - 1);
    check_position(it, piece, piece.first() + piece.numel() / 2);
    for (int i = 0; i < 20; ++i) {
      const auto at = static_cast<int64_t>(generator() % static_cast<uint64_t>(piece.numel()));
      check_position(it, piece, piece.first() + at);
    }
  });
  REQUIRE(next == it.numel());
  return pieces;
}

}  // namespace

TEST_CASE("a divider divides every dividend below 2^31 as the processor does") {
  std::mt19937_64 generator(1);
  std::vector<int64_t> divisors = {1,
                                   2,
                                   3,
                                   5,
                                   7,
                                   641,
                                   65535,
                                   65536,
                                   65537,
                                   (int64_t{1} << 30) - 1,
                                   int64_t{1} << 30,
                                   (int64_t{1} << 31) - 1,
                                   int64_t{1} << 31};
  for (int i = 0; i < 500; ++i) {
    divisors.push_back(1 + static_cast<int64_t>(generator() >> (33 + i % 28)));
  }
  for (const int64_t d : divisors) {
    const Divider<uint32_t> divider(d);
    const auto check = [&](int64_t n) {
      if (n < 0 || n >= int64_t{1} << 31) return;
      if (divider.divide(static_cast<uint32_t>(n)) == n / d) return;
      FAIL(n << " / " << d);
    };
    for (int i = 0; i < 200; ++i) {
      const auto n = static_cast<int64_t>(generator() >> 33);
      check(n);
      check(n / d * d - 1);  // where the quotient changes
      check(n / d * d);
    }
    check((int64_t{1} << 31) - 1);
    check(0);
    CHECK(Divider<uint64_t>(d).divide(uint64_t{1} << 40) ==
          (uint64_t{1} << 40) / static_cast<uint64_t>(d));
  }
}

TEST_CASE("2^33 adjacent elements are eight pieces, each aligned as the whole") {
  const Sizes sizes = {int64_t{1} << 33};
  const auto it = iterate(sizes, {{1}, {1}});
  CHECK(check_pieces(*it, 1) == 8);
  for_each_piece(*it, [](const Piece& piece) {
    CHECK(suits_packs(piece.data(0), 4, 4));
    CHECK(piece.is_contiguous(0));
  });
}

TEST_CASE("strided operands of more than 2^31 elements are indexed by offsets of 64 bits") {
  const Sizes sizes = {3, 70'000, 60'000};  // 12.6e9 elements
  const auto turned = iterate(sizes, {contiguous_strides(sizes), {1, 3, 210'000}});
  CHECK(check_pieces(*turned, 1) > 11);
  const auto broadcast = iterate(sizes, {contiguous_strides(sizes), {0, 1, 0}});
  CHECK(check_pieces(*broadcast, 1) > 11);
  const auto backwards = iterate(sizes, {contiguous_strides(sizes), {-1, -3, -210'000}});
  CHECK(check_pieces(*backwards, 1) > 11);
  // One dimension is larger than a piece, and does not merge with the next.
  const Sizes long_rows = {3, (int64_t{1} << 31) + 5};
  const auto gaps = iterate(long_rows, {{int64_t{1} << 32, 1}, {int64_t{1} << 33, 2}});
  CHECK(check_pieces(*gaps, 1) == 9);
}

TEST_CASE("dimensions beyond those that a kernel indexes are gone through on the host") {
  Sizes sizes(20, 2);
  Sizes turned(20);  // no two dimensions merge
  for (size_t i = 0; i < 20; ++i) turned[i] = int64_t{1} << (i % 2 == 0 ? i / 2 : 10 + i / 2);
  const auto it = iterate(sizes, {contiguous_strides(sizes), turned});
  REQUIRE(it->ndim() == 20);
  CHECK(check_pieces(*it, 17) == 256);  // the eight outer ones
}

TEST_CASE("an iteration without elements has no pieces, one of a single element has one") {
  int pieces = 0;
  const auto none = iterate({4, 0}, {{1, 1}, {1, 1}});
  for_each_piece(*none, [&](const Piece&) { ++pieces; });
  CHECK(pieces == 0);
  const auto one = iterate({}, {{}, {}});
  for_each_piece(*one, [&](const Piece& piece) {
    ++pieces;
    CHECK(piece.numel() == 1);
    CHECK(piece.is_contiguous(0));
  });
  CHECK(pieces == 1);
}

TEST_CASE("a grid covers its work, but for what its threads take in further steps") {
  CHECK(blocks_for(1) == 1);
  CHECK(blocks_for(kBlockThreads) == 1);
  CHECK(blocks_for(kBlockThreads + 1) == 2);
  CHECK(blocks_for(int64_t{1} << 40) == kMaxBlocks);
}
