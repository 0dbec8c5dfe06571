#include <ebb/techniques/save_as.h>

#include <vector>

#include <ebb/autograd/saved_tensor.h>
#include <ebb/core/error.h>
#include <ebb/core/ops/copy.h>
#include <ebb/core/ops/quantize.h>
#include <ebb/techniques/saved_copy.h>

namespace ebb {

using autograd::PackedTensor;
using autograd::SavedTensor;
using autograd::SavedTensorHooks;

namespace {

constexpr auto kCode = ops::Code::dynamic_signed;

/// A tensor in fewer bits. Its parts are saved, so that they count as such and outer hooks see
/// them.
class NarrowCopy final : public detail::SavedCopy {
 public:
  NarrowCopy(const Tensor& tensor, ScalarType dtype)
      : SavedCopy(tensor), dtype_(tensor.scalar_type()) {
    if (dtype == kByte) {
      ops::Quantized quantized = ops::quantize_blockwise(tensor, kCode);
      data_ = SavedTensor(Tensor(std::move(quantized.codes)));
      absmax_ = SavedTensor(Tensor(std::move(quantized.absmax)));
    } else {
      data_ = SavedTensor(Tensor(ops::to(tensor, dtype, tensor.device())));
    }
  }

  [[nodiscard]] Tensor widened() const {
    const Tensor data = data_.unpack({}, /*with_history=*/false);
    if (!absmax_.defined()) return Tensor(ops::to(data, dtype_, data.device()));
    return Tensor(ops::dequantize_blockwise(data, absmax_.unpack({}, false), kCode, 256, dtype_));
  }

 private:
  ScalarType dtype_;
  SavedTensor data_;
  SavedTensor absmax_;  // undefined unless quantised
};

SavedTensorHooks::Pack pack(ScalarType dtype, int64_t min_bytes) {
  EBB_CHECK(dtype == kHalf || dtype == kBFloat16 || dtype == kByte,
            "SaveAs saves as Half, BFloat16 or (8 bits in blocks) Byte, not as ", dtype);
  return [=, copies = std::make_shared<detail::SavedCopies>()](const Tensor& tensor) {
    if (!tensor.is_floating_point() ||
        tensor.element_size() <= static_cast<int64_t>(element_size(dtype)) ||
        detail::stays_as_it_is(tensor, min_bytes)) {
      return PackedTensor{{tensor}, {}};
    }
    return PackedTensor{
        {}, copies->get(tensor, [&] { return std::make_shared<const NarrowCopy>(tensor, dtype); })};
  };
}

Tensor unpack(const PackedTensor& packed) {
  if (!packed.tensors.empty()) return packed.tensors[0];
  const auto& copy = std::any_cast<const std::shared_ptr<const detail::SavedCopy>&>(packed.state);
  return static_cast<const NarrowCopy&>(*copy).widened();
}

}  // namespace

SaveAs::SaveAs(ScalarType dtype, SaveAsOptions options)
    : hooks_(pack(dtype, options.min_bytes), unpack) {}

}  // namespace ebb
