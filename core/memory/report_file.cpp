#include <ebb/core/memory/report_file.h>

#include <cerrno>
#include <cstdarg>
#include <cstring>

#include <ebb/core/error.h>

namespace ebb::memory::detail {

ReportFile::ReportFile(const std::string& path)
    : path_(path), file_(std::fopen(path.c_str(), "wb")) {
  if (file_ == nullptr) fail();
}

ReportFile::~ReportFile() {
  if (file_ != nullptr) std::fclose(file_);
}

void ReportFile::fail() const {
  ebb::detail::raise("cannot write " + path_ + ": " + std::strerror(errno));
}

void ReportFile::append(std::string_view bytes) {
  if (std::fwrite(bytes.data(), 1, bytes.size(), file_) != bytes.size()) fail();
}

void ReportFile::print(const char* format, ...) {
  std::va_list arguments;
  va_start(arguments, format);
  const int written = std::vfprintf(file_, format, arguments);
  va_end(arguments);
  if (written < 0) fail();
}

void ReportFile::json_string(std::string_view text) {
  append("\"");
  for (const char c : text) {
    if (c == '"' || c == '\\') {
      print("\\%c", c);
    } else if (static_cast<unsigned char>(c) < 0x20) {
      print("\\u%04x", static_cast<unsigned>(c));
    } else {
      append({&c, 1});
    }
  }
  append("\"");
}

void ReportFile::close() {
  std::FILE* file = file_;
  file_ = nullptr;
  if (std::fclose(file) != 0) fail();
}

}  // namespace ebb::memory::detail
