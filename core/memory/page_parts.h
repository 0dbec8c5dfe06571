#pragma once

#include <array>
#include <string>
#include <string_view>

#include <ebb/core/memory/playback.h>

namespace ebb::memory::detail {

/// Pieces of the page of write_page, as HTML.

/// With &, < , > and " written as entities.
[[nodiscard]] std::string escaped(std::string_view text);
/// std::snprintf into a string.
#if defined(__GNUC__)
[[gnu::format(printf, 1, 2)]]
#endif
[[nodiscard]] std::string
text_of(const char* format, ...);
/// "12.50 MiB", without a break.
[[nodiscard]] std::string nice(int64_t bytes);
/// "12902400" with a separator every three digits.
[[nodiscard]] std::string exact(int64_t bytes);

/// Bytes of each category.
using CategoryBytes = std::array<int64_t, kCategories>;
/// A bar of the categories one after another; one of `whole` bytes is as wide as the page.
[[nodiscard]] std::string stacked_bar(const CategoryBytes& bytes, int64_t whole);
/// Which colour is which category, of those that have bytes.
[[nodiscard]] std::string colour_keys(const CategoryBytes& bytes);

/// A stacked area of the categories over time, and a dashed line of what is reserved. `columns`
/// says into how many pieces time is cut; of each, the highest and the last moment are kept.
[[nodiscard]] std::string time_picture(const DeviceRecording& recording, const Peak& peak,
                                       int columns);
/// What was in use at the peak, by category and scope, and by op.
[[nodiscard]] std::string peak_picture(const DeviceRecording& recording, const Playback& at_peak);
/// All segments one after another in rows of equal bytes, with their blocks.
[[nodiscard]] std::string segments_picture(const Playback& at_peak);

}  // namespace ebb::memory::detail
