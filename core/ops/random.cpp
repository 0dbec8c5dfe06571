#include <ebb/core/ops/random.h>

#include <limits>

#include <ebb/core/cpu/convert.h>
#include <ebb/core/ops/copy.h>
#include <ebb/core/ops/elementwise.h>
#include <ebb/core/ops/factory.h>
#include <ebb/core/ops/kernels.h>
#include <ebb/core/ops/random_kernels.h>

namespace ebb::ops {

namespace {

const RandomKernels& table_of(const TensorBase& self) {
  return *kernels(self.device()).random;
}

random::Reservation reserve(const TensorBase& self, const OptionalGenerator& generator, bool wide) {
  if (generator && generator->defined()) {
    EBB_CHECK(generator->device().type() == self.device().type(), "expected a generator for ",
              self.device(), ", got one for ", generator->device());
  }
  const Generator& source =
      generator && generator->defined() ? *generator : current_generator(self.device());
  return source.reserve(wide ? random::counters_for_64bit(self.numel())
                             : random::counters_for_32bit(self.numel()));
}

/// Calls f(iterator) with the tensors as operands in row-major order.
template <typename F>
void iterate(std::initializer_list<const TensorBase*> tensors, F&& f) {
  TensorIterator it((*tensors.begin())->sizes());
  for (const TensorBase* tensor : tensors) it.add(*tensor);
  it.build(TensorIterator::Order::row_major);
  it.set_compute_type((*tensors.begin())->scalar_type());
  f(it);
}

void check_floating(const TensorBase& self) {
  EBB_CHECK(self.is_floating_point(), "expected a floating-point tensor, got ", self.scalar_type(),
            " of sizes ", self.sizes());
}

void check_probability(double p) {
  EBB_CHECK(p >= 0 && p <= 1, "expects p to be in [0, 1], but got p=", p);
}

/// The greatest integer up to which the dtype holds all.
int64_t greatest_integer(ScalarType dtype) {
  return dispatch(dtype, [](auto zero) -> int64_t {
    using T = decltype(zero);
    if constexpr (std::is_integral_v<T>) {
      return static_cast<int64_t>(std::numeric_limits<T>::max());
    } else {
      return int64_t{1} << std::numeric_limits<T>::digits;
    }
  });
}

int64_t least_integer(ScalarType dtype) {
  return dispatch(dtype, [](auto zero) -> int64_t {
    using T = decltype(zero);
    if constexpr (std::is_integral_v<T>) {
      return static_cast<int64_t>(std::numeric_limits<T>::min());
    } else {
      return -(int64_t{1} << std::numeric_limits<T>::digits);
    }
  });
}

void write_integers(const TensorBase& self, int64_t low, int64_t high,
                    const OptionalGenerator& generator) {
  check_writable(self);
  const auto draw = reserve(self, generator, true);
  iterate({&self}, [&](const TensorIterator& it) { table_of(self).integer(it, draw, low, high); });
  self.impl()->bump_version();
}

/// Each probability must be in [0, 1].
void check_probabilities(const TensorBase& probabilities) {
  const TensorBase p =
      to(probabilities, probabilities.scalar_type(), kCPU);  // contiguous or dense, on the host
  dispatch_floating(p.scalar_type(), [&](auto) {
    const auto* bytes = static_cast<const char*>(p.data_ptr());
    dispatch(p.scalar_type(), [&](auto zero) {
      using T = decltype(zero);
      const auto* values = reinterpret_cast<const cpu::Stored<T>*>(bytes);
      for (int64_t i = 0; i < p.numel(); ++i) {
        check_probability(cpu::convert<double, T>(values[i]));
      }
    });
  });
}

}  // namespace

void uniform_(const TensorBase& self, double low, double high, const OptionalGenerator& generator) {
  check_floating(self);
  EBB_CHECK(low <= high, "expects to return a [from, to) range, but found from=", low,
            " > to=", high);
  check_writable(self);
  const auto draw = reserve(self, generator, self.scalar_type() == kDouble);
  iterate({&self}, [&](const TensorIterator& it) { table_of(self).uniform(it, draw, low, high); });
  self.impl()->bump_version();
}

void normal_(const TensorBase& self, double mean, double std, const OptionalGenerator& generator) {
  check_floating(self);
  EBB_CHECK(std >= 0, "expects std >= 0.0, but found std ", std);
  check_writable(self);
  const auto draw = reserve(self, generator, self.scalar_type() == kDouble);
  iterate({&self}, [&](const TensorIterator& it) { table_of(self).normal(it, draw, mean, std); });
  self.impl()->bump_version();
}

void random_(const TensorBase& self, int64_t low, int64_t high,
             const OptionalGenerator& generator) {
  EBB_CHECK(low < high, "expects 'from' to be less than 'to', but got from=", low, " >= to=", high);
  EBB_CHECK(
      low >= least_integer(self.scalar_type()) && high - 1 <= greatest_integer(self.scalar_type()),
      "[", low, ", ", high, ") is out of bounds for ", self.scalar_type());
  write_integers(self, low, high, generator);
}

void random_from_(const TensorBase& self, int64_t low, const OptionalGenerator& generator) {
  const int64_t greatest = greatest_integer(self.scalar_type());
  EBB_CHECK(low >= least_integer(self.scalar_type()) && low <= greatest, "from=", low,
            " is out of bounds for ", self.scalar_type());
  // The range ends before its bound, so the greatest int64 itself is left out.
  write_integers(self, low, greatest == INT64_MAX ? greatest : greatest + 1, generator);
}

void bernoulli_(const TensorBase& self, double p, const OptionalGenerator& generator) {
  check_probability(p);
  check_writable(self);
  const auto draw = reserve(self, generator, false);
  iterate({&self}, [&](const TensorIterator& it) { table_of(self).bernoulli(it, draw, p); });
  self.impl()->bump_version();
}

TensorBase bernoulli(const TensorBase& probabilities, const OptionalGenerator& generator) {
  check_floating(probabilities);
  check_probabilities(probabilities);
  TensorBase result =
      empty(probabilities.sizes(), probabilities.scalar_type(), probabilities.device());
  const auto draw = reserve(result, generator, false);
  iterate({&result, &probabilities},
          [&](const TensorIterator& it) { table_of(result).bernoulli_each(it, draw); });
  return result;
}

random::Reservation reserve_dropout(const TensorBase& input) { return reserve(input, {}, false); }

namespace {

void run_dropout(const TensorBase& out, const TensorBase& in, double p, random::Reservation draw) {
  check_floating(in);
  EBB_CHECK(p >= 0 && p <= 1, "dropout probability has to be between 0 and 1, but got ", p);
  const double scale = p == 1 ? 0 : 1 / (1 - p);
  iterate({&out, &in},
          [&](const TensorIterator& it) { table_of(out).dropout(it, draw, 1 - p, scale); });
}

}  // namespace

TensorBase dropout(const TensorBase& input, double p, random::Reservation draw) {
  TensorBase result = input.is_contiguous()
                          ? empty(input.sizes(), input.scalar_type(), input.device())
                          : empty_strided(input.sizes(), dense_strides(input.sizes(), {&input}),
                                          input.scalar_type(), input.device());
  run_dropout(result, input, p, draw);
  return result;
}

void dropout_(const TensorBase& self, double p, random::Reservation draw) {
  check_writable(self);
  run_dropout(self, self, p, draw);
  self.impl()->bump_version();
}

}  // namespace ebb::ops
