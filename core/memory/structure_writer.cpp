#include <ebb/core/memory/structure_writer.h>

#include <bit>

namespace ebb::memory::detail {

void JsonWriter::separate() {
  if (needs_comma_) file_.append(",");
  needs_comma_ = true;
}

void JsonWriter::open(char bracket) {
  separate();
  file_.append({&bracket, 1});
  needs_comma_ = false;
}

void JsonWriter::close(char bracket) {
  file_.append({&bracket, 1});
  needs_comma_ = true;
}

void JsonWriter::key(std::string_view name) {
  separate();
  file_.json_string(name);
  file_.append(":");
  needs_comma_ = false;
}

void JsonWriter::text(std::string_view value) {
  separate();
  file_.json_string(value);
}

void JsonWriter::integer(int64_t value) {
  separate();
  file_.print("%lld", static_cast<long long>(value));
}

void JsonWriter::real(double value) {
  separate();
  file_.print("%.17g", value);
}

void JsonWriter::truth(bool value) {
  separate();
  file_.append(value ? "true" : "false");
}

void JsonWriter::pair(int64_t first, int64_t second) {
  begin_list();
  integer(first);
  integer(second);
  end_list();
}

PickleWriter::PickleWriter(ReportFile& file) : file_(file) { file_.append("\x80\x02"); }

void PickleWriter::begin_value() {
  constexpr int kBatch = 1000;
  if (counts_.empty() || counts_.back() < 0) return;
  if (++counts_.back() > kBatch) {
    file_.append("e(");
    counts_.back() = 1;
  }
}

void PickleWriter::begin_dict() {
  begin_value();
  file_.append("}(");
  counts_.push_back(-1);
}

void PickleWriter::end_dict() {
  file_.append("u");
  counts_.pop_back();
}

void PickleWriter::begin_list() {
  begin_value();
  file_.append("](");
  counts_.push_back(0);
}

void PickleWriter::end_list() {
  file_.append("e");
  counts_.pop_back();
}

void PickleWriter::text(std::string_view value) {
  begin_value();
  put_text(value);
}

void PickleWriter::put_text(std::string_view value) {
  const auto [at, is_new] = texts_.try_emplace(std::string(value), memo_size_);
  if (!is_new) {
    memo('h', 'j', at->second);
    return;
  }
  file_.append("X");
  put_bytes(value.size(), 4);
  file_.append(value);
  memo('q', 'r', memo_size_++);
}

/// Little-endian.
void PickleWriter::put_bytes(uint64_t value, int count) {
  for (int i = 0; i < count; ++i) {
    const char byte = static_cast<char>(value >> (8 * i));
    file_.append({&byte, 1});
  }
}

void PickleWriter::memo(char short_opcode, char long_opcode, uint32_t index) {
  const bool is_short = index < 256;
  file_.append({is_short ? &short_opcode : &long_opcode, 1});
  put_bytes(index, is_short ? 1 : 4);
}

void PickleWriter::integer(int64_t value) {
  begin_value();
  put_integer(value);
}

void PickleWriter::put_integer(int64_t value) {
  if (value == static_cast<int32_t>(value)) {
    file_.append("J");
    put_bytes(static_cast<uint64_t>(value), 4);
  } else {
    file_.append("\x8a\x08");
    put_bytes(static_cast<uint64_t>(value), 8);
  }
}

void PickleWriter::real(double value) {
  begin_value();
  file_.append("G");
  const auto bits = std::bit_cast<uint64_t>(value);
  for (int i = 7; i >= 0; --i) put_bytes(bits >> (8 * i), 1);  // big-endian
}

void PickleWriter::truth(bool value) {
  begin_value();
  file_.append(value ? "\x88" : "\x89");
}

void PickleWriter::pair(int64_t first, int64_t second) {
  begin_value();
  put_integer(first);
  put_integer(second);
  file_.append("\x86");
}

bool PickleWriter::again(uint64_t id) {
  const auto at = remembered_.find(id);
  if (at == remembered_.end()) return false;
  begin_value();
  memo('h', 'j', at->second);
  return true;
}

void PickleWriter::remember(uint64_t id) {
  remembered_[id] = memo_size_;
  memo('q', 'r', memo_size_++);
}

}  // namespace ebb::memory::detail
