#pragma once
// Structs that cross the C interface: those of other releases are shorter or longer than ours.

#include <relaunch/relaunch.h>

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <string>

#include "capi/failure.hpp"

namespace relaunch::capi {

/// Bytes of a struct in the first release that had it.
template <typename Struct>
inline constexpr std::size_t kLeast = 0;
template <>
inline constexpr std::size_t kLeast<relaunch_error> = 48;
template <>
inline constexpr std::size_t kLeast<relaunch_options> = 96;
template <>
inline constexpr std::size_t kLeast<relaunch_plan> = 48;
template <>
inline constexpr std::size_t kLeast<relaunch_parameter> = 48;
template <>
inline constexpr std::size_t kLeast<relaunch_launch_config> = 48;

/// Throws ArgumentError for a null or a size that no release had; `what` names the struct.
template <typename Struct>
void require_struct(const Struct* given, const char* what) {
  require(given, what);
  if (given->size >= kLeast<Struct>) return;
  throw ArgumentError(std::string(what) + ".size is " + std::to_string(given->size) +
                      ": set it to sizeof, which is at least " + std::to_string(kLeast<Struct>));
}

/// The caller's struct as ours: what it lacks is zero. Throws ArgumentError where a later release's
/// fields are set.
template <typename Struct>
Struct read(const Struct* given, const char* what) {
  require_struct(given, what);
  Struct own{};
  const std::size_t size = given->size;
  std::memcpy(&own, given, std::min(size, sizeof own));
  const auto* bytes = reinterpret_cast<const char*>(given);
  const bool is_known = std::all_of(bytes + sizeof own, bytes + std::max(size, sizeof own),
                                    [](char byte) { return byte == 0; });
  if (!is_known) {
    throw ArgumentError(std::string(what) + " has fields set that this library does not know");
  }
  own.size = sizeof own;
  return own;
}

/// Copies `own` to the caller's struct as far as that reaches. Its size stays.
template <typename Struct>
void fill(Struct* given, Struct own) {
  const std::uint32_t size = given->size;
  std::memcpy(given, &own, std::min<std::size_t>(size, sizeof own));
  given->size = size;
}

}  // namespace relaunch::capi
