#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <vector>

#include <ebb/core/random/generator.h>
#include <ebb/core/tensor/tensor_base.h>

namespace ebb {

class Tensor;
using TensorList = ArrayRef<Tensor>;

namespace autograd {
class Node;
using Variable = Tensor;
using variable_list = std::vector<Tensor>;
}  // namespace autograd

namespace cuda {
class Stream;
}

namespace indexing {
struct TensorIndex;
}

/// A tensor with gradients: LibTorch's `torch::Tensor`. A handle, one pointer wide; copies share
/// the tensor. The ops are declared twice, as methods here and as functions in namespace ebb
/// (autograd/ops/functions.h), both made from core/ops/ops.def.
class EBB_API Tensor : public TensorBase {
 public:
  /// An undefined tensor.
  Tensor() = default;
  explicit Tensor(TensorBase base) noexcept : TensorBase(std::move(base)) {}
  explicit Tensor(intrusive_ptr<TensorImpl> impl) noexcept : TensorBase(std::move(impl)) {}

  Tensor(const Tensor&) noexcept = default;
  Tensor(Tensor&&) noexcept = default;
  ~Tensor() = default;
  /// Makes a named handle one to another tensor.
  Tensor& operator=(const Tensor&) & noexcept = default;
  Tensor& operator=(Tensor&&) & noexcept = default;
  /// Writes into what an expression like `x[0]` shows: `x[0] = y`, `x[0] = 2`.
  Tensor& operator=(const Tensor& source) && { return copy_(source); }
  Tensor& operator=(Tensor&& source) && { return copy_(source); }  // NOLINT: not moved from
  Tensor& operator=(const Scalar& value) && { return fill_(value); }

#include <ebb/autograd/tensor_methods.h>

  // --- values ---

  /// The only element as T (rounded towards zero for integers); throws if there are more.
  template <typename T>
  [[nodiscard]] T item() const {
    return item().to<T>();
  }
  [[nodiscard]] Scalar item() const;
  /// Copies the values of src, converted and broadcast, into this tensor.
  Tensor& copy_(const Tensor& src, bool non_blocking = false) const;
  /// The rows that index names (an integer: one row without the dimension, a view).
  Tensor operator[](int64_t index) const;
  Tensor operator[](const Tensor& index) const;

  // --- conversions; each gives this very tensor if nothing changes, unless `copy` ---

  // `non_blocking`: a copy between a device and pinned memory may be under way still on return.

  [[nodiscard]] Tensor to(const TensorOptions& options, bool non_blocking = false,
                          bool copy = false) const;
  [[nodiscard]] Tensor to(ScalarType dtype, bool non_blocking = false, bool copy = false) const;
  [[nodiscard]] Tensor to(Device device, ScalarType dtype, bool non_blocking = false,
                          bool copy = false) const;
  [[nodiscard]] Tensor to(const Tensor& other, bool non_blocking = false, bool copy = false) const;
  [[nodiscard]] Tensor toType(ScalarType dtype) const { return to(dtype); }
  [[nodiscard]] Tensor type_as(const Tensor& other) const { return to(other.scalar_type()); }
  [[nodiscard]] Tensor cpu() const;
  [[nodiscard]] Tensor cuda() const;
  /// A copy in pinned memory of the host (this very tensor if it is pinned), for copies to a CUDA
  /// device with `non_blocking`. Throws an Error for a tensor that is not on the CPU, and if there
  /// is no CUDA device.
  [[nodiscard]] Tensor pin_memory() const;
  /// Work on `stream` uses this CUDA tensor too, which was made on another stream: its memory, once
  /// freed, is not used again before that work is done.
  void record_stream(const cuda::Stream& stream) const;

  // --- random numbers in place (random.cpp); `generator` absent: the device's default one ---

  Tensor& uniform_(double from = 0, double to = 1, const std::optional<Generator>& generator = {}) const;
  Tensor& normal_(double mean = 0, double std = 1, const std::optional<Generator>& generator = {}) const;
  /// 1 with probability p, else 0.
  Tensor& bernoulli_(double p = 0.5, const std::optional<Generator>& generator = {}) const;
  /// Integers in [from, to).
  Tensor& random_(int64_t from, std::optional<int64_t> to, const std::optional<Generator>& generator = {}) const;
  Tensor& random_(int64_t to, const std::optional<Generator>& generator = {}) const;
  Tensor& random_(const std::optional<Generator>& generator = {}) const;

  // --- new tensors with this one's dtype and device unless `options` says otherwise ---

  [[nodiscard]] Tensor new_empty(IntArrayRef size, const TensorOptions& options = {}) const;
  [[nodiscard]] Tensor new_zeros(IntArrayRef size, const TensorOptions& options = {}) const;
  [[nodiscard]] Tensor new_ones(IntArrayRef size, const TensorOptions& options = {}) const;
  [[nodiscard]] Tensor new_full(IntArrayRef size, const Scalar& value, const TensorOptions& options = {}) const;

  /// Sum over leading and broadcast dimensions until the sizes are `size`: the gradient of expand.
  [[nodiscard]] Tensor sum_to_size(IntArrayRef size) const;

  // --- operators ---

  Tensor operator-() const { return neg(); }
  Tensor operator~() const { return bitwise_not(); }
  Tensor& operator+=(const Tensor& other) { return add_(other); }
  Tensor& operator+=(const Scalar& other) { return add_(other); }
  Tensor& operator-=(const Tensor& other) { return sub_(other); }
  Tensor& operator-=(const Scalar& other) { return sub_(other); }
  Tensor& operator*=(const Tensor& other) { return mul_(other); }
  Tensor& operator*=(const Scalar& other) { return mul_(other); }
  Tensor& operator/=(const Tensor& other) { return div_(other); }
  Tensor& operator/=(const Scalar& other) { return div_(other); }
  Tensor& operator&=(const Tensor& other) { return bitwise_and_(other); }
  Tensor& operator|=(const Tensor& other) { return bitwise_or_(other); }
  Tensor& operator^=(const Tensor& other) { return bitwise_xor_(other); }

  // --- autograd (autograd/tensor.cpp) ---

  Tensor& set_requires_grad(bool requires_grad);
  const Tensor& requires_grad_(bool requires_grad = true) const;
  /// Not the result of a recorded op.
  [[nodiscard]] bool is_leaf() const;
  /// The gradient that backward accumulated, undefined at first.
  [[nodiscard]] const Tensor& grad() const;
  /// The gradient, to be replaced or (`= Tensor()`) dropped.
  Tensor& mutable_grad() const;
  /// The node that computed this tensor, or null for a leaf. For a view whose base was written in
  /// place it is made anew.
  [[nodiscard]] intrusive_ptr<autograd::Node> grad_fn() const;
  /// Which output of grad_fn this tensor is.
  [[nodiscard]] int64_t output_nr() const;

  /// Computes the gradients of the leaves that this tensor depends on and adds them to `.grad()`.
  /// `gradient`: of the same sizes; may be absent for a tensor with one element. The graph is spent
  /// unless `retain_graph` (by default: as `create_graph`). `inputs`: accumulate into these only.
  void backward(const Tensor& gradient = {}, std::optional<bool> retain_graph = std::nullopt,
                bool create_graph = false, std::optional<TensorList> inputs = std::nullopt) const;

  /// The same memory and version counter, without history.
  [[nodiscard]] Tensor detach() const;
  /// Forgets the history of this tensor; not for views.
  Tensor& detach_() const;
  /// The same memory, without history and with a version counter of its own.
  [[nodiscard]] Tensor data() const;
  [[nodiscard]] Tensor variable_data() const { return data(); }
  [[nodiscard]] Tensor tensor_data() const { return detach(); }
  /// Takes over memory, dtype and sizes of `fresh`; keeps grad, hooks and identity.
  void set_data(const Tensor& fresh) const;
  /// Keep `.grad()` of this tensor, though it is no leaf, from the next backward on.
  void retain_grad() const;
  [[nodiscard]] bool retains_grad() const;
  [[nodiscard]] bool is_view() const;
  /// The root base of a view.
  [[nodiscard]] const Tensor& _base() const;

  /// Calls `hook` with the gradient of this tensor when backward has it; what a hook that returns
  /// a tensor returns replaces it. Returns a number for remove_hook.
  template <typename Hook>
  unsigned register_hook(Hook&& hook) const {
    if constexpr (std::is_void_v<std::invoke_result_t<Hook&, Tensor>>) {
      return add_hook([hook = std::forward<Hook>(hook)](const Tensor& grad) mutable {
        hook(grad);
        return Tensor();
      });
    } else {
      return add_hook(std::function<Tensor(const Tensor&)>(std::forward<Hook>(hook)));
    }
  }
  void remove_hook(unsigned handle) const;
  /// Calls `hook` with this leaf after backward has accumulated into its `.grad()`.
  unsigned register_post_accumulate_grad_hook(std::function<void(const Tensor&)> hook) const;

  /// "CPUFloatType" and so on.
  [[nodiscard]] std::string toString() const;
  void print() const;

 private:
  unsigned add_hook(std::function<Tensor(const Tensor&)> hook) const;
};

/// The values in LibTorch's format.
EBB_API std::ostream& operator<<(std::ostream& stream, const Tensor& tensor);

/// An observer that does not keep the tensor alive, for hooks that speak of the leaf they hang on.
class WeakTensor {
 public:
  WeakTensor() = default;
  explicit WeakTensor(const Tensor& tensor) : impl_(tensor.impl_ptr()) {}
  /// The tensor, or an undefined one if it is gone.
  [[nodiscard]] Tensor lock() const { return Tensor(impl_.lock()); }
  [[nodiscard]] bool expired() const { return impl_.expired(); }

 private:
  weak_intrusive_ptr<TensorImpl> impl_;
};

}  // namespace ebb

#include <ebb/autograd/tensor_methods_inline.h>
#include <ebb/autograd/ops/operators.h>
