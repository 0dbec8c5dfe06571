#include <ebb/autograd/factories.h>

#include <cmath>
#include <memory>

#include <ebb/core/ops/factory.h>
#include <ebb/core/ops/fill.h>
#include <ebb/core/ops/random.h>
#include <ebb/core/ops/shape.h>
#include <ebb/core/thread_state.h>

namespace ebb {

namespace {

/// The end of every factory: a leaf, which requires grad if the options say so.
Tensor finish(TensorBase base, const TensorOptions& options) {
  Tensor result(std::move(base));
  if (options.requires_grad()) result.requires_grad_();
  return result;
}

TensorBase make_empty_strided(IntArrayRef size, IntArrayRef stride, const TensorOptions& options) {
  if (options.pinned_memory()) {
    EBB_CHECK(options.device().is_cpu(), "only memory of the CPU can be pinned, the options say ",
              options.device());
    return ops::empty_pinned(size, stride, options.dtype());
  }
  return ops::empty_strided(size, stride, options.dtype(), options.device());
}

TensorBase make_empty(IntArrayRef size, const TensorOptions& options) {
  if (options.pinned_memory()) return make_empty_strided(size, contiguous_strides(size), options);
  return ops::empty(size, options.dtype(), options.device());
}

Tensor make_full(const char* name, IntArrayRef size, const Scalar& value,
                 const TensorOptions& options) {
  const OpName op(name);
  TensorBase result = make_empty(size, options);
  ops::fill_fresh(result, value);
  return finish(std::move(result), options);
}

/// `options` completed from `self`.
TensorOptions like(const Tensor& self, const TensorOptions& options) {
  return self.options().merge_in(options);
}

/// A dense tensor of self's sizes, with the order of its strides unless row-major is asked for.
TensorBase make_like(const Tensor& self, const TensorOptions& options) {
  const bool keeps_strides = !self.is_contiguous() && self.is_non_overlapping_and_dense() &&
                             options.memory_format_opt() != MemoryFormat::Contiguous;
  return keeps_strides
             ? make_empty_strided(self.sizes(), self.strides(), options)
             : make_empty(self.sizes(), options);
}

Tensor make_full_like(const char* name, const Tensor& self, const Scalar& value,
                      const TensorOptions& options) {
  const OpName op(name);
  TensorBase result = make_like(self, like(self, options));
  ops::fill_fresh(result, value);
  return finish(std::move(result), options);
}

TensorOptions with_default(const TensorOptions& options, ScalarType dtype) {
  return options.has_dtype() ? options : options.dtype(dtype);
}

}  // namespace

Tensor empty(IntArrayRef size, const TensorOptions& options) {
  const OpName op("empty");
  return finish(make_empty(size, options), options);
}

Tensor empty_strided(IntArrayRef size, IntArrayRef stride, const TensorOptions& options) {
  const OpName op("empty_strided");
  return finish(make_empty_strided(size, stride, options), options);
}

Tensor zeros(IntArrayRef size, const TensorOptions& options) {
  return make_full("zeros", size, 0, options);
}
Tensor ones(IntArrayRef size, const TensorOptions& options) {
  return make_full("ones", size, 1, options);
}

Tensor full(IntArrayRef size, const Scalar& fill_value, const TensorOptions& options) {
  const ScalarType dtype = fill_value.is_floating_point() ? get_default_dtype() : fill_value.type();
  return make_full("full", size, fill_value, with_default(options, dtype));
}

Tensor scalar_tensor(const Scalar& value, const TensorOptions& options) {
  return make_full("scalar_tensor", {}, value, options);
}

Tensor empty_like(const Tensor& self, const TensorOptions& options) {
  const OpName op("empty_like");
  return finish(make_like(self, like(self, options)), options);
}
Tensor zeros_like(const Tensor& self, const TensorOptions& options) {
  return make_full_like("zeros_like", self, 0, options);
}
Tensor ones_like(const Tensor& self, const TensorOptions& options) {
  return make_full_like("ones_like", self, 1, options);
}
Tensor full_like(const Tensor& self, const Scalar& fill_value, const TensorOptions& options) {
  return make_full_like("full_like", self, fill_value, options);
}

// --- new_* ---

Tensor Tensor::new_empty(IntArrayRef size, const TensorOptions& options) const {
  return empty(size, like(*this, options));
}
Tensor Tensor::new_zeros(IntArrayRef size, const TensorOptions& options) const {
  return zeros(size, like(*this, options));
}
Tensor Tensor::new_ones(IntArrayRef size, const TensorOptions& options) const {
  return ones(size, like(*this, options));
}
Tensor Tensor::new_full(IntArrayRef size, const Scalar& value, const TensorOptions& options) const {
  return full(size, value, like(*this, options));
}

// --- ranges ---

Tensor arange(const Scalar& end, const TensorOptions& options) {
  return arange(0, end, 1, options);
}
Tensor arange(const Scalar& start, const Scalar& end, const TensorOptions& options) {
  return arange(start, end, 1, options);
}
Tensor arange(const Scalar& start, const Scalar& end, const Scalar& step,
              const TensorOptions& options) {
  const OpName op("arange");
  const bool integers = start.is_integral(true) && end.is_integral(true) && step.is_integral(true);
  const TensorOptions full = with_default(options, integers ? kLong : get_default_dtype());
  return finish(ops::arange(start, end, step, full.dtype(), full.device()), options);
}

Tensor linspace(const Scalar& start, const Scalar& end, int64_t steps,
                const TensorOptions& options) {
  const OpName op("linspace");
  return finish(ops::linspace(start, end, steps, options.dtype(), options.device()), options);
}

Tensor eye(int64_t n, const TensorOptions& options) { return eye(n, n, options); }
Tensor eye(int64_t n, int64_t m, const TensorOptions& options) {
  const OpName op("eye");
  TensorBase result = make_empty({n, m}, options);
  ops::fill_fresh(result, 0);
  ops::fill_fresh(ops::diagonal(result, 0, 0, 1), 1);
  return finish(std::move(result), options);
}

// --- random numbers ---

namespace {

using OptionalGenerator = std::optional<Generator>;

/// What the numbers of a factory were written to: a fresh tensor counts no writes.
Tensor finish_random(const TensorBase& result, const TensorOptions& options) {
  result.impl()->reset_version();
  return finish(result, options);
}

}  // namespace

Tensor rand(IntArrayRef size, const TensorOptions& options) { return rand(size, {}, options); }
Tensor rand(IntArrayRef size, const OptionalGenerator& generator, const TensorOptions& options) {
  const OpName op("rand");
  TensorBase result = make_empty(size, options);
  ops::uniform_(result, 0, 1, generator);
  return finish_random(result, options);
}

Tensor randn(IntArrayRef size, const TensorOptions& options) { return randn(size, {}, options); }
Tensor randn(IntArrayRef size, const OptionalGenerator& generator, const TensorOptions& options) {
  const OpName op("randn");
  TensorBase result = make_empty(size, options);
  ops::normal_(result, 0, 1, generator);
  return finish_random(result, options);
}

Tensor randint(int64_t high, IntArrayRef size, const TensorOptions& options) {
  return randint(0, high, size, {}, options);
}
Tensor randint(int64_t low, int64_t high, IntArrayRef size, const TensorOptions& options) {
  return randint(low, high, size, {}, options);
}
Tensor randint(int64_t high, IntArrayRef size, const OptionalGenerator& generator,
               const TensorOptions& options) {
  return randint(0, high, size, generator, options);
}
Tensor randint(int64_t low, int64_t high, IntArrayRef size, const OptionalGenerator& generator,
               const TensorOptions& options) {
  const OpName op("randint");
  EBB_CHECK(low < high, "random integers need low < high, got low ", low, " and high ", high);
  TensorBase result = make_empty(size, with_default(options, kLong));
  ops::random_(result, low, high, generator);
  return finish_random(result, options);
}

Tensor rand_like(const Tensor& self, const TensorOptions& options) {
  const OpName op("rand_like");
  TensorBase result = make_like(self, like(self, options));
  ops::uniform_(result, 0, 1);
  return finish_random(result, options);
}
Tensor randn_like(const Tensor& self, const TensorOptions& options) {
  const OpName op("randn_like");
  TensorBase result = make_like(self, like(self, options));
  ops::normal_(result, 0, 1);
  return finish_random(result, options);
}
Tensor randint_like(const Tensor& self, int64_t high, const TensorOptions& options) {
  return randint_like(self, 0, high, options);
}
Tensor randint_like(const Tensor& self, int64_t low, int64_t high, const TensorOptions& options) {
  const OpName op("randint_like");
  EBB_CHECK(low < high, "random integers need low < high, got low ", low, " and high ", high);
  TensorBase result = make_like(self, like(self, options));
  ops::random_(result, low, high);
  return finish_random(result, options);
}

Tensor randperm(int64_t n, const TensorOptions& options) { return randperm(n, {}, options); }
Tensor randperm(int64_t n, const OptionalGenerator& generator, const TensorOptions& options) {
  const OpName op("randperm");
  const TensorOptions full = with_default(options, kLong);
  return finish(ops::randperm(n, full.dtype(), full.device(), generator), options);
}

// --- foreign memory ---

namespace {

using Deleter = std::function<void(void*)>;

struct ForeignMemory {
  void* data;
  Deleter deleter;
  static void free(void* context) {
    const std::unique_ptr<ForeignMemory> memory(static_cast<ForeignMemory*>(context));
    if (memory->deleter) memory->deleter(memory->data);
  }
};

Storage adopt(void* data, int64_t elements, const Deleter& deleter, const TensorOptions& options) {
  const size_t bytes = static_cast<size_t>(elements) * element_size(options.dtype());
  auto memory = std::make_unique<ForeignMemory>(ForeignMemory{data, deleter});
  memory::Block* block =
      memory::adopt(data, bytes, *options.device_opt(), &ForeignMemory::free, memory.get());
  memory.release();
  return Storage(block);
}

}  // namespace

Tensor from_blob(void* data, IntArrayRef sizes, const TensorOptions& options) {
  return from_blob(data, sizes, contiguous_strides(sizes), Deleter(), options);
}
Tensor from_blob(void* data, IntArrayRef sizes, IntArrayRef strides, const TensorOptions& options) {
  return from_blob(data, sizes, strides, Deleter(), options);
}
Tensor from_blob(void* data, IntArrayRef sizes, const Deleter& deleter,
                 const TensorOptions& options) {
  return from_blob(data, sizes, contiguous_strides(sizes), deleter, options);
}
Tensor from_blob(void* data, IntArrayRef sizes, IntArrayRef strides, const Deleter& deleter,
                 const TensorOptions& given) {
  const OpName op("from_blob");
  const TensorOptions options = given.device(resolve(given.device_opt().value_or(kCPU)));
  const int64_t elements =
      ops::checked_storage_numel(sizes, strides, element_size(options.dtype()));
  EBB_CHECK(data != nullptr || elements == 0, "a null pointer cannot hold a tensor of sizes ",
            sizes);
  return finish(
      TensorBase(make_intrusive<TensorImpl>(adopt(data, elements, deleter, options),
                                            options.dtype(), options.device(), sizes, strides, 0)),
      options);
}

}  // namespace ebb
