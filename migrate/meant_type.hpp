#pragma once
// Words that are no type and can mean only one.

#include <optional>
#include <string>
#include <string_view>

namespace relaunch::migrate {

/// The canonical type that a word can only mean: in other letters (`FP32`, `nvtmadesc`), with C's
/// star behind it (`fp32*`) or C's name (`int32_t`), as `tl.constexpr`, or with invisible
/// characters around it (a no-break space). Empty for every other word, types included.
std::optional<std::string> meant_type(std::string_view word);

}  // namespace relaunch::migrate
