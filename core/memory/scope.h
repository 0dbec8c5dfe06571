#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <ebb/core/device_setup.h>
#include <ebb/core/export.h>
#include <ebb/core/memory/peak_tracker.h>

namespace ebb::memory {

namespace detail {
struct ScopeNode;
/// Hold the tree of scopes over fork, so that the child finds it in order.
void lock_scopes_for_fork();
void unlock_scopes_after_fork();
/// "outer/inner"; empty for null.
[[nodiscard]] EBB_API std::string scope_path(const ScopeNode* node);
}  // namespace detail

/// Names a region of a program: `memory::Scope scope("forward");`. The scope keeps peak and net
/// bytes of its own, above what was allocated when it opened: other scopes and
/// reset_peak_memory_stats do not disturb it. It counts all threads of one device; memory that is
/// freed in another scope than it was allocated in counts where it is freed. Scopes nest as they
/// are opened on a thread; when one closes, its figures join the report. Closes on the thread that
/// opened it, innermost first.
class EBB_API Scope {
 public:
  explicit Scope(std::string_view name, Device device = get_default_device());
  ~Scope();
  Scope(const Scope&) = delete;
  Scope& operator=(const Scope&) = delete;

  /// The most bytes above the start so far.
  [[nodiscard]] int64_t peak_bytes() { return tracker_.read().peak_bytes; }
  /// Bytes allocated less bytes freed so far.
  [[nodiscard]] int64_t net_bytes() { return tracker_.read().net_bytes; }
  /// How many requests of more than zero bytes so far.
  [[nodiscard]] int64_t requests() { return tracker_.read().requests; }
  /// The place in the tree.
  [[nodiscard]] const detail::ScopeNode* node() const noexcept { return node_; }

 private:
  Scope* outer_;
  detail::ScopeNode* node_;
  detail::PeakTracker tracker_;
};

/// The scopes that are open on this thread, from the outermost: "step/forward". Empty: none.
[[nodiscard]] EBB_API std::string scope_path();

/// What the closed scopes of one name and one place in the tree did.
struct ScopeReport {
  std::string name;
  int64_t calls = 0;
  int64_t peak_bytes = 0;             ///< the highest of a call
  int64_t net_bytes = 0;              ///< of all calls together
  int64_t requests = 0;               ///< of all calls together
  std::vector<ScopeReport> children;  ///< in the order in which they were first opened
};

/// The tree of scopes since the last reset_scopes: the outermost ones of all threads.
[[nodiscard]] EBB_API std::vector<ScopeReport> scope_reports();
/// The tree as a table for people, sizes in bytes.
[[nodiscard]] EBB_API std::string scope_summary();
/// Forgets what closed scopes did. Open ones report when they close.
EBB_API void reset_scopes();

/// Whether modules that are called through their holders open a scope with their own name. Off at
/// first. Scopes that a program opens itself do not depend on it.
EBB_API void set_scopes_enabled(bool enabled) noexcept;
[[nodiscard]] EBB_API bool scopes_enabled() noexcept;

}  // namespace ebb::memory
