// Narrow floats against slow definitions of their own.

#include "precompiled/core/pack.hpp"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>

namespace relaunch {
namespace {

double half_value(std::uint16_t bits) {
  const double sign = (bits & 0x8000U) != 0 ? -1.0 : 1.0;
  const int exponent = (bits >> 10) & 31;
  const int mantissa = bits & 1023;
  if (exponent == 31) return mantissa == 0 ? sign * INFINITY : NAN;
  if (exponent == 0) return sign * std::ldexp(mantissa, -24);
  return sign * std::ldexp(1024 + mantissa, exponent - 25);
}

TEST(PackHalf, EveryHalfGivesItself) {
  for (std::uint32_t bits = 0; bits < 0x10000; ++bits) {
    const double value = half_value(static_cast<std::uint16_t>(bits));
    if (std::isnan(value)) continue;
    const PackedHalf packed = pack_half(value);
    ASSERT_EQ(packed.bits, bits);
    ASSERT_FALSE(packed.overflowed);
  }
}

TEST(PackHalf, MidpointsGoToEven) {
  for (std::uint32_t bits = 0; bits < 0x7BFF; ++bits) {
    const double low = half_value(static_cast<std::uint16_t>(bits));
    const double high = half_value(static_cast<std::uint16_t>(bits + 1));
    const double middle = (low + high) / 2;
    ASSERT_EQ(pack_half(middle).bits, (bits & 1U) == 0 ? bits : bits + 1) << middle;
    ASSERT_EQ(pack_half(std::nextafter(middle, low)).bits, bits) << middle;
    ASSERT_EQ(pack_half(std::nextafter(middle, high)).bits, bits + 1) << middle;
    ASSERT_EQ(pack_half(-middle).bits, 0x8000U | ((bits & 1U) == 0 ? bits : bits + 1));
  }
}

TEST(PackHalf, Overflow) {
  EXPECT_EQ(pack_half(65504.0).bits, 0x7BFF);
  EXPECT_EQ(pack_half(std::nextafter(65520.0, 0.0)).bits, 0x7BFF);
  EXPECT_FALSE(pack_half(std::nextafter(65520.0, 0.0)).overflowed);
  EXPECT_TRUE(pack_half(65520.0).overflowed);
  EXPECT_TRUE(pack_half(-1e300).overflowed);
  EXPECT_EQ(pack_half(-1e300).bits, 0xFC00);
}

TEST(PackHalf, NothingFiniteIsLost) {
  EXPECT_EQ(pack_half(-0.0).bits, 0x8000);
  EXPECT_EQ(pack_half(INFINITY).bits, 0x7C00);
  EXPECT_FALSE(pack_half(INFINITY).overflowed);
  EXPECT_EQ(pack_half(-INFINITY).bits, 0xFC00);
  EXPECT_EQ(pack_half(NAN).bits, 0x7E00);
  EXPECT_EQ(pack_half(-NAN).bits, 0xFE00);
  EXPECT_EQ(pack_half(std::numeric_limits<double>::denorm_min()).bits, 0);
}

TEST(PackBf16, TruncatesOrRounds) {
  EXPECT_EQ(truncate_bf16(1.5), 0x3FC0);
  EXPECT_EQ(truncate_bf16(0x1.01ffp0), 0x3F80);
  EXPECT_EQ(round_bf16(0x1.01ffp0), 0x3F81);
  EXPECT_EQ(round_bf16(0x1.01p0), 0x3F80);  // a midpoint, to even
  EXPECT_EQ(round_bf16(0x1.03p0), 0x3F82);  // likewise
  EXPECT_EQ(truncate_bf16(-INFINITY), 0xFF80);
  EXPECT_EQ(round_bf16(-INFINITY), 0xFF80);
  EXPECT_EQ(round_bf16(3.4e38), 0x7F80);
  EXPECT_EQ(truncate_bf16(3.4e38), 0x7F7F);
}

TEST(PackBf16, OnlyTruncationLosesNans) {
  const double low_payload = std::bit_cast<float>(std::uint32_t{0x7FC00001});
  EXPECT_EQ(truncate_bf16(low_payload), 0x7FC0);
  EXPECT_TRUE((round_bf16(NAN) & 0x7F) != 0);
  EXPECT_EQ(round_bf16(NAN) & 0x7F80, 0x7F80);
  // Every bit of the payload set: rounding up would carry into the sign.
  EXPECT_EQ(round_bf16(std::bit_cast<double>(~std::uint64_t{0} >> 1)), 0x7FFF);
  EXPECT_EQ(round_bf16(std::bit_cast<double>(~std::uint64_t{0})), 0xFFFF);
}

}  // namespace
}  // namespace relaunch
