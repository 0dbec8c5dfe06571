#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include <ebb/core/memory/report_file.h>

namespace ebb::memory::detail {

/// Writes dictionaries, lists and plain values one after another.
class StructureWriter {
 public:
  virtual ~StructureWriter() = default;

  virtual void begin_dict() = 0;
  virtual void end_dict() = 0;
  virtual void begin_list() = 0;
  virtual void end_list() = 0;
  /// In a dictionary, before each value.
  virtual void key(std::string_view name) = 0;
  virtual void text(std::string_view value) = 0;
  virtual void integer(int64_t value) = 0;
  virtual void real(double value) = 0;
  virtual void truth(bool value) = 0;
  /// A pair of integers.
  virtual void pair(int64_t first, int64_t second) = 0;
  /// Writes the value that was remembered under `id` once more; false if the format has no such
  /// thing, or nothing was remembered.
  virtual bool again(uint64_t id) = 0;
  /// Remembers the value that was written last.
  virtual void remember(uint64_t id) = 0;
  /// After the outermost value.
  virtual void finish() = 0;

  void field(std::string_view name, std::string_view value) {
    key(name);
    text(value);
  }
  void field(std::string_view name, const char* value) { field(name, std::string_view(value)); }
  void field(std::string_view name, int64_t value) {
    key(name);
    integer(value);
  }
  void field(std::string_view name, bool value) {
    key(name);
    truth(value);
  }
};

class JsonWriter final : public StructureWriter {
 public:
  explicit JsonWriter(ReportFile& file) : file_(file) {}
  void begin_dict() override { open('{'); }
  void end_dict() override { close('}'); }
  void begin_list() override { open('['); }
  void end_list() override { close(']'); }
  void key(std::string_view name) override;
  void text(std::string_view value) override;
  void integer(int64_t value) override;
  void real(double value) override;
  void truth(bool value) override;
  void pair(int64_t first, int64_t second) override;
  bool again(uint64_t) override { return false; }
  void remember(uint64_t) override {}
  void finish() override { file_.append("\n"); }

 private:
  void open(char bracket);
  void close(char bracket);
  void separate();

  ReportFile& file_;
  bool needs_comma_ = false;
};

/// Python's pickle, protocol 2, with the opcodes that the viewer's reader knows. Long lists are
/// written in batches, texts and what was remembered once.
class PickleWriter final : public StructureWriter {
 public:
  explicit PickleWriter(ReportFile& file);
  void begin_dict() override;
  void end_dict() override;
  void begin_list() override;
  void end_list() override;
  void key(std::string_view name) override { put_text(name); }
  void text(std::string_view value) override;
  void integer(int64_t value) override;
  void real(double value) override;
  void truth(bool value) override;
  void pair(int64_t first, int64_t second) override;
  bool again(uint64_t id) override;
  void remember(uint64_t id) override;
  void finish() override { file_.append("."); }

 private:
  void begin_value();
  void put_text(std::string_view value);
  void put_integer(int64_t value);
  void put_bytes(uint64_t value, int count);
  void memo(char short_opcode, char long_opcode, uint32_t index);

  ReportFile& file_;
  std::vector<int> counts_;  ///< items of the open lists since their last batch; -1: a dictionary
  std::unordered_map<std::string, uint32_t> texts_;
  std::unordered_map<uint64_t, uint32_t> remembered_;
  uint32_t memo_size_ = 0;
};

}  // namespace ebb::memory::detail
