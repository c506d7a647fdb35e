#include "precompiled/binary/bytes.hpp"

#include <algorithm>

namespace relaunch::binary {

void refuse_cut_off(Bytes bytes, std::uint64_t offset, std::uint64_t size, std::string_view what) {
  throw BinaryError(
      Fault::truncated, {offset, 0}, std::string(what) + " of " + std::to_string(size) + " bytes",
      offset >= bytes.size() ? "the end at byte " + std::to_string(bytes.size())
                             : std::to_string(bytes.size() - offset) + " bytes before the end");
}

std::string hex(std::uint64_t value) {
  std::string digits;
  do {
    digits += "0123456789abcdef"[value & 15U];
    value >>= 4U;
  } while (value != 0);
  std::reverse(digits.begin(), digits.end());
  return "0x" + digits;
}

}  // namespace relaunch::binary
