#pragma once

// Catch2 by one name: version 2 (Debian 12, Ubuntu 22.04) and version 3 (Ubuntu 24.04).

#if __has_include(<catch2/catch_all.hpp>)
#include <catch2/catch_all.hpp>
using Catch::Approx;
#else
#include <catch2/catch.hpp>
namespace Catch::Matchers {
/// Version 3's name for version 2's Contains.
inline auto ContainsSubstring(const std::string& text) { return Contains(text); }
}  // namespace Catch::Matchers
#if defined(CATCH_CONFIG_RUNNER)
namespace Catch {
/// Version 3's name.
using EventListenerBase = TestEventListenerBase;
}  // namespace Catch
#endif
#endif
