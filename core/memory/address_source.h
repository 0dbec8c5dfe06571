#pragma once

#include <cstddef>
#include <cstdint>
#include <map>

#include <ebb/core/memory/source.h>

namespace ebb::memory {

/// Addresses without memory behind them, each piece above the one before: for allocators whose
/// blocks nobody reads or writes, which may then ask for terabytes.
class AddressSource final : public MemorySource {
 public:
  [[nodiscard]] void* allocate(size_t bytes) override {
    void* data = reinterpret_cast<void*>(next_);
    next_ += (bytes + kStep - 1) / kStep * kStep + kStep;
    pieces_[data] = bytes;
    return data;
  }
  void free(void* data, size_t bytes) noexcept override {
    const auto piece = pieces_.find(data);
    wrong_ = wrong_ || piece == pieces_.end() || piece->second != bytes;
    if (piece != pieces_.end()) pieces_.erase(piece);
  }
  [[nodiscard]] size_t capacity() const noexcept override { return kCapacity; }
  [[nodiscard]] size_t available() const noexcept override { return kCapacity; }

  /// How many pieces are out.
  [[nodiscard]] size_t pieces() const noexcept { return pieces_.size(); }
  /// Whether something came back that was never given, or with another size.
  [[nodiscard]] bool wrong() const noexcept { return wrong_; }

  static constexpr size_t kCapacity = size_t{1} << 44;  ///< bytes; 16 TiB

 private:
  static constexpr size_t kStep = size_t{2} << 20;

  uintptr_t next_ = uintptr_t{1} << 40;
  std::map<void*, size_t> pieces_;
  bool wrong_ = false;
};

}  // namespace ebb::memory
