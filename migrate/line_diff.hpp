#pragma once
// What changed between two texts of as many lines, for people and for patch(1).

#include <string>
#include <string_view>

namespace relaunch::migrate {

/// A unified diff with three lines of context; empty where the texts are equal. Both have as many
/// newlines: line N became line N. Bytes are kept as they are.
std::string unified_diff(std::string_view before, std::string_view after, std::string_view path);

}  // namespace relaunch::migrate
