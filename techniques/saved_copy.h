#pragma once

#include <array>
#include <memory>
#include <mutex>

#include <ebb/autograd/tensor.h>

// What the techniques that keep saved tensors in another form share.

namespace ebb::detail {

/// Whether backward keeps `tensor` as it is: parameters, buffers, gradients and optimizer state,
/// which live anyway; foreign memory, of which ebb frees nothing; what has fewer than `min_bytes`
/// bytes, or more than its memory (expanded).
[[nodiscard]] bool stays_as_it_is(const Tensor& tensor, int64_t min_bytes);

/// What stands for a tensor in all nodes that save it at one version.
class SavedCopy {
 public:
  explicit SavedCopy(const Tensor& original);
  virtual ~SavedCopy() = default;
  SavedCopy(const SavedCopy&) = delete;
  SavedCopy& operator=(const SavedCopy&) = delete;

  /// Whether it stands for this tensor, as it is now.
  [[nodiscard]] bool is_of(const Tensor& tensor) const;
  /// Throws an Error if the original was written in place since.
  void check_version() const;

 private:
  intrusive_ptr<VersionCounter> counter_;  // held: no other tensor can have it
  const void* data_;
  DimVector sizes_;
  DimVector strides_;
  uint32_t version_;
  ScalarType dtype_;
};

/// The copies that were made last, as long as nodes keep them: ops in a row often save one tensor.
class SavedCopies {
 public:
  /// The copy for `tensor`: one of the last, or what make() gives.
  template <typename Make>
  std::shared_ptr<const SavedCopy> get(const Tensor& tensor, Make&& make) {
    const std::lock_guard lock(mutex_);
    if (auto known = find(tensor)) return known;
    std::shared_ptr<const SavedCopy> copy = make();
    last_[next_++ % last_.size()] = copy;
    return copy;
  }

 private:
  [[nodiscard]] std::shared_ptr<const SavedCopy> find(const Tensor& tensor) const;

  std::mutex mutex_;
  std::array<std::weak_ptr<const SavedCopy>, 16> last_;
  size_t next_ = 0;
};

}  // namespace ebb::detail
