#pragma once

#include <condition_variable>
#include <deque>
#include <exception>
#include <iterator>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>
#include <utility>
#include <vector>

#include <ebb/core/error.h>
#include <ebb/core/memory/input_guard.h>
#include <ebb/core/random/generator.h>
#include <ebb/data/data_loader_options.h>
#include <ebb/data/samplers.h>

namespace ebb::data {

/// Fetches the batches of a dataset in the order a sampler says, on the calling thread or on
/// workers, each with a copy of the dataset. `for (auto& batch : *loader)` is one epoch; leaving
/// the loop early is fine. What a dataset throws is thrown where the batch would have come.
///
/// Random numbers that a transform draws on the CPU come from a substream of the generator that
/// belongs to the batch, so that they do not depend on the number of workers; those drawn on another
/// device come from its generator, in the order in which the workers ask. Batches count as `input`.
template <typename Dataset, typename Sampler>
class DataLoader {
 public:
  using Batch = typename Dataset::BatchType;
  using BatchRequest = typename Sampler::BatchRequestType;

  DataLoader(Dataset dataset, Sampler sampler, DataLoaderOptions options)
      : sampler_(std::move(sampler)), options_(options) {
    EBB_CHECK(options.batch_size() > 0, "DataLoader: the batch size must be positive");
    if (options.workers() == 0) {
      dataset_.emplace(std::move(dataset));
      return;
    }
    for (size_t i = 0; i < options.workers(); ++i) {
      workers_.emplace_back([this, copy = dataset]() mutable { work(copy); });
    }
  }
  DataLoader(const DataLoader&) = delete;
  DataLoader& operator=(const DataLoader&) = delete;
  ~DataLoader() { join(); }

  /// An input iterator over one epoch.
  class Iterator {
   public:
    using difference_type = std::ptrdiff_t;
    using value_type = Batch;
    using pointer = Batch*;
    using reference = Batch&;
    using iterator_category = std::input_iterator_tag;

    Iterator() = default;
    explicit Iterator(DataLoader* loader) : loader_(loader) { ++*this; }
    Iterator& operator++() {
      batch_.reset();  // its memory is free before the next batch needs some
      batch_ = loader_->next();
      return *this;
    }
    Batch& operator*() { return *batch_; }
    Batch* operator->() { return &*batch_; }
    bool operator==(const Iterator& other) const {
      return batch_.has_value() == other.batch_.has_value();
    }

   private:
    DataLoader* loader_ = nullptr;
    std::optional<Batch> batch_;
  };

  /// Starts an epoch; what is left of an earlier one is dropped.
  Iterator begin() {
    start_epoch();
    return Iterator(this);
  }
  Iterator end() { return Iterator(); }

  /// Ends the workers after the batches they are at. Further epochs are an error.
  void join() {
    {
      const std::lock_guard lock(mutex_);
      stop_ = true;
      jobs_.clear();
    }
    wake_workers_.notify_all();
    for (std::thread& worker : workers_) {
      if (worker.joinable()) worker.join();
    }
  }

  [[nodiscard]] const DataLoaderOptions& options() const noexcept { return options_; }

 private:
  struct Job {
    uint64_t epoch;
    uint64_t number;
    BatchRequest request;
    Generator generator;
  };
  struct Result {
    std::optional<Batch> batch;
    std::exception_ptr exception;
  };

  void start_epoch() {
    sampler_.reset();
    epoch_generator_ = current_generator().substream(current_generator().reserve(1).offset);
    const std::lock_guard lock(mutex_);
    EBB_CHECK(!stop_, "DataLoader: it was joined; make a new one");
    ++epoch_;
    jobs_.clear();
    results_.clear();
    asked_ = given_ = 0;
  }

  std::optional<BatchRequest> next_request() {
    auto request = sampler_.next(options_.batch_size());
    if (!request) return std::nullopt;
    size_t count = 0;
    if constexpr (std::is_same_v<BatchRequest, size_t>) {
      count = *request;
    } else {
      count = request->size();
    }
    if (options_.drop_last() && count < options_.batch_size()) return std::nullopt;
    return request;
  }

  static Batch fetch(Dataset& dataset, Job& job) {
    const GeneratorGuard generator(job.generator);
    const memory::InputGuard as_input;
    return dataset.get_batch(std::move(job.request));
  }

  std::optional<Batch> next() {
    if (options_.workers() == 0) {
      auto request = next_request();
      if (!request) return std::nullopt;
      Job job{epoch_, asked_, std::move(*request), epoch_generator_.substream(asked_)};
      ++asked_;
      return fetch(*dataset_, job);
    }
    ask_ahead();
    if (given_ == asked_) return std::nullopt;
    Result result = wait_for_result();
    ++given_;
    ask_ahead();
    if (result.exception) std::rethrow_exception(result.exception);
    return std::move(result.batch);
  }

  void ask_ahead() {
    const size_t most = options_.max_jobs().value_or(2 * options_.workers());
    while (asked_ - given_ < std::max<size_t>(most, 1)) {
      auto request = next_request();
      if (!request) return;
      {
        const std::lock_guard lock(mutex_);
        jobs_.push_back({epoch_, asked_, std::move(*request), epoch_generator_.substream(asked_)});
      }
      ++asked_;
      wake_workers_.notify_one();
    }
  }

  Result wait_for_result() {
    std::unique_lock lock(mutex_);
    const auto there = [this] {
      return !results_.empty() &&
             (!options_.enforce_ordering() || results_.begin()->first == given_);
    };
    if (options_.timeout()) {
      EBB_CHECK(wake_consumer_.wait_for(lock, *options_.timeout(), there),
                "DataLoader: no batch within ", options_.timeout()->count(), " ms");
    } else {
      wake_consumer_.wait(lock, there);
    }
    auto node = results_.extract(results_.begin());
    return std::move(node.mapped());
  }

  void work(Dataset& dataset) {
    while (true) {
      std::unique_lock lock(mutex_);
      wake_workers_.wait(lock, [this] { return stop_ || !jobs_.empty(); });
      if (stop_) return;
      Job job = std::move(jobs_.front());
      jobs_.pop_front();
      lock.unlock();
      Result result;
      try {
        result.batch = fetch(dataset, job);
      } catch (...) {
        result.exception = std::current_exception();
      }
      lock.lock();
      if (job.epoch == epoch_) results_.emplace(job.number, std::move(result));
      lock.unlock();
      wake_consumer_.notify_one();
    }
  }

  Sampler sampler_;
  DataLoaderOptions options_;
  std::optional<Dataset> dataset_;  // without workers
  Generator epoch_generator_;
  uint64_t asked_ = 0;  // batches of this epoch asked for, by the consumer's thread only
  uint64_t given_ = 0;  // batches of this epoch given out

  std::mutex mutex_;
  std::condition_variable wake_workers_;
  std::condition_variable wake_consumer_;
  std::deque<Job> jobs_;
  std::map<uint64_t, Result> results_;
  uint64_t epoch_ = 0;
  bool stop_ = false;
  std::vector<std::thread> workers_;
};

/// A loader of `dataset` with the given sampler.
template <typename Dataset, typename Sampler>
std::unique_ptr<DataLoader<Dataset, Sampler>> make_data_loader(Dataset dataset, Sampler sampler,
                                                               DataLoaderOptions options) {
  return std::make_unique<DataLoader<Dataset, Sampler>>(std::move(dataset), std::move(sampler),
                                                        options);
}

/// A loader with a sampler of the given type, made for the dataset's size.
template <typename Sampler = samplers::RandomSampler, typename Dataset>
std::unique_ptr<DataLoader<Dataset, Sampler>> make_data_loader(
    Dataset dataset, DataLoaderOptions options = DataLoaderOptions()) {
  const std::optional<size_t> size = dataset.size();
  EBB_CHECK(size.has_value(), "make_data_loader: the size of the dataset is not known; pass a ",
            "sampler");
  return make_data_loader(std::move(dataset), Sampler(*size), options);
}

}  // namespace ebb::data
