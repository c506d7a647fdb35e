#pragma once
// Reading from a span of bytes without ever leaving it.

#include <bit>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <string_view>

#include "precompiled/binary/error.hpp"

namespace relaunch::binary {

using Bytes = std::span<const std::byte>;

static_assert(std::endian::native == std::endian::little,
              "cubins and code objects are little-endian, and loaded as they are");

/// Throws BinaryError: `what` was expected at `offset` of a file that ends before it does.
[[noreturn]] void refuse_cut_off(Bytes bytes, std::uint64_t offset, std::uint64_t size,
                                 std::string_view what);

/// `size` bytes from `offset` on. Throws BinaryError (truncated) where they are not all there.
inline Bytes part(Bytes bytes, std::uint64_t offset, std::uint64_t size, std::string_view what) {
  if (offset > bytes.size() || size > bytes.size() - offset) {
    refuse_cut_off(bytes, offset, size, what);
  }
  return bytes.subspan(offset, size);
}

/// The little-endian number at `offset`. Throws BinaryError (truncated).
template <std::unsigned_integral T>
T load(Bytes bytes, std::uint64_t offset, std::string_view what) {
  T value{};
  std::memcpy(&value, part(bytes, offset, sizeof(T), what).data(), sizeof(T));
  return value;
}

inline std::string_view as_text(Bytes bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

/// `0x1f`.
std::string hex(std::uint64_t value);

}  // namespace relaunch::binary
