#pragma once

#include <cstddef>
#include <optional>
#include <type_traits>
#include <utility>
#include <vector>

#include <ebb/core/tensor/array_ref.h>
#include <ebb/data/example.h>

namespace ebb::data::datasets {

template <typename SourceDataset, typename Transform>
class MapDataset;

/// A source of batches, asked for by indices (or, for a stream, by a count). `Self` is the class
/// that derives from it.
template <typename Self, typename Batch = std::vector<Example<>>,
          typename BatchRequest = ArrayRef<size_t>>
class BatchDataset {
 public:
  using SelfType = Self;
  using BatchType = Batch;
  using BatchRequestType = BatchRequest;
  static constexpr bool is_stateful = false;

  virtual ~BatchDataset() = default;

  /// The samples that the request names.
  virtual Batch get_batch(BatchRequest request) = 0;
  /// How many samples there are, if that is known.
  [[nodiscard]] virtual std::optional<size_t> size() const = 0;

  /// This dataset with `transform` applied to each batch (or to each sample, for a
  /// transforms::Transform). The rvalue form moves the dataset.
  template <typename TransformType>
  MapDataset<Self, TransformType> map(TransformType transform) & {
    return {static_cast<Self&>(*this), std::move(transform)};
  }
  template <typename TransformType>
  MapDataset<Self, TransformType> map(TransformType transform) && {
    return {std::move(static_cast<Self&>(*this)), std::move(transform)};
  }
};

/// A source of samples, asked for one at a time.
template <typename Self, typename SingleExample = Example<>>
class Dataset : public BatchDataset<Self, std::vector<SingleExample>> {
 public:
  using ExampleType = SingleExample;

  virtual ExampleType get(size_t index) = 0;

  std::vector<ExampleType> get_batch(ArrayRef<size_t> indices) override {
    std::vector<ExampleType> batch;
    batch.reserve(indices.size());
    for (const size_t i : indices) batch.push_back(get(i));
    return batch;
  }
};

/// A source that is asked for so many samples and gives as many, or fewer at its end.
template <typename Self, typename Batch = std::vector<Example<>>>
using StreamDataset = BatchDataset<Self, Batch, size_t>;

namespace detail {

/// A transform may return its batch as it is, or nothing where the source returned nothing.
template <typename T>
struct is_optional : std::false_type {};
template <typename T>
struct is_optional<std::optional<T>> : std::true_type {};

}  // namespace detail

/// A dataset whose batches go through a transform. See BatchDataset::map.
template <typename SourceDataset, typename AppliedTransform>
class MapDataset : public BatchDataset<MapDataset<SourceDataset, AppliedTransform>,
                                       typename AppliedTransform::OutputBatchType,
                                       typename SourceDataset::BatchRequestType> {
 public:
  using DatasetType = SourceDataset;
  using TransformType = AppliedTransform;
  using BatchRequestType = typename SourceDataset::BatchRequestType;
  using OutputBatchType = typename TransformType::OutputBatchType;

  MapDataset(DatasetType dataset, TransformType transform)
      : dataset_(std::move(dataset)), transform_(std::move(transform)) {}

  OutputBatchType get_batch(BatchRequestType request) override {
    return transform_.apply_batch(dataset_.get_batch(std::move(request)));
  }
  [[nodiscard]] std::optional<size_t> size() const noexcept override { return dataset_.size(); }

  [[nodiscard]] const DatasetType& dataset() const noexcept { return dataset_; }
  [[nodiscard]] const TransformType& transform() const noexcept { return transform_; }

 private:
  DatasetType dataset_;
  TransformType transform_;
};

/// The rows of one tensor, as samples without a target.
class TensorDataset final : public Dataset<TensorDataset, TensorExample> {
 public:
  explicit TensorDataset(const std::vector<Tensor>& tensors) : tensor_(ebb::stack(tensors)) {}
  explicit TensorDataset(Tensor tensor) : tensor_(std::move(tensor)) {}

  TensorExample get(size_t index) override { return tensor_[static_cast<int64_t>(index)]; }
  [[nodiscard]] std::optional<size_t> size() const override {
    return static_cast<size_t>(tensor_.size(0));
  }

 private:
  Tensor tensor_;
};

}  // namespace ebb::data::datasets
