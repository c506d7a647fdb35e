#ifndef RELAUNCH_DIFFERENTIAL_NATIVE_COMPARE_HPP
#define RELAUNCH_DIFFERENTIAL_NATIVE_COMPARE_HPP

#include <optional>
#include <string>
#include <string_view>

namespace relaunch::differential {

/// Compares two outcomes in canonical JSON (members sorted by name) and names the first difference:
/// "event 3 (cuLaunchKernelEx): params[2]: byte 1: expected "00ff", got "0000"". A null among the
/// params of an expected event is free. nullopt where they are equal. Throws std::invalid_argument
/// for text that is not JSON.
std::optional<std::string> first_difference(std::string_view expected, std::string_view got);

}  // namespace relaunch::differential

#endif
