#include "batches.h"

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <iterator>
#include <map>
#include <stdexcept>

namespace tour {

namespace {

std::string read_text(const std::string& path) {
  check_readable(path);
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

bool is_of_word(char c) { return std::isalpha(static_cast<unsigned char>(c)) != 0 || c == '\''; }

std::vector<std::string> split(const std::string& text) {
  std::vector<std::string> tokens;
  for (size_t i = 0; i < text.size();) {
    size_t end = i + 1;
    while (is_of_word(text[i]) && end < text.size() && is_of_word(text[end])) ++end;
    if (std::isspace(static_cast<unsigned char>(text[i])) == 0) {
      tokens.push_back(text.substr(i, end - i));
    }
    i = end;
  }
  return tokens;
}

/// The tokens as numbers: the rarer ones are all `words` - 1.
std::vector<int64_t> numbered(const std::vector<std::string>& tokens, int64_t words) {
  std::map<std::string, int64_t> counts;
  for (const std::string& token : tokens) ++counts[token];
  std::vector<std::pair<int64_t, std::string>> order;
  for (const auto& [token, count] : counts) order.emplace_back(-count, token);
  std::sort(order.begin(), order.end());
  std::map<std::string, int64_t> numbers;
  for (size_t i = 0; i < order.size(); ++i) {
    numbers[order[i].second] = std::min(static_cast<int64_t>(i), words - 1);
  }
  std::vector<int64_t> result;
  for (const std::string& token : tokens) result.push_back(numbers[token]);
  return result;
}

/// The same values in memory that ebb does not count.
ebb::Tensor uncounted(const ebb::Tensor& values) {
  const ebb::Tensor dense = values.contiguous();
  const auto size = static_cast<size_t>(dense.nbytes());
  auto* bytes = new char[size];
  std::memcpy(bytes, dense.data_ptr(), size);
  return ebb::from_blob(
      bytes, dense.sizes(), [](void* memory) { delete[] static_cast<char*>(memory); },
      dense.scalar_type());
}

}  // namespace

void check_readable(const std::string& path) {
  errno = 0;
  std::ifstream file(path);
  if (file.is_open() && file.peek() != std::ifstream::traits_type::eof()) return;
  const std::string why = errno != 0 ? std::strerror(errno) : "it is empty";
  throw std::runtime_error("cannot read " + path + ": " + why);
}

std::vector<Batch> digit_batches(const std::string& path, int64_t count, int64_t size) {
  const ebb::data::datasets::MNIST digits(path, ebb::data::datasets::MNIST::Mode::kTrain);
  std::vector<Batch> batches;
  for (int64_t i = 0; i < count; ++i) {
    const int64_t first = (i * size) % (digits.images().size(0) - size + 1);
    batches.push_back({uncounted((digits.images().narrow(0, first, size) - 0.1307) / 0.3081),
                       uncounted(digits.targets().narrow(0, first, size))});
  }
  return batches;
}

std::vector<Batch> word_batches(const std::string& path, int64_t count, int64_t size,
                                int64_t length, int64_t words) {
  const std::vector<int64_t> tokens = numbered(split(read_text(path)), words);
  const int64_t rows = count * size;
  const int64_t stride = (static_cast<int64_t>(tokens.size()) - 1) / rows;
  if (stride < length) {
    throw std::runtime_error(path + " has " + std::to_string(tokens.size()) + " words, but " +
                             std::to_string(rows * length + 1) + " are needed");
  }
  std::vector<Batch> batches;
  for (int64_t i = 0; i < count; ++i) {
    std::vector<int64_t> input;
    std::vector<int64_t> target;
    for (int64_t row = i * size; row < (i + 1) * size; ++row) {
      const auto first = tokens.begin() + row * stride;
      input.insert(input.end(), first, first + length);
      target.insert(target.end(), first + 1, first + length + 1);
    }
    batches.push_back({uncounted(ebb::tensor(input).view({size, length})),
                       uncounted(ebb::tensor(target).view({size, length}))});
  }
  return batches;
}

}  // namespace tour
