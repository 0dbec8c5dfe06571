#pragma once

#include <ebb/core/export.h>

/// The version of ebb, https://semver.org. The build reads it from here.
#define EBB_VERSION_MAJOR 0
#define EBB_VERSION_MINOR 1
#define EBB_VERSION_PATCH 0

namespace ebb {

/// The version of the library that is linked, as "0.1.0".
EBB_API const char* version();

}  // namespace ebb
