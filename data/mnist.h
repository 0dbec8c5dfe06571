#pragma once

#include <optional>
#include <string>

#include <ebb/autograd/tensor.h>
#include <ebb/data/dataset.h>

namespace ebb::data::datasets {

/// The MNIST digits (LeCun, Cortes and Burges), from IDX files of any count in one folder, plain
/// (`train-images-idx3-ubyte`) or compressed (`train-images-idx3-ubyte.gz`).
class EBB_API MNIST : public Dataset<MNIST> {
 public:
  enum class Mode { kTrain, kTest };

  /// Reads images and labels of the training or the test set from the folder `root`. Throws an
  /// Error that names the file if one is missing, broken, or has another count than the other.
  explicit MNIST(const std::string& root, Mode mode = Mode::kTrain);

  /// Image [1, height, width] (float32 in [0, 1]) and label (int64, no dimensions).
  Example<> get(size_t index) override;
  [[nodiscard]] std::optional<size_t> size() const override;
  [[nodiscard]] bool is_train() const noexcept { return mode_ == Mode::kTrain; }
  /// All images, [N, 1, height, width].
  [[nodiscard]] const Tensor& images() const { return images_; }
  /// All labels, [N].
  [[nodiscard]] const Tensor& targets() const { return targets_; }

 private:
  Mode mode_;
  Tensor images_;
  Tensor targets_;
};

}  // namespace ebb::data::datasets
