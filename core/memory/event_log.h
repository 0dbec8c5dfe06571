#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include <ebb/core/memory/history.h>

namespace ebb::memory::detail {

struct ScopeNode;

/// The events of one device, in chunks, so that none is ever moved; as a ring, the oldest are
/// overwritten. Not thread-safe: the allocator's lock guards it.
class EventLog {
 public:
  explicit EventLog(size_t max_entries) : max_entries_(max_entries) {}

  /// Adds time, thread, scope and op to the event. What finds no memory for its record is counted
  /// as dropped, and ends the record.
  void add(Event event) noexcept;
  /// Events and names, but no segments.
  void copy_to(DeviceRecording& out) const;

 private:
  static constexpr size_t kChunk = 4096;  ///< events

  [[nodiscard]] uint32_t op_index(const char* op);
  [[nodiscard]] uint32_t scope_index(const ScopeNode* scope);
  [[nodiscard]] Event& slot(size_t i) const { return chunks_[i / kChunk][i % kChunk]; }

  const size_t max_entries_;
  std::vector<std::unique_ptr<Event[]>> chunks_;
  size_t count_ = 0;  ///< ever
  size_t lost_ = 0;   ///< since there was no memory
  int64_t last_time_ = 0;
  std::vector<std::string> ops_{std::string()};
  std::vector<const ScopeNode*> scopes_{nullptr};
  std::unordered_map<const void*, uint32_t> op_indices_;
  std::unordered_map<const void*, uint32_t> scope_indices_;
};

}  // namespace ebb::memory::detail
