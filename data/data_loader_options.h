#pragma once

#include <chrono>
#include <cstddef>
#include <optional>

namespace ebb::data {

/// How a DataLoader works. Setters return the object, so that they chain; without an argument they
/// read.
class DataLoaderOptions {
 public:
  DataLoaderOptions() = default;
  DataLoaderOptions(size_t batch_size) : batch_size_(batch_size) {}  // NOLINT: implicit

  /// Samples in a batch (1).
  DataLoaderOptions& batch_size(size_t value) { return batch_size_ = value, *this; }
  [[nodiscard]] size_t batch_size() const { return batch_size_; }
  /// Threads that fetch batches (0: the caller does).
  DataLoaderOptions& workers(size_t value) { return workers_ = value, *this; }
  [[nodiscard]] size_t workers() const { return workers_; }
  /// Batches asked for ahead (twice the workers).
  DataLoaderOptions& max_jobs(std::optional<size_t> value) { return max_jobs_ = value, *this; }
  [[nodiscard]] std::optional<size_t> max_jobs() const { return max_jobs_; }
  /// How long to wait for a batch before an Error (no limit).
  DataLoaderOptions& timeout(std::optional<std::chrono::milliseconds> value) {
    return timeout_ = value, *this;
  }
  [[nodiscard]] std::optional<std::chrono::milliseconds> timeout() const { return timeout_; }
  /// Batches come in the order of the sampler, whichever worker is first (true).
  DataLoaderOptions& enforce_ordering(bool value) { return enforce_ordering_ = value, *this; }
  [[nodiscard]] bool enforce_ordering() const { return enforce_ordering_; }
  /// A last batch that is not full is left out (false).
  DataLoaderOptions& drop_last(bool value) { return drop_last_ = value, *this; }
  [[nodiscard]] bool drop_last() const { return drop_last_; }

 private:
  size_t batch_size_ = 1;
  size_t workers_ = 0;
  std::optional<size_t> max_jobs_;
  std::optional<std::chrono::milliseconds> timeout_;
  bool enforce_ordering_ = true;
  bool drop_last_ = false;
};

}  // namespace ebb::data
