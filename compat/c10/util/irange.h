#pragma once

#include <type_traits>

namespace c10 {

/// The integers from a begin up to an end, for a range-based loop.
template <typename Integer>
class IntegerRange {
 public:
  class Iterator {
   public:
    explicit constexpr Iterator(Integer value) : value_(value) {}
    constexpr Integer operator*() const { return value_; }
    constexpr Iterator& operator++() {
      ++value_;
      return *this;
    }
    constexpr bool operator==(const Iterator& other) const { return value_ == other.value_; }

   private:
    Integer value_;
  };

  constexpr IntegerRange(Integer begin, Integer end)
      : begin_(begin), end_(end < begin ? begin : end) {}
  constexpr Iterator begin() const { return Iterator(begin_); }
  constexpr Iterator end() const { return Iterator(end_); }

 private:
  Integer begin_;
  Integer end_;
};

/// 0, 1, ..., end - 1; empty for a negative end.
template <typename Integer>
constexpr IntegerRange<Integer> irange(Integer end) {
  static_assert(std::is_integral_v<Integer>);
  return {Integer{0}, end};
}

/// begin, begin + 1, ..., end - 1; empty where end is not above begin.
template <typename Begin, typename End>
constexpr IntegerRange<End> irange(Begin begin, End end) {
  static_assert(std::is_integral_v<Begin> && std::is_integral_v<End>);
  return {static_cast<End>(begin), end};
}

}  // namespace c10
