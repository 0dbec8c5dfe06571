#include <ebb/core/version.h>

#define EBB_TEXT_OF(x) #x
#define EBB_TEXT(x) EBB_TEXT_OF(x)

namespace ebb {

const char* version() {
  return EBB_TEXT(EBB_VERSION_MAJOR) "." EBB_TEXT(EBB_VERSION_MINOR) "." EBB_TEXT(
      EBB_VERSION_PATCH);
}

}  // namespace ebb
