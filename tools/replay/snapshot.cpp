#include <algorithm>
#include <istream>
#include <map>
#include <unordered_map>

#include <nlohmann/json.hpp>

#include "trace.h"

namespace replay {

namespace {

using nlohmann::json;

/// What an event of a snapshot says; all others move segments, or only tell.
struct Event {
  enum class Action : uint8_t { alloc, free_requested, free_completed };
  Action action = Action::alloc;
  uint64_t address = 0;
  size_t bytes = 0;
  uint64_t stream = 0;
  size_t index = 0;  ///< in the list of the file
};

/// A non-negative integer of an object.
uint64_t number(const json& object, const char* key) {
  const auto at = object.find(key);
  if (at == object.end()) throw TraceError(std::string("`") + key + "` is missing");
  if (!at->is_number_unsigned()) {
    throw TraceError(std::string("`") + key + "` is " + at->dump() + ", not a count");
  }
  return at->get<uint64_t>();
}

std::string word(const json& object, const char* key) {
  const auto at = object.find(key);
  if (at == object.end() || !at->is_string()) {
    throw TraceError(std::string("`") + key + "` is missing");
  }
  return at->get<std::string>();
}

/// The events of one device become steps.
class Builder {
 public:
  void build(const std::vector<Event>& events) {
    for (size_t i = 0; i < events.size(); ++i) {
      const Event& event = events[i];
      const bool at_once = i + 1 < events.size() &&
                           events[i + 1].action == Event::Action::free_completed &&
                           events[i + 1].address == event.address;
      switch (event.action) {
        case Event::Action::alloc:
          allocate(event);
          break;
        case Event::Action::free_requested:
          let_go(event, at_once);
          i += at_once ? 1 : 0;
          break;
        case Event::Action::free_completed:
          complete(event);
      }
    }
  }

  /// A block that is in use when the recording ends: one without a request was there before.
  void at_end(const Event& block, bool is_pending) {
    const auto [at, is_new] = blocks_.try_emplace(block.address);
    if (!is_new) return;
    at->second = {was_there(block), is_pending};
    if (is_pending) before_[block.address].is_let_go = true;
  }

  [[nodiscard]] Trace take() {
    for (const auto& [address, earlier] : before_) {
      trace_.before.push_back(earlier.step);
      if (earlier.is_let_go) trace_.before.push_back({Step::Kind::let_go, earlier.step.block});
    }
    return std::move(trace_);
  }

 private:
  struct InUse {
    uint32_t block = 0;
    bool is_pending = false;
  };
  struct Earlier {
    Step step;
    bool is_let_go = false;
  };

  static TraceError error(const Event& event, const std::string& what) {
    return TraceError('[' + std::to_string(event.index) + "]: " + what + " at address " +
                      std::to_string(event.address));
  }

  void allocate(const Event& event) {
    const auto [at, is_new] = blocks_.try_emplace(event.address, InUse{trace_.blocks, false});
    if (!is_new) throw error(event, "alloc, but there is a block in use");
    trace_.steps.push_back({Step::Kind::allocate, trace_.blocks++, event.bytes, event.stream});
  }

  void let_go(const Event& event, bool at_once) {
    auto at = blocks_.find(event.address);
    if (at == blocks_.end()) at = blocks_.emplace(event.address, InUse{was_there(event)}).first;
    if (at->second.is_pending) throw error(event, "free_requested for the second time");
    trace_.steps.push_back({at_once ? Step::Kind::free : Step::Kind::let_go, at->second.block});
    at->second.is_pending = true;
    if (at_once) blocks_.erase(at);
  }

  void complete(const Event& event) {
    auto at = blocks_.find(event.address);
    if (at == blocks_.end()) {
      at = blocks_.emplace(event.address, InUse{was_there(event), true}).first;
      before_[event.address].is_let_go = true;
    }
    if (!at->second.is_pending) throw error(event, "free_completed without free_requested");
    trace_.steps.push_back({Step::Kind::complete, at->second.block});
    blocks_.erase(at);
  }

  /// The number of a block that was in use before the first event. At most one was at an address.
  uint32_t was_there(const Event& event) {
    const Step step{Step::Kind::allocate, trace_.blocks, event.bytes, event.stream};
    if (!before_.emplace(event.address, Earlier{step}).second) {
      throw error(event, "the events say twice that a block was there before them,");
    }
    return trace_.blocks++;
  }

  Trace trace_;
  std::map<uint64_t, Earlier> before_;
  std::unordered_map<uint64_t, InUse> blocks_;
};

/// Takes a snapshot apart while it is parsed, so that events are not kept as JSON.
class Snapshot {
 public:
  explicit Snapshot(std::istream& in) {
    const json rest = json::parse(in, [this](int depth, json::parse_event_t what, json& value) {
      return keep(depth, what, value);
    });
    if (!rest.contains("segments") || !rest.contains("device_traces")) {
      throw TraceError("no snapshot: it lacks `segments` or `device_traces`");
    }
    segments_ = rest["segments"];
    if (rest.contains("ebb_devices")) names_ = rest["ebb_devices"];
  }

  [[nodiscard]] std::vector<Trace> traces() const {
    std::vector<Trace> out;
    for (size_t device = 0; device < events_.size(); ++device) {
      if (events_[device].empty()) continue;
      Builder builder;
      try {
        builder.build(events_[device]);
      } catch (const TraceError& error) {
        throw TraceError("device_traces[" + std::to_string(device) + ']' + error.what());
      }
      for (size_t i = 0; i < segments_.size(); ++i) add_blocks(segments_[i], i, device, builder);
      out.push_back(builder.take());
      out.back().device = name(device);
    }
    if (out.empty()) throw TraceError("it has no events; was a history recorded?");
    return out;
  }

 private:
  /// Depths: 0 the whole, 1 its keys' values, 2 the list of a device, 3 an event.
  bool keep(int depth, json::parse_event_t what, json& value) {
    using What = json::parse_event_t;
    if (what == What::key) {
      if (depth == 1) is_trace_ = value == "device_traces";
      return value != "frames";
    }
    if (!is_trace_) return true;
    if (what == What::array_start && depth == 2) events_.emplace_back(), index_ = 0;
    if (what != What::object_end || depth != 3 || events_.empty()) return true;
    try {
      add(value);
    } catch (const TraceError& error) {
      throw TraceError("device_traces[" + std::to_string(events_.size() - 1) + "][" +
                       std::to_string(index_) + "]: " + error.what());
    }
    ++index_;
    return false;
  }

  void add(const json& event) {
    constexpr const char* kActions[] = {"alloc", "free_requested", "free_completed"};
    const auto* at = std::find(std::begin(kActions), std::end(kActions), word(event, "action"));
    if (at == std::end(kActions)) return;
    events_.back().push_back({static_cast<Event::Action>(at - kActions), number(event, "addr"),
                              number(event, "size"), number(event, "stream"), index_});
  }

  static void add_blocks(const json& segment, size_t index, size_t device, Builder& builder) {
    try {
      if (number(segment, "device") != device) return;
      uint64_t address = number(segment, "address");
      for (const json& block : segment.at("blocks")) {
        const std::string state = word(block, "state");
        const uint64_t size = number(block, "size");
        const bool has_size = block.contains("requested_size");
        if (state.starts_with("active")) {
          builder.at_end(
              {Event::Action::alloc, address, has_size ? number(block, "requested_size") : size,
               number(segment, "stream"), index},
              state != "active_allocated");
        }
        address += size;
      }
    } catch (const TraceError& error) {
      throw TraceError("segments[" + std::to_string(index) + "]: " + error.what());
    }
  }

  [[nodiscard]] std::string name(size_t device) const {
    if (device < names_.size() && names_[device].is_string()) return names_[device];
    return "device " + std::to_string(device);
  }

  std::vector<std::vector<Event>> events_;  ///< of each device
  size_t index_ = 0;                        ///< of the event that is read
  bool is_trace_ = false;
  json segments_;
  json names_;
};

}  // namespace

std::vector<Trace> read_snapshot(std::istream& in, const std::string& name) {
  try {
    return Snapshot(in).traces();
  } catch (const TraceError& error) {
    throw TraceError(name + ": " + error.what());
  } catch (const json::exception& error) {
    throw TraceError(name + ": " + error.what());
  }
}

}  // namespace replay
