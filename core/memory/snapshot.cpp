#include <ebb/core/memory/snapshot.h>

#include <cstdlib>
#include <string_view>
#include <unordered_map>

#include <ebb/core/error.h>
#include <ebb/core/memory/registry.h>
#include <ebb/core/memory/structure_writer.h>

namespace ebb::memory {

namespace {

using detail::StructureWriter;

/// One device in PyTorch's form.
class DeviceWriter {
 public:
  DeviceWriter(StructureWriter& out, const DeviceRecording& recording, int64_t index)
      : out_(out), recording_(recording), index_(index) {
    for (const Event& event : recording.events) {
      if (event.action == Action::alloc) last_alloc_[event.address] = &event;
    }
  }

  void segments() {
    for (const SegmentState& segment : recording_.segments) write(segment);
  }

  void trace() {
    out_.begin_list();
    for (const Event& event : recording_.events) {
      if (event.action < Action::category) write(event);
    }
    out_.end_list();
  }

 private:
  void write(const SegmentState& segment) {
    int64_t allocated = 0;
    int64_t active = 0;
    int64_t requested = 0;
    for (const BlockState& block : segment.blocks) {
      if (block.state == BlockState::State::active_allocated) allocated += block.size;
      if (block.state != BlockState::State::inactive) active += block.size;
      requested += block.requested;
    }
    out_.begin_dict();
    out_.field("device", index_);
    out_.field("address", static_cast<int64_t>(segment.address));
    out_.field("total_size", segment.size);
    out_.field("allocated_size", allocated);
    out_.field("active_size", active);
    out_.field("requested_size", requested);
    out_.field("stream", static_cast<int64_t>(segment.stream));
    out_.field("segment_type", segment.is_small ? "small" : "large");
    out_.key("segment_pool_id");
    out_.pair(0, segment.pool);
    out_.field("is_expandable", false);
    out_.key("frames");
    no_frames();
    out_.key("blocks");
    out_.begin_list();
    for (const BlockState& block : segment.blocks) write(block);
    out_.end_list();
    out_.end_dict();
  }

  void write(const BlockState& block) {
    constexpr const char* kStates[] = {"active_allocated", "active_pending_free", "inactive"};
    out_.begin_dict();
    out_.field("address", static_cast<int64_t>(block.address));
    out_.field("size", block.size);
    out_.field("requested_size", block.requested);
    out_.field("state", kStates[static_cast<int>(block.state)]);
    out_.key("frames");
    const auto alloc = last_alloc_.find(block.address);
    if (block.state == BlockState::State::inactive || alloc == last_alloc_.end()) {
      no_frames();
    } else {
      frames(*alloc->second);
    }
    out_.end_dict();
  }

  void write(const Event& event) {
    out_.begin_dict();
    out_.field("action", name(event.action));
    out_.field(event.action == Action::oom ? "device_free" : "addr",
               static_cast<int64_t>(event.address));
    out_.field("size", event.bytes);
    out_.field("stream", static_cast<int64_t>(event.stream));
    out_.field("time_us", event.time_us);
    out_.field("compile_context", "N/A");
    const bool is_block = event.action <= Action::free_completed;
    out_.field("user_metadata", is_block ? name(event.category) : "");
    if (event.op != 0 || event.scope != 0) {
      out_.key("frames");
      frames(event);
    }
    out_.end_dict();
  }

  void no_frames() {
    out_.begin_list();
    out_.end_list();
  }

  /// Op and scopes, innermost first. Equal stacks are one object in a pickle.
  void frames(const Event& event) {
    const uint64_t id = (static_cast<uint64_t>(index_) << 48) ^
                        (static_cast<uint64_t>(event.op) << 24) ^ event.scope;
    if (out_.again(id)) return;
    out_.begin_list();
    if (event.op != 0) frame("op", recording_.ops[event.op]);
    std::string_view path = recording_.scopes[event.scope];
    while (!path.empty()) {
      const size_t slash = path.rfind('/');
      frame("scope", path.substr(slash + 1));  // the whole path where there is no slash
      path = slash == std::string_view::npos ? std::string_view() : path.substr(0, slash);
    }
    out_.end_list();
    out_.remember(id);
  }

  void frame(const char* kind, std::string_view name) {
    out_.begin_dict();
    out_.field("filename", kind);
    out_.field("line", int64_t{0});
    out_.field("name", name);
    out_.end_dict();
  }

  StructureWriter& out_;
  const DeviceRecording& recording_;
  const int64_t index_;
  std::unordered_map<uint64_t, const Event*> last_alloc_;
};

void write_settings(StructureWriter& out, const Recording& recording) {
  Config config;
  for (const DeviceRecording& device : recording.devices) {
    if (const CachingAllocator* a = find_allocator(device.device)) config = a->config();
  }
  const char* text = std::getenv("EBB_ALLOC_CONF");
  out.begin_dict();
  out.field("PYTORCH_CUDA_ALLOC_CONF", text == nullptr ? "" : text);
  out.field("max_split_size", config.max_split_size == Config::kUnlimited
                                  ? int64_t{-1}
                                  : static_cast<int64_t>(config.max_split_size));
  out.key("garbage_collection_threshold");
  out.real(config.garbage_collection_threshold);
  out.field("expandable_segments", config.expandable_segments);
  out.field("pinned_num_register_threads", int64_t{1});
  for (const char* unused : {"release_lock_on_cudamalloc", "pinned_use_cuda_host_register",
                             "graph_capture_record_stream_reuse"}) {
    out.field(unused, false);
  }
  out.key("roundup_power2_divisions");
  out.begin_dict();
  for (size_t i = 0; i < config.roundup_power2_divisions.size(); ++i) {
    out.field(std::to_string(size_t{1} << i),
              static_cast<int64_t>(config.roundup_power2_divisions[i]));
  }
  out.end_dict();
  out.end_dict();
}

void write_all(StructureWriter& out, const Recording& recording) {
  std::vector<DeviceWriter> devices;
  for (const DeviceRecording& device : recording.devices) {
    devices.emplace_back(out, device, static_cast<int64_t>(devices.size()));
  }
  out.begin_dict();
  out.key("segments");
  out.begin_list();
  for (DeviceWriter& device : devices) device.segments();
  out.end_list();
  out.key("device_traces");
  out.begin_list();
  for (DeviceWriter& device : devices) device.trace();
  out.end_list();
  out.key("allocator_settings");
  write_settings(out, recording);
  out.key("external_annotations");
  out.begin_list();
  out.end_list();
  out.key("ebb_devices");
  out.begin_list();
  for (const DeviceRecording& device : recording.devices) out.text(device.device.str());
  out.end_list();
  out.end_dict();
  out.finish();
}

/// Whether the path wants JSON rather than a pickle.
bool wants_json(std::string_view path) {
  if (path.ends_with(".json")) return true;
  EBB_CHECK_AS(ValueError, path.ends_with(".pickle") || path.ends_with(".pkl"), "snapshot: ", path,
               " ends neither in .pickle or .pkl nor in .json");
  return false;
}

}  // namespace

void snapshot(const std::string& path, const Recording& recording) {
  const bool json = wants_json(path);
  detail::ReportFile file(path);
  if (json) {
    detail::JsonWriter writer(file);
    write_all(writer, recording);
  } else {
    detail::PickleWriter writer(file);
    write_all(writer, recording);
  }
  file.close();
}

void snapshot(const std::string& path) {
  static_cast<void>(wants_json(path));
  for (const DeviceRecording& device : history().devices) {
    allocator(device.device).mark(Action::snapshot);
  }
  snapshot(path, history());
}

}  // namespace ebb::memory
