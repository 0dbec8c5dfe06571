#pragma once

#include <cstdio>
#include <string>
#include <string_view>

namespace ebb::memory::detail {

/// A text or binary file that is written from front to back. Throws an Error that names the path
/// and the reason where it cannot be opened or written.
class ReportFile {
 public:
  explicit ReportFile(const std::string& path);
  ~ReportFile();
  ReportFile(const ReportFile&) = delete;
  ReportFile& operator=(const ReportFile&) = delete;

  void append(std::string_view bytes);
  /// As std::printf.
#if defined(__GNUC__)
  [[gnu::format(printf, 2, 3)]]
#endif
  void
  print(const char* format, ...);
  /// In quotes, escaped as JSON wants it.
  void json_string(std::string_view text);
  /// Must be called once all is written.
  void close();

 private:
  [[noreturn]] void fail() const;

  std::string path_;
  std::FILE* file_;
};

}  // namespace ebb::memory::detail
