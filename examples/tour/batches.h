#pragma once

#include <string>
#include <utility>
#include <vector>

#include <ebb/ebb.h>

namespace tour {

/// Inputs and targets of one step, in memory of the host that ebb does not count.
struct Batch {
  ebb::Tensor input;
  ebb::Tensor target;
};

/// Throws if the file cannot be read: checked before the work begins.
void check_readable(const std::string& path);

/// The first `count` batches of `size` digits of MNIST in the folder `path`: images
/// [size, 1, 28, 28], classes [size].
std::vector<Batch> digit_batches(const std::string& path, int64_t count, int64_t size);

/// `count` batches of a text: tokens [size, length], and at each place the token that follows. A
/// token is a word or another visible character; the `words` - 1 most frequent have numbers of
/// their own, all others share one. Throws if the file cannot be read or is too short.
std::vector<Batch> word_batches(const std::string& path, int64_t count, int64_t size,
                                int64_t length, int64_t words);

}  // namespace tour
