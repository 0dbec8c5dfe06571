#include <ebb/core/memory/scope.h>

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <memory>
#include <mutex>

#include <ebb/core/memory/registry.h>
#include <ebb/core/thread_state.h>

namespace ebb::memory {

/// A place in the tree. Nodes are made when a scope first opens there and stay: their number is
/// that of the different paths.
struct detail::ScopeNode {
  std::string name;
  const ScopeNode* parent = nullptr;
  ScopeReport total;
  std::vector<std::unique_ptr<ScopeNode>> children;
};

namespace {

using detail::ScopeNode;

constinit std::mutex tree_mutex;
constinit std::atomic<bool> modules_open_scopes{false};

ScopeNode& root() {
  static auto* node = new ScopeNode;  // never destroyed: scopes may close in static destructors
  return *node;
}

ScopeNode* child(ScopeNode& parent, std::string_view name) {
  std::lock_guard lock(tree_mutex);
  for (const auto& node : parent.children) {
    if (node->name == name) return node.get();
  }
  parent.children.push_back(std::make_unique<ScopeNode>());
  parent.children.back()->name = name;
  parent.children.back()->parent = &parent;
  return parent.children.back().get();
}

/// The report of a node; false if neither it nor what is below it was ever closed.
bool report(const ScopeNode& node, ScopeReport& out) {
  out = node.total;
  out.name = node.name;
  for (const auto& below : node.children) {
    ScopeReport inner;
    if (report(*below, inner)) out.children.push_back(std::move(inner));
  }
  return out.calls > 0 || !out.children.empty();
}

void clear(ScopeNode& node) {
  node.total = {};
  for (const auto& below : node.children) clear(*below);
}

constexpr int kNameWidth = 40;

void print(const ScopeReport& scope, int depth, std::string& text) {
  const std::string name = std::string(static_cast<size_t>(2 * depth), ' ') + scope.name;
  char figures[128];
  std::snprintf(figures, sizeof figures, " %8lld %16lld %16lld %10lld\n",
                static_cast<long long>(scope.calls), static_cast<long long>(scope.peak_bytes),
                static_cast<long long>(scope.net_bytes), static_cast<long long>(scope.requests));
  text += name +
          std::string(static_cast<size_t>(std::max(0, kNameWidth - static_cast<int>(name.size()))),
                      ' ') +
          figures;
  for (const ScopeReport& inner : scope.children) print(inner, depth + 1, text);
}

}  // namespace

void detail::lock_scopes_for_fork() { tree_mutex.lock(); }

void detail::unlock_scopes_after_fork() { tree_mutex.unlock(); }

std::string detail::scope_path(const ScopeNode* node) {
  if (node == nullptr || node->parent == nullptr) return {};  // the root has no name
  const std::string above = scope_path(node->parent);
  return above.empty() ? node->name : above + '/' + node->name;
}

Scope::Scope(std::string_view name, Device device)
    : outer_(thread_state().scope),
      node_(child(outer_ == nullptr ? root() : *outer_->node_, name)),
      tracker_(allocator(device)) {
  thread_state().scope = this;
  if (recording_history()) tracker_.allocator().mark(Action::scope_open);
}

Scope::~Scope() {
  if (recording_history()) tracker_.allocator().mark(Action::scope_close);
  thread_state().scope = outer_;
  const detail::PeakTracker::Reading reading = tracker_.read();
  std::lock_guard lock(tree_mutex);
  ScopeReport& total = node_->total;
  total.peak_bytes = std::max(total.peak_bytes, reading.peak_bytes);
  total.net_bytes += reading.net_bytes;
  total.requests += reading.requests;
  ++total.calls;
}

std::string scope_path() {
  const Scope* scope = thread_state().scope;
  return scope == nullptr ? std::string() : detail::scope_path(scope->node());
}

std::vector<ScopeReport> scope_reports() {
  std::lock_guard lock(tree_mutex);
  ScopeReport all;
  report(root(), all);
  return std::move(all.children);
}

std::string scope_summary() {
  char header[160];
  std::snprintf(header, sizeof header, "%-*s %8s %16s %16s %10s\n", kNameWidth, "scope", "calls",
                "peak bytes", "net bytes", "requests");
  std::string text = header;
  for (const ScopeReport& scope : scope_reports()) print(scope, 0, text);
  return text;
}

void reset_scopes() {
  std::lock_guard lock(tree_mutex);
  clear(root());
}

void set_scopes_enabled(bool enabled) noexcept {
  modules_open_scopes.store(enabled, std::memory_order_relaxed);
}

bool scopes_enabled() noexcept { return modules_open_scopes.load(std::memory_order_relaxed); }

}  // namespace ebb::memory
