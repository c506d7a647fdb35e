#pragma once
// Scalars in their kernel form: what the narrow floats do with a double.

#include <cstdint>

namespace relaunch {

struct PackedHalf {
  std::uint16_t bits;
  bool overflowed;  // finite, but beyond what rounds to the largest half; `bits` is then infinity
};

/// Round half to even, straight from the double. A NaN becomes the quiet NaN of its sign.
PackedHalf pack_half(double value) noexcept;

/// The upper half of the float nearest to `value`: truncation, as every Triton launcher does it.
std::uint16_t truncate_bf16(double value) noexcept;

/// Round half to even; a NaN stays one.
std::uint16_t round_bf16(double value) noexcept;

}  // namespace relaunch
