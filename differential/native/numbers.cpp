#include "differential/native/numbers.hpp"

#include <array>
#include <bit>
#include <string_view>

namespace relaunch::differential {

std::string hex_bytes(std::uint64_t bits, unsigned count) {
  static constexpr std::string_view kDigits = "0123456789abcdef";
  std::string text;
  for (unsigned i = 0; i < count; ++i, bits >>= 8U) {
    text += kDigits[bits >> 4U & 15U];
    text += kDigits[bits & 15U];
  }
  return text;
}

std::optional<std::uint16_t> fp16_bits(double value) {
#if PY_VERSION_HEX >= 0x030B0000
  using Byte = char;
  constexpr auto pack = PyFloat_Pack2;
#else
  using Byte = unsigned char;
  constexpr auto pack = _PyFloat_Pack2;
#endif
  std::array<Byte, 2> bytes{};
  if (pack(value, bytes.data(), 1) != 0) {
    PyErr_Clear();
    return std::nullopt;
  }
  return std::bit_cast<std::uint16_t>(bytes);
}

std::uint32_t fp32_bits(double value) {
  return std::bit_cast<std::uint32_t>(static_cast<float>(value));
}

std::uint16_t bf16_bits(double value) {
  return static_cast<std::uint16_t>(fp32_bits(value) >> 16U);
}

}  // namespace relaunch::differential
