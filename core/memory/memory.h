#pragma once

// All that a program needs of ebb::memory.
#include <ebb/core/memory/block.h>          // IWYU pragma: export
#include <ebb/core/memory/category.h>       // IWYU pragma: export
#include <ebb/core/memory/growth_monitor.h>  // IWYU pragma: export
#include <ebb/core/memory/history.h>        // IWYU pragma: export
#include <ebb/core/memory/input_guard.h>    // IWYU pragma: export
#include <ebb/core/memory/leak_check.h>     // IWYU pragma: export
#include <ebb/core/memory/limits.h>         // IWYU pragma: export
#include <ebb/core/memory/out_of_memory.h>  // IWYU pragma: export
#include <ebb/core/memory/page.h>           // IWYU pragma: export
#include <ebb/core/memory/pool.h>           // IWYU pragma: export
#include <ebb/core/memory/registry.h>       // IWYU pragma: export
#include <ebb/core/memory/scope.h>          // IWYU pragma: export
#include <ebb/core/memory/size_policy.h>    // IWYU pragma: export
#include <ebb/core/memory/snapshot.h>       // IWYU pragma: export
#include <ebb/core/memory/source.h>         // IWYU pragma: export
#include <ebb/core/memory/statistics.h>     // IWYU pragma: export
