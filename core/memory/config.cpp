#include <ebb/core/memory/config.h>

#include <algorithm>
#include <bit>
#include <cctype>
#include <charconv>
#include <string_view>

#include <ebb/core/error.h>

namespace ebb::memory {
namespace {

constexpr size_t kMiB = size_t{1} << 20;

/// One `key:value` of a configuration string.
struct Setting {
  std::string_view key;
  std::string_view value;

  [[noreturn]] void reject(const char* allowed) const {
    ebb::detail::raise<ValueError>(ebb::detail::concat("allocator configuration: \"", value,
                                                       "\" is not a value of ", key, ", which is ",
                                                       allowed));
  }
  [[nodiscard]] size_t integer(std::string_view text, const char* allowed) const {
    size_t number = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (text.empty() || error != std::errc() || end != text.data() + text.size()) reject(allowed);
    return number;
  }
  /// An integer of MiB, `least` or more, as bytes.
  [[nodiscard]] size_t mebibytes(size_t least, const char* allowed) const {
    const size_t number = integer(value, allowed);
    if (number < least || number > Config::kUnlimited / kMiB) reject(allowed);
    return number * kMiB;
  }
  [[nodiscard]] double real(const char* allowed) const {
    double number = 0;
    const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), number);
    if (value.empty() || error != std::errc() || end != value.data() + value.size())
      reject(allowed);
    return number;
  }
};

void set_max_split_size(const Setting& setting, Config& config) {
  config.max_split_size = setting.mebibytes(20, "an integer of MiB, at least 20");
}

void set_max_non_split_rounding(const Setting& setting, Config& config) {
  config.max_non_split_rounding = setting.mebibytes(20, "an integer of MiB, at least 20");
}

void set_large_segment_size(const Setting& setting, Config& config) {
  config.large_segment_size = setting.mebibytes(2, "an integer of MiB, at least 2");
}

void set_garbage_collection_threshold(const Setting& setting, Config& config) {
  constexpr const char* kAllowed = "a number above 0 and below 1";
  const double share = setting.real(kAllowed);
  if (!(share > 0 && share < 1)) setting.reject(kAllowed);
  config.garbage_collection_threshold = share;
}

void set_memory_fraction(const Setting& setting, Config& config) {
  constexpr const char* kAllowed = "a number from 0 to 1";
  const double share = setting.real(kAllowed);
  if (!(share >= 0 && share <= 1)) setting.reject(kAllowed);
  config.per_process_memory_fraction = share;
}

void set_expandable_segments(const Setting& setting, Config& config) {
  if (setting.value != "True" && setting.value != "False") setting.reject("True or False");
  config.expandable_segments = setting.value == "True";
}

constexpr const char* kDivisionsAllowed =
    "a power of two, or a list such as [64:8,256:4,>:1] of bounds in MiB and divisions, all powers "
    "of two (0 divisions: none)";

/// The interval of a bound in MiB: 0 for 1, 1 for 2, 2 for 4, ... as in PyTorch's table.
int interval_of_bound(const Setting& setting, std::string_view text) {
  const size_t bound = setting.integer(text, kDivisionsAllowed);
  if (!std::has_single_bit(bound)) setting.reject(kDivisionsAllowed);
  return std::min(static_cast<int>(std::bit_width(bound)) - 1, Config::kIntervals - 1);
}

/// `bound:divisions` entries: each fills the intervals since the last bound's up to its own; the
/// first fills all lower ones, `>` the rest.
void set_division_list(const Setting& setting, Config& config) {
  std::string_view rest = setting.value.substr(1, setting.value.size() - 2);
  auto& table = config.roundup_power2_divisions;
  int filled = 0;
  while (!rest.empty()) {
    const std::string_view entry = rest.substr(0, rest.find(','));
    rest.remove_prefix(std::min(rest.size(), entry.size() + 1));
    const size_t colon = entry.find(':');
    if (colon == std::string_view::npos) setting.reject(kDivisionsAllowed);
    const size_t divisions = setting.integer(entry.substr(colon + 1), kDivisionsAllowed);
    if (divisions != 0 && !std::has_single_bit(divisions)) setting.reject(kDivisionsAllowed);
    const bool last = entry.substr(0, colon) == ">";
    const int end =
        last ? Config::kIntervals - 1 : interval_of_bound(setting, entry.substr(0, colon));
    for (int i = filled; i <= end; ++i) table[static_cast<size_t>(i)] = divisions;
    filled = std::max(filled, end + 1);
  }
}

void set_divisions(const Setting& setting, Config& config) {
  const std::string_view value = setting.value;
  if (value.size() >= 2 && value.front() == '[' && value.back() == ']') {
    set_division_list(setting, config);
  } else {
    const size_t divisions = setting.integer(value, kDivisionsAllowed);
    if (!std::has_single_bit(divisions)) setting.reject(kDivisionsAllowed);
    config.roundup_power2_divisions.fill(divisions);
  }
  config.divides_powers_of_two =
      std::ranges::any_of(config.roundup_power2_divisions, [](size_t d) { return d > 1; });
}

using Setter = void (*)(const Setting&, Config&);

struct Key {
  std::string_view name;
  Setter set;  // null: a key of PyTorch without a meaning here
};

constexpr Key kKeys[] = {
    {"max_split_size_mb", set_max_split_size},
    {"max_non_split_rounding_mb", set_max_non_split_rounding},
    {"large_segment_size_mb", set_large_segment_size},
    {"garbage_collection_threshold", set_garbage_collection_threshold},
    {"roundup_power2_divisions", set_divisions},
    {"per_process_memory_fraction", set_memory_fraction},
    {"expandable_segments", set_expandable_segments},
    {"backend", nullptr},
    {"expandable_segments_reserve", nullptr},
    {"expandable_segments_reserve_by_class", nullptr},
    {"graph_capture_record_stream_reuse", nullptr},
    {"pinned_free_catch_all", nullptr},
    {"pinned_num_register_threads", nullptr},
    {"pinned_reserve_segment_size_mb", nullptr},
    {"pinned_use_background_threads", nullptr},
    {"pinned_use_cuda_host_register", nullptr},
    {"release_lock_on_cudamalloc", nullptr},
    {"throw_on_cudamalloc_oom", nullptr},
};

const Key& find_key(std::string_view name) {
  const auto* key = std::ranges::find(kKeys, name, &Key::name);
  if (key != std::end(kKeys)) return *key;
  std::string known;
  for (const Key& k : kKeys) {
    if (k.set != nullptr) known += (known.empty() ? "" : ", ") + std::string(k.name);
  }
  ebb::detail::raise<ValueError>(ebb::detail::concat("allocator configuration: Unrecognized key \"",
                                                     name, "\"; the keys are ", known));
}

/// The length of the first `key:value` of `text`: up to the comma that is not inside brackets.
size_t setting_length(std::string_view text) {
  int depth = 0;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '[') ++depth;
    if (text[i] == ']') --depth;
    if (text[i] == ',' && depth == 0) return i;
  }
  return text.size();
}

void apply(std::string_view text, ParsedConfig& parsed) {
  const size_t colon = text.find(':');
  EBB_CHECK_AS(ValueError, colon != std::string_view::npos, "allocator configuration: \"", text,
               "\" is not of the form key:value");
  const Key& key = find_key(text.substr(0, colon));
  if (key.set == nullptr) {
    parsed.warnings.push_back("allocator configuration: " + std::string(key.name) +
                              " means nothing in ebb and is ignored");
    return;
  }
  key.set({key.name, text.substr(colon + 1)}, parsed.config);
  if (parsed.config.expandable_segments && key.name == "expandable_segments") {
    parsed.warnings.emplace_back(
        "allocator configuration: expandable_segments means nothing for host memory, whose pages "
        "are taken when they are first touched");
  }
}

}  // namespace

size_t Config::divisions(size_t bytes) const noexcept {
  constexpr int kFirst = 20;  // the exponent of 1 MiB
  const int exponent = static_cast<int>(std::bit_width(bytes)) - 1;
  return roundup_power2_divisions[static_cast<size_t>(
      std::clamp(exponent - kFirst, 0, kIntervals - 1))];
}

ParsedConfig parse_config(const std::string& text, const Config& base) {
  ParsedConfig parsed{base, {}};
  parsed.config.max_split_size = Config::kUnlimited;
  parsed.config.garbage_collection_threshold = 0;
  parsed.config.roundup_power2_divisions = {};
  parsed.config.divides_powers_of_two = false;

  std::string compact;
  std::ranges::copy_if(text, std::back_inserter(compact),
                       [](unsigned char c) { return std::isspace(c) == 0; });
  std::string_view rest = compact;
  while (!rest.empty()) {
    const size_t length = setting_length(rest);
    if (length > 0) apply(rest.substr(0, length), parsed);
    rest.remove_prefix(std::min(rest.size(), length + 1));
  }
  return parsed;
}

}  // namespace ebb::memory
