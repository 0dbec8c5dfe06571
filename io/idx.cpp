#include <ebb/io/idx.h>

#include <zlib.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <memory>

#include <ebb/core/error.h>

namespace ebb::io {

std::vector<uint8_t> read_maybe_gzip(const std::string& path, size_t limit) {
  std::error_code status;
  EBB_CHECK(!std::filesystem::is_directory(path, status), path, " is a folder, not a file");
  // gzopen reads files that are not compressed as they are.
  const std::unique_ptr<gzFile_s, int (*)(gzFile)> file(gzopen(path.c_str(), "rb"), gzclose);
  EBB_CHECK(file != nullptr, "cannot open ", path, ": ",
            errno == 0 ? "out of memory" : std::strerror(errno));
  std::vector<uint8_t> bytes;
  constexpr size_t kPiece = size_t{1} << 18;
  while (true) {
    const size_t have = bytes.size();
    EBB_CHECK(have <= limit, path, " holds more than ", limit, " bytes");
    bytes.resize(have + kPiece);
    const int got = gzread(file.get(), bytes.data() + have, kPiece);
    int error = Z_OK;
    const char* text = gzerror(file.get(), &error);
    EBB_CHECK(got >= 0 && (error == Z_OK || error == Z_STREAM_END), path,
              " is broken: ", error == Z_BUF_ERROR ? "it ends in the middle" : text);
    bytes.resize(have + static_cast<size_t>(got));
    if (got == 0) return bytes;
  }
}

IdxArray parse_idx(const uint8_t* bytes, size_t count, size_t dims, const std::string& name) {
  EBB_CHECK(count >= 4 && bytes[0] == 0 && bytes[1] == 0, name,
            " is not an IDX file: it does not start with two zero bytes");
  EBB_CHECK(bytes[2] == 0x08, name, " does not hold unsigned bytes (IDX type 8), but type ",
            static_cast<int>(bytes[2]));
  EBB_CHECK(bytes[3] == dims, name, " has ", static_cast<int>(bytes[3]), " dimensions, expected ",
            dims);
  const size_t header = 4 + 4 * dims;
  EBB_CHECK(count >= header, name, " ends within its header");
  IdxArray array;
  uint64_t total = 1;
  for (size_t i = 0; i < dims; ++i) {
    const uint8_t* p = bytes + 4 + 4 * i;
    const uint64_t size = uint64_t{p[0]} << 24 | uint64_t{p[1]} << 16 | uint64_t{p[2]} << 8 | p[3];
    array.sizes.push_back(static_cast<int64_t>(size));
    EBB_CHECK(!__builtin_mul_overflow(total, size, &total), name, ": its sizes are too large");
  }
  EBB_CHECK(count - header == total, name, " says that it holds ", total, " elements, but has ",
            count - header);
  array.values.assign(bytes + header, bytes + count);
  return array;
}

IdxArray read_idx(const std::string& path, size_t dims) {
  const std::vector<uint8_t> bytes = read_maybe_gzip(path);
  return parse_idx(bytes.data(), bytes.size(), dims, path);
}

}  // namespace ebb::io
