#pragma once

#include <ebb/ebb.h>
#include <ebb/testing/measure.h>

#include <cstdint>
#include <cstdlib>
#include <initializer_list>
#include <iostream>
#include <string_view>

// What the lessons share: a figure computed from shapes beside the one that was measured.

namespace lesson {

/// Bytes that a float32 tensor of these sizes counts: four an element, rounded up to 512.
inline int64_t bytes(std::initializer_list<int64_t> sizes, int64_t element_bytes = 4) {
  int64_t count = element_bytes;
  for (const int64_t size : sizes) count *= size;
  return ebb::memory::rounded(count);
}

/// Bytes allocated now.
inline int64_t allocated() { return ebb::memory::memory_allocated(); }

/// Prints both figures, and ends the program with exit code 1 if they differ.
inline void equal(std::string_view what, int64_t predicted, int64_t measured) {
  std::cout << what << ": predicted " << predicted << " bytes, measured " << measured << '\n';
  if (predicted != measured) {
    std::cerr << "the prediction is wrong\n";
    std::exit(1);
  }
}

/// A line for the reader.
inline void say(std::string_view text) { std::cout << text << '\n'; }

}  // namespace lesson
