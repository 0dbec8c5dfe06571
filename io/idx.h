#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <ebb/core/export.h>

namespace ebb::io {

/// An array of bytes as an IDX file holds it (LeCun's format for MNIST): sizes, then the elements
/// in row-major order.
struct IdxArray {
  std::vector<int64_t> sizes;
  std::vector<uint8_t> values;
};

/// Reads an IDX file of unsigned bytes, plain or compressed with gzip (told by its content). Throws
/// an Error that names the file and says what is wrong: missing, not IDX, not unsigned bytes,
/// another number of dimensions than `dims`, cut short, or with more bytes than its sizes say.
EBB_API IdxArray read_idx(const std::string& path, size_t dims);

/// The same for a file's content in memory; `name` stands for the path in messages.
EBB_API IdxArray parse_idx(const uint8_t* bytes, size_t count, size_t dims,
                           const std::string& name);

/// All bytes of a file, decompressed if they are gzip. Throws an Error that names the file. More
/// than `limit` bytes are an error, so that a small file cannot fill the memory.
EBB_API std::vector<uint8_t> read_maybe_gzip(const std::string& path,
                                             size_t limit = size_t{1} << 31);

}  // namespace ebb::io
