#pragma once

#include <any>
#include <functional>
#include <memory>
#include <vector>

#include <ebb/autograd/tensor.h>

namespace ebb::autograd {

/// What a pack hook makes of a tensor: tensors, which pass on to the next outer hooks or are kept,
/// and anything else.
struct PackedTensor {
  std::vector<Tensor> tensors;
  std::any state;
};

/// What backward keeps may be kept in another form: moved, compressed, or computed anew. Until the
/// end of the scope, every tensor that an op on this thread saves goes through `pack`, and in
/// backward through `unpack`, which must give a tensor of the same sizes and dtype. `pack` must not
/// write its argument. Hooks nest: the innermost sees the tensor first, and what it packed it to
/// passes to the next outer ones. Both functions live as long as something is packed.
class EBB_API SavedTensorHooks {
 public:
  using Pack = std::function<PackedTensor(const Tensor&)>;
  using Unpack = std::function<Tensor(const PackedTensor&)>;

  SavedTensorHooks(Pack pack, Unpack unpack);
  ~SavedTensorHooks();
  SavedTensorHooks(const SavedTensorHooks&) = delete;
  SavedTensorHooks& operator=(const SavedTensorHooks&) = delete;

  struct Functions {
    Pack pack;
    Unpack unpack;
  };
  [[nodiscard]] const std::shared_ptr<const Functions>& functions() const { return functions_; }
  [[nodiscard]] SavedTensorHooks* outer() const { return outer_; }

 private:
  std::shared_ptr<const Functions> functions_;
  SavedTensorHooks* outer_;
};

/// Suspends the hooks of this thread until the end of the scope.
class EBB_API NoSavedTensorHooks {
 public:
  NoSavedTensorHooks();
  ~NoSavedTensorHooks();
  NoSavedTensorHooks(const NoSavedTensorHooks&) = delete;
  NoSavedTensorHooks& operator=(const NoSavedTensorHooks&) = delete;

 private:
  void* outer_;
};

}  // namespace ebb::autograd
