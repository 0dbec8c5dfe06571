#include <ebb/core/memory/category.h>

namespace ebb::memory {

const char* name(Category category) {
  constexpr const char* kNames[kCategories] = {"parameter", "buffer",   "optimizer state",
                                               "gradient",  "input",    "saved",
                                               "workspace", "temporary"};
  return kNames[static_cast<int>(category)];
}

}  // namespace ebb::memory
