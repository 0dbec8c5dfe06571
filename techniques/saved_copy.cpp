#include <ebb/techniques/saved_copy.h>

#include <ebb/core/error.h>
#include <ebb/core/memory/block.h>
#include <ebb/core/memory/block_record.h>

namespace ebb::detail {

bool stays_as_it_is(const Tensor& tensor, int64_t min_bytes) {
  using memory::detail::Record;
  const auto bytes = static_cast<int64_t>(tensor.nbytes());
  const memory::Block* block = tensor.storage().block();
  return bytes == 0 || bytes < min_bytes ||
         bytes > static_cast<int64_t>(tensor.storage().nbytes()) ||
         static_cast<const Record*>(block)->kind != Record::Kind::device ||
         memory::category(block) <= memory::Category::gradient;
}

SavedCopy::SavedCopy(const Tensor& original)
    : counter_(original.impl()->share_version()),
      data_(original.data_ptr()),
      sizes_(original.sizes()),
      strides_(original.strides()),
      version_(counter_->current()),
      dtype_(original.scalar_type()) {}

bool SavedCopy::is_of(const Tensor& tensor) const {
  return tensor.impl()->share_version().get() == counter_.get() && tensor._version() == version_ &&
         tensor.data_ptr() == data_ && tensor.scalar_type() == dtype_ &&
         tensor.sizes() == IntArrayRef(sizes_) && tensor.strides() == IntArrayRef(strides_);
}

void SavedCopy::check_version() const {
  EBB_CHECK(counter_->current() == version_,
            "one of the variables needed for gradient computation has been modified by an inplace "
            "operation: ",
            dtype_, IntArrayRef(sizes_), ", which is on its way to the host, is at version ",
            counter_->current(), "; expected version ", version_,
            ". Write to a clone, or use the op that is not in place");
}

std::shared_ptr<const SavedCopy> SavedCopies::find(const Tensor& tensor) const {
  for (const auto& last : last_) {
    if (auto copy = last.lock(); copy != nullptr && copy->is_of(tensor)) return copy;
  }
  return nullptr;
}

}  // namespace ebb::detail
