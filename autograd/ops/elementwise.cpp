#include <ebb/autograd/ops/elementwise.h>

#include <algorithm>
#include <array>

#include <ebb/autograd/ops/autocast_call.h>

namespace ebb::autograd {

namespace {

/// The numbers of an op, as its node keeps them.
class KeptNumbers {
 public:
  explicit KeptNumbers(Numbers numbers) { std::copy(numbers.begin(), numbers.end(), numbers_.begin()); }
  [[nodiscard]] const Scalar* data() const { return numbers_.data(); }

 private:
  std::array<Scalar, kMostNumbers> numbers_;
};
/// Those of an op without any.
struct NoNumbers {
  explicit NoNumbers(Numbers) {}
  [[nodiscard]] static const Scalar* data() { return nullptr; }
};

/// What `use` does with the formula of the op.
template <typename Kept, typename Use>
void with_formula(const UnaryOp& op, Recorder& r, const Tensor& self, Numbers numbers, Use&& use) {
  const Kept kept_numbers(numbers);
  switch (op.keeps) {
    case Keeps::nothing:
      return use([&op, kept_numbers](Backward& b) {
        b.set(0, op.gradient(b.grad(), Tensor(), kept_numbers.data()));
      });
    case Keeps::self:
      return use([&op, kept_numbers, self = r.save(self)](Backward& b) {
        b.set(0, op.gradient(b.grad(), b.get(self), kept_numbers.data()));
      });
    case Keeps::result:
      r.keep_result();
      return use([&op, kept_numbers](Backward& b) {
        b.set(0, op.gradient(b.grad(), b.result(), kept_numbers.data()));
      });
  }
}

template <typename Kept>
Tensor unary_with(const UnaryOp& op, const Tensor& self, Numbers numbers) {
  Tensor result(ops::elementwise(op.functor, {self}, numbers.begin()));
  if (needs_recording({self})) {
    Recorder recorder(op.node_name, {self});
    with_formula<Kept>(op, recorder, self, numbers,
                       [&](auto&& formula) { recorder.record(result, std::move(formula)); });
  }
  return result;
}

template <typename Kept>
void record_written(const UnaryOp& op, const Tensor& self, Numbers numbers) {
  Recorder recorder(op.node_name, {self}, &self);
  with_formula<Kept>(op, recorder, self, numbers, [&](auto&& formula) {
    ops::elementwise_(op.functor, self, {self}, numbers.begin());
    recorder.record_in_place(self, std::move(formula));
  });
}

}  // namespace

Tensor unary(const UnaryOp& op, const Tensor& self, Numbers numbers) {
  const AutocastInput input(op.autocast, self);
  const OpName name(op.name);
  return numbers.size() == 0 ? unary_with<NoNumbers>(op, input, numbers)
                             : unary_with<KeptNumbers>(op, input, numbers);
}

const Tensor& unary_(const UnaryOp& op, const Tensor& self, Numbers numbers) {
  const OpName name(op.in_place_name);
  check_inplace(self);
  if (!needs_recording({self})) {
    ops::elementwise_(op.functor, self, {self}, numbers.begin());
  } else if (numbers.size() == 0) {
    record_written<NoNumbers>(op, self, numbers);
  } else {
    record_written<KeptNumbers>(op, self, numbers);
  }
  return self;
}

Tensor activation_backward(const ActivationBackward& op, const Tensor& grad_output,
                           const Tensor& kept, Numbers numbers) {
  return differentiable(
      op.name, op.node_name, {grad_output, kept},
      [&] { return ops::elementwise(op.functor, {grad_output, kept}, numbers.begin()); },
      [&](Recorder& r) {
        const bool curved = r.needs(1) && op.curvature != nullptr;
        return [&op, numbers = KeptNumbers(numbers), grad_output = r.save_if(curved, grad_output),
                kept = r.save(kept)](Backward& b) {
          const Tensor at = b.get(kept);
          if (b.needs(0)) {
            const Scalar* n = numbers.data();
            b.set(0, activation_backward(op, b.grad(), at, {n[0], n[1], n[2], n[3]}));
          }
          if (!b.needs(1)) return;
          b.set(1, op.curvature == nullptr
                       ? zero(b.grad())
                       : b.grad() * b.get(grad_output) * op.curvature(at, numbers.data()));
        };
      });
}

}  // namespace ebb::autograd
