#include <ebb/core/memory/leak_check.h>

#include <algorithm>
#include <cstdio>
#include <map>
#include <mutex>
#include <new>
#include <sstream>
#include <unordered_map>

#include <ebb/core/error.h>
#include <ebb/core/memory/observer.h>
#include <ebb/core/memory/registry.h>
#include <ebb/core/memory/scope.h>
#include <ebb/core/thread_state.h>

namespace ebb::memory {

using detail::BlockRecord;

/// What was going on when each block was last handed out. A block whose note found no memory is
/// reported without one.
class LeakCheck::Notes final : detail::AllocationObserver {
 public:
  Notes() {
    attach();
    // Later than attach(), so that every block that counts has a note.
    for (const CachingAllocator* a : detail::allocators_in_use()) start_[a] = a->requests();
  }
  ~Notes() { detach(); }

  [[nodiscard]] std::vector<Leak> leaks() const {
    std::vector<Leak> all;
    for (const CachingAllocator* a : detail::allocators_in_use()) {
      const auto start = start_.find(a);
      const auto blocks = a->in_use(start == start_.end() ? 0 : start->second);
      all.reserve(all.size() + blocks.size());
      for (const BlockInUse& block : blocks) all.push_back(leak(*a, block));
    }
    return all;
  }

 private:
  struct Note {
    int64_t number = 0;  ///< of the request
    const detail::ScopeNode* scope = nullptr;
    std::string op;
    bool is_tensor = false;
    std::vector<int64_t> sizes;
    ScalarType dtype = ScalarType::Undefined;
  };

  void allocated(const BlockRecord& block) noexcept override {
    try {
      const ThreadState& state = thread_state();
      Note& note = notes_[&block];
      note = {};
      note.number = block.number;
      if (state.scope != nullptr) note.scope = state.scope->node();
      if (state.op_name != nullptr) note.op = state.op_name;
    } catch (const std::bad_alloc&) {
      return;
    }
  }
  void freed(const BlockRecord& /*block*/) noexcept override {}
  void tensor_made(const Block* block, const int64_t* sizes, size_t dim,
                   ScalarType dtype) noexcept override {
    const auto at = notes_.find(block);
    if (at == notes_.end() || at->second.is_tensor) return;
    try {
      at->second.sizes.assign(sizes, sizes + dim);
      at->second.dtype = dtype;
      at->second.is_tensor = true;
    } catch (const std::bad_alloc&) {
      return;
    }
  }

  [[nodiscard]] Leak leak(const CachingAllocator& allocator, const BlockInUse& block) const {
    Leak out;
    out.device = allocator.device();
    out.bytes = block.bytes;
    out.category = block.category;
    detail::lock_observers();
    const auto at = notes_.find(block.block);
    const Note note = at != notes_.end() && at->second.number == block.number ? at->second : Note{};
    detail::unlock_observers();
    out.is_tensor = note.is_tensor;
    out.sizes = note.sizes;
    out.dtype = note.dtype;
    out.op = note.op;
    out.scope = detail::scope_path(note.scope);
    return out;
  }

  std::unordered_map<const CachingAllocator*, int64_t> start_;
  std::unordered_map<const Block*, Note> notes_;
};

LeakCheck::LeakCheck() : notes_(std::make_unique<Notes>()) {}

LeakCheck::~LeakCheck() = default;

std::vector<Leak> LeakCheck::leaks() const { return notes_->leaks(); }

namespace {

/// All that a line says but its count and bytes.
std::string line(const Leak& leak) {
  std::ostringstream text;
  text << leak.device << "  ";
  if (leak.is_tensor) {
    text << to_string(leak.dtype) << " [";
    for (size_t i = 0; i < leak.sizes.size(); ++i) text << (i > 0 ? ", " : "") << leak.sizes[i];
    text << ']';
  } else {
    text << "no tensor";
  }
  text << "  " << name(leak.category);
  if (!leak.op.empty()) text << "  by " << leak.op;
  if (!leak.scope.empty()) text << "  in " << leak.scope;
  return text.str();
}

}  // namespace

std::string describe(const std::vector<Leak>& leaks) {
  struct Line {
    int64_t bytes = 0;
    int64_t count = 0;
    std::string text;
  };
  constexpr size_t kMostLines = 20;
  std::vector<Line> lines;
  std::map<std::string, size_t> known;
  for (const Leak& leak : leaks) {
    const auto [at, is_new] = known.try_emplace(line(leak), lines.size());
    if (is_new) lines.push_back({0, 0, at->first});
    lines[at->second].bytes += leak.bytes;
    ++lines[at->second].count;
  }
  std::stable_sort(lines.begin(), lines.end(),
                   [](const Line& a, const Line& b) { return a.bytes > b.bytes; });
  std::string text;
  for (size_t i = 0; i < std::min(lines.size(), kMostLines); ++i) {
    char figures[64];
    std::snprintf(figures, sizeof figures, "%14lld bytes %5lld x  ",
                  static_cast<long long>(lines[i].bytes), static_cast<long long>(lines[i].count));
    text += figures + lines[i].text + '\n';
  }
  if (lines.size() > kMostLines) {
    text += "  and " + std::to_string(lines.size() - kMostLines) + " lines more\n";
  }
  return text;
}

void LeakCheck::expect_none() const {
  const std::vector<Leak> left = leaks();
  if (left.empty()) return;
  int64_t bytes = 0;
  for (const Leak& leak : left) bytes += leak.bytes;
  EBB_CHECK(false, "LeakCheck: ", left.size(), left.size() == 1 ? " block" : " blocks", " of ",
            bytes, " bytes outlived the check:\n", describe(left),
            "Something refers to them still: a variable, a list, a graph (`saved` is what backward "
            "would need: take item() or detach() of results that are kept), or a hook that "
            "captured a tensor of its own graph (capture what it needs of it instead).");
}

}  // namespace ebb::memory
