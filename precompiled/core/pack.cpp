#include "precompiled/core/pack.hpp"

#include <bit>
#include <cmath>

namespace relaunch {
namespace {

constexpr std::uint16_t kHalfInfinity = 0x7C00;
constexpr std::uint16_t kHalfQuietNan = 0x7E00;

}  // namespace

PackedHalf pack_half(double value) noexcept {
  const auto bits = std::bit_cast<std::uint64_t>(value);
  const auto sign = static_cast<std::uint16_t>((bits >> 48) & 0x8000U);
  const double magnitude = std::fabs(value);
  if (std::isnan(value)) return {static_cast<std::uint16_t>(sign | kHalfQuietNan), false};
  if (std::isinf(value)) return {static_cast<std::uint16_t>(sign | kHalfInfinity), false};
  if (magnitude >= 65520.0) return {static_cast<std::uint16_t>(sign | kHalfInfinity), true};
  if (magnitude < 0x1p-14) {
    // Subnormal or zero: units of 2^-24. The carry into 2^-14 is the smallest normal's own pattern.
    const auto units = static_cast<std::uint16_t>(std::nearbyint(magnitude * 0x1p24));
    return {static_cast<std::uint16_t>(sign | units), false};
  }
  const std::uint64_t kept = (bits & 0x7FFF'FFFF'FFFF'FFFFULL) >> 42;
  const std::uint64_t rest = bits & ((1ULL << 42) - 1);
  const std::uint64_t half = 1ULL << 41;
  const std::uint64_t up = (rest > half || (rest == half && (kept & 1U) != 0)) ? 1 : 0;
  // The exponent bias goes from 1023 to 15; a mantissa carry rightly enters the exponent.
  return {static_cast<std::uint16_t>(sign | (kept + up - (1008ULL << 10))), false};
}

std::uint16_t truncate_bf16(double value) noexcept {
  return static_cast<std::uint16_t>(std::bit_cast<std::uint32_t>(static_cast<float>(value)) >> 16);
}

std::uint16_t round_bf16(double value) noexcept {
  const auto bits = std::bit_cast<std::uint32_t>(static_cast<float>(value));
  if (std::isnan(value)) return static_cast<std::uint16_t>((bits >> 16) | 0x40U);
  return static_cast<std::uint16_t>((bits + 0x7FFFU + ((bits >> 16) & 1U)) >> 16);
}

}  // namespace relaunch
