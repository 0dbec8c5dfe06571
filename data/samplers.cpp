#include <ebb/data/samplers.h>

#include <algorithm>
#include <numeric>
#include <utility>

#include <ebb/core/error.h>
#include <ebb/core/random/distributions.h>
#include <ebb/core/random/generator.h>

namespace ebb::data::samplers {

void SequentialSampler::reset(std::optional<size_t> new_size) {
  if (new_size) size_ = *new_size;
  index_ = 0;
}

std::optional<std::vector<size_t>> SequentialSampler::next(size_t batch_size) {
  const size_t count = std::min(batch_size, size_ - index_);
  if (count == 0) return std::nullopt;
  std::vector<size_t> indices(count);
  std::iota(indices.begin(), indices.end(), index_);
  index_ += count;
  return indices;
}

RandomSampler::RandomSampler(int64_t size, ScalarType index_dtype) {
  EBB_CHECK(size >= 0, "RandomSampler: the size must not be negative, got ", size);
  EBB_CHECK(is_integral(index_dtype, false), "RandomSampler: indices are integers, not ",
            to_string(index_dtype));
  order_.resize(static_cast<size_t>(size));
  reset();
}

void RandomSampler::reset(std::optional<size_t> new_size) {
  order_.resize(new_size.value_or(order_.size()));
  std::iota(order_.begin(), order_.end(), size_t{0});
  index_ = 0;
  const auto size = static_cast<int64_t>(order_.size());
  const auto draw = current_generator().reserve(random::counters_for_64bit(size));
  for (int64_t i = size - 1; i > 0; --i) {  // Fisher and Yates
    const int64_t j = random::integer(draw.seed, draw.offset, static_cast<uint64_t>(i), 0, i + 1);
    std::swap(order_[static_cast<size_t>(i)], order_[static_cast<size_t>(j)]);
  }
}

std::optional<std::vector<size_t>> RandomSampler::next(size_t batch_size) {
  const size_t count = std::min(batch_size, order_.size() - index_);
  if (count == 0) return std::nullopt;
  const auto first = order_.begin() + static_cast<std::ptrdiff_t>(index_);
  index_ += count;
  return std::vector<size_t>(first, first + static_cast<std::ptrdiff_t>(count));
}

void StreamSampler::reset(std::optional<size_t> new_size) {
  if (new_size) epoch_size_ = *new_size;
  given_ = 0;
}

std::optional<size_t> StreamSampler::next(size_t batch_size) {
  const size_t count = std::min(batch_size, epoch_size_ - given_);
  if (count == 0) return std::nullopt;
  given_ += count;
  return count;
}

}  // namespace ebb::data::samplers
