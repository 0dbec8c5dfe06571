#include <ebb/data/mnist.h>
#include <ebb/io/idx.h>
#include <zlib.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "catch.h"

namespace {

namespace fs = std::filesystem;
using Bytes = std::vector<uint8_t>;

/// A folder of its own for a test, removed at its end.
struct Folder {
  Folder() : path(fs::temp_directory_path() / ("ebb_idx_" + std::to_string(counter++))) {
    fs::remove_all(path);
    fs::create_directories(path);
  }
  ~Folder() { fs::remove_all(path); }
  std::string file(const std::string& name) const { return (path / name).string(); }

  static inline int counter = static_cast<int>(std::hash<std::string>()(__FILE__) % 10000);
  fs::path path;
};

Bytes idx(const std::vector<uint32_t>& sizes, size_t values) {
  Bytes bytes = {0, 0, 8, static_cast<uint8_t>(sizes.size())};
  for (const uint32_t size : sizes) {
    for (int shift = 24; shift >= 0; shift -= 8)
      bytes.push_back(static_cast<uint8_t>(size >> shift));
  }
  for (size_t i = 0; i < values; ++i) bytes.push_back(static_cast<uint8_t>(i % 10));
  return bytes;
}

void write(const std::string& path, const Bytes& bytes) {
  std::ofstream(path, std::ios::binary)
      .write(reinterpret_cast<const char*>(bytes.data()),
             static_cast<std::streamsize>(bytes.size()));
}

void write_gzip(const std::string& path, const Bytes& bytes) {
  gzFile file = gzopen(path.c_str(), "wb");
  REQUIRE(gzwrite(file, bytes.data(), static_cast<unsigned>(bytes.size())) ==
          static_cast<int>(bytes.size()));
  gzclose(file);
}

/// What reading throws, or "".
std::string error_of(const Bytes& bytes, size_t dims) {
  try {
    (void)ebb::io::parse_idx(bytes.data(), bytes.size(), dims, "digits");
  } catch (const ebb::Error& error) {
    return error.what();
  }
  return "";
}

bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

}  // namespace

TEST_CASE("An IDX file gives its sizes and its bytes, compressed or not") {
  const Folder folder;
  const Bytes bytes = idx({2, 3, 4}, 24);
  write(folder.file("plain"), bytes);
  write_gzip(folder.file("packed.gz"), bytes);
  for (const char* name : {"plain", "packed.gz"}) {
    const auto array = ebb::io::read_idx(folder.file(name), 3);
    CHECK(array.sizes == std::vector<int64_t>{2, 3, 4});
    REQUIRE(array.values.size() == 24);
    CHECK(array.values[23] == 3);
  }
}

TEST_CASE("A broken IDX file is refused with its name and what is wrong") {
  CHECK(error_of(idx({2, 3}, 6), 2).empty());
  CHECK(contains(error_of({}, 1), "digits is not an IDX file"));
  CHECK(contains(error_of({1, 2, 3, 4, 5}, 1), "does not start with two zero bytes"));
  CHECK(contains(error_of({0, 0, 13, 1, 0, 0, 0, 0}, 1), "type 13"));
  CHECK(contains(error_of(idx({6}, 6), 3), "has 1 dimensions, expected 3"));
  CHECK(contains(error_of({0, 0, 8, 1, 0, 0}, 1), "ends within its header"));
  CHECK(contains(error_of(idx({7}, 6), 1), "it holds 7 elements, but has 6"));
  CHECK(contains(error_of(idx({5}, 6), 1), "it holds 5 elements, but has 6"));
  const uint32_t most = 0xffffffff;
  CHECK(contains(error_of(idx({most, most, most}, 1), 3), "too large"));
}

TEST_CASE("Any bytes at all are an array or an Error, never more") {
  uint32_t state = 1;
  for (int round = 0; round < 20000; ++round) {
    Bytes bytes = idx({2, 3}, 6);
    for (int change = 0; change < 3; ++change) {
      state = state * 1664525 + 1013904223;
      bytes[(state >> 8) % bytes.size()] = static_cast<uint8_t>(state >> 24);
    }
    for (uint32_t cut = (state >> 16) % 4; cut > 0; --cut) bytes.pop_back();
    (void)error_of(bytes, 2);
  }
}

TEST_CASE("A file that is missing, a folder, or cut short is named in the Error") {
  const Folder folder;
  const auto text_of = [](const std::string& path) -> std::string {
    try {
      (void)ebb::io::read_idx(path, 1);
    } catch (const ebb::Error& error) {
      return error.what();
    }
    return "";
  };
  CHECK(contains(text_of(folder.file("nothing")), "cannot open " + folder.file("nothing")));
  CHECK(contains(text_of(folder.path.string()), "is a folder"));
  write_gzip(folder.file("short.gz"), idx({5000}, 5000));
  fs::resize_file(folder.file("short.gz"), fs::file_size(folder.file("short.gz")) / 2);
  CHECK(contains(text_of(folder.file("short.gz")), "short.gz is broken"));
}

TEST_CASE("MNIST reads images in [0, 1] and labels, of any count") {
  const Folder folder;
  write_gzip(folder.file("train-images-idx3-ubyte.gz"), idx({3, 28, 28}, 3 * 28 * 28));
  write(folder.file("train-labels-idx1-ubyte"), idx({3}, 3));
  ebb::data::datasets::MNIST digits(folder.path.string());
  CHECK(digits.size() == 3);
  CHECK(digits.is_train());
  CHECK(digits.images().device() == ebb::Device(ebb::kCPU));  // whatever the default device is
  CHECK(digits.targets().device() == ebb::Device(ebb::kCPU));
  CHECK(digits.images().sizes() == std::vector<int64_t>{3, 1, 28, 28});
  const auto second = digits.get(1);
  CHECK(second.data.sizes() == std::vector<int64_t>{1, 28, 28});
  CHECK(second.target.item<int64_t>() == 1);
  CHECK(digits.images().max().item<float>() == 9.0F / 255.0F);
}

TEST_CASE("MNIST refuses a folder without its files, and counts that differ") {
  const Folder folder;
  CHECK_THROWS_AS(ebb::data::datasets::MNIST(folder.path.string()), ebb::Error);
  write(folder.file("t10k-images-idx3-ubyte"), idx({3, 2, 2}, 12));
  write(folder.file("t10k-labels-idx1-ubyte"), idx({4}, 4));
  try {
    ebb::data::datasets::MNIST(folder.path.string(), ebb::data::datasets::MNIST::Mode::kTest);
    FAIL("it was read");
  } catch (const ebb::Error& error) {
    CHECK(contains(error.what(), "has 3 images"));
    CHECK(contains(error.what(), "has 4 labels"));
  }
}
