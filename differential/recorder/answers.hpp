#ifndef RELAUNCH_DIFFERENTIAL_RECORDER_ANSWERS_HPP
#define RELAUNCH_DIFFERENTIAL_RECORDER_ANSWERS_HPP

#include <cstdint>

namespace relaunch::recorder {

/// Status numbers that CUDA and HIP share.
inline constexpr int kInvalidValue = 1;
inline constexpr int kInvalidDevice = 101;
inline constexpr int kIllegalAddress = 700;
inline constexpr int kNotSupported = 801;

struct PointerAnswer {
  int status;
  std::uint64_t device_pointer;  // meaningless unless status is 0
};

/// The device pointer of an address, decided by bits 40 to 47 so that a test chooses the answer:
/// 0xBA invalid, 0x5E status 700, 0x91 another address, all others themselves. All ones is invalid.
inline PointerAnswer device_pointer(std::uint64_t address) {
  if (address == ~std::uint64_t{0}) return {kInvalidValue, 0};
  switch ((address >> 40U) & 0xffU) {
    case 0xba: return {kInvalidValue, 0};
    case 0x5e: return {kIllegalAddress, 0};
    case 0x91: return {0, address + 0x10000000U};
    default: return {0, address};
  }
}

/// "invalid argument" for status 1, "no error" for 0, else "error N". The text lives for ever.
const char* error_text(int status);

}  // namespace relaunch::recorder

#endif
