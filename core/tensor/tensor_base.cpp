#include <ebb/core/tensor/tensor_base.h>

#include <ebb/core/memory/pinned.h>

namespace ebb {

void TensorBase::raise_undefined() {
  detail::raise<Error>(
      "expected a tensor, got an undefined one (a default-constructed or reset ebb::Tensor)");
}

void TensorBase::check_type(ScalarType type) const {
  EBB_CHECK(type == scalar_type(), "expected a tensor of dtype ", to_string(type), ", got ",
            to_string(scalar_type()), "; convert it with .to(dtype) first");
}

void TensorBase::check_accessor(ScalarType type, size_t ndim) const {
  check_type(type);
  EBB_CHECK(static_cast<int64_t>(ndim) == dim(), "accessor: asked for ", ndim,
            " dimensions, the tensor has sizes ", sizes());
  EBB_CHECK(is_cpu(), "accessor: the tensor is on ", device(), "; move it with .cpu() first");
}

bool TensorBase::is_pinned() const { return memory::is_pinned(storage().block()); }

int64_t TensorBase::_version() const {
  EBB_CHECK(!checked().is_inference(), "inference tensors do not track versions");
  return checked().version();
}

}  // namespace ebb
