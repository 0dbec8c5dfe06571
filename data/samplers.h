#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include <ebb/core/export.h>
#include <ebb/core/tensor/scalar_type.h>

namespace ebb::data::samplers {

/// Says which samples the next batch has.
template <typename BatchRequest = std::vector<size_t>>
class Sampler {
 public:
  using BatchRequestType = BatchRequest;
  virtual ~Sampler() = default;
  /// Starts an epoch, over `new_size` samples if given.
  virtual void reset(std::optional<size_t> new_size) = 0;
  void reset() { reset(std::nullopt); }
  /// The next at most `batch_size` samples, or nothing at the end of the epoch.
  virtual std::optional<BatchRequest> next(size_t batch_size) = 0;
};

/// The indices in order.
class EBB_API SequentialSampler : public Sampler<> {
 public:
  explicit SequentialSampler(size_t size) : size_(size) {}
  void reset(std::optional<size_t> new_size) override;
  using Sampler<>::reset;
  std::optional<std::vector<size_t>> next(size_t batch_size) override;
  [[nodiscard]] size_t index() const noexcept { return index_; }

 private:
  size_t size_;
  size_t index_ = 0;
};

/// The indices in a random order, drawn anew at each reset from the CPU's generator.
class EBB_API RandomSampler : public Sampler<> {
 public:
  explicit RandomSampler(int64_t size, ScalarType index_dtype = kInt64);
  void reset(std::optional<size_t> new_size) override;
  using Sampler<>::reset;
  std::optional<std::vector<size_t>> next(size_t batch_size) override;
  [[nodiscard]] size_t index() const noexcept { return index_; }

 private:
  std::vector<size_t> order_;
  size_t index_ = 0;
};

/// Says only how many samples a batch has: for stream datasets.
class EBB_API StreamSampler : public Sampler<size_t> {
 public:
  explicit StreamSampler(size_t epoch_size) : epoch_size_(epoch_size) {}
  void reset(std::optional<size_t> new_size) override;
  using Sampler<size_t>::reset;
  std::optional<size_t> next(size_t batch_size) override;

 private:
  size_t epoch_size_;
  size_t given_ = 0;
};

}  // namespace ebb::data::samplers
