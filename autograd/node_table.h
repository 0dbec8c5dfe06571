#pragma once

#include <cstdint>
#include <vector>

#include <ebb/autograd/node.h>

namespace ebb::autograd {

/// What one run of backward knows of a node.
struct NodeState {
  Node* node = nullptr;
  uint32_t dependencies = 0;  ///< edges whose gradient has not come yet
  uint32_t next_child = 0;    ///< of the traversal
  bool visited = false;
  bool captured = false;  ///< a gradient that enters it is asked for
  bool runs = true;
  bool queued = false;
  variable_list buffer;  ///< the gradients that have come, added up

  [[nodiscard]] bool wanted() const noexcept { return runs || captured; }
};

/// The nodes of one run, found by address. The marks are not in the nodes themselves, since several
/// runs may be at work on one graph.
class NodeTable {
 public:
  static constexpr uint32_t kNone = ~uint32_t{0};

  NodeTable() : slots_(64, kNone) { states_.reserve(24); }

  uint32_t find(const Node* node) const noexcept {
    for (size_t slot = hash(node);; ++slot) {
      const uint32_t index = slots_[slot & (slots_.size() - 1)];
      if (index == kNone || states_[index].node == node) return index;
    }
  }
  uint32_t find_or_add(Node* node) {
    const uint32_t found = find(node);
    if (found != kNone) return found;
    if (2 * (states_.size() + 1) > slots_.size()) grow();
    states_.emplace_back();
    states_.back().node = node;
    place(static_cast<uint32_t>(states_.size() - 1));
    return static_cast<uint32_t>(states_.size() - 1);
  }
  NodeState& operator[](uint32_t index) noexcept { return states_[index]; }
  const NodeState& operator[](uint32_t index) const noexcept { return states_[index]; }
  [[nodiscard]] std::vector<NodeState>& states() noexcept { return states_; }

 private:
  static size_t hash(const Node* node) noexcept {
    return static_cast<size_t>(reinterpret_cast<uintptr_t>(node) * 0x9E3779B97F4A7C15ULL >> 20);
  }
  void place(uint32_t index) noexcept {
    size_t slot = hash(states_[index].node);
    while (slots_[slot & (slots_.size() - 1)] != kNone) ++slot;
    slots_[slot & (slots_.size() - 1)] = index;
  }
  void grow() {
    slots_.assign(2 * slots_.size(), kNone);
    for (uint32_t i = 0; i < states_.size(); ++i) place(i);
  }

  std::vector<uint32_t> slots_;
  std::vector<NodeState> states_;
};

}  // namespace ebb::autograd
