// The comparison of outcomes: text in, the first difference out.
#include "differential/native/compare.hpp"

#include <gtest/gtest.h>

#include <stdexcept>
#include <string>

namespace {

using relaunch::differential::first_difference;

constexpr std::string_view kOutcome =
    R"({"error":null,"events":[{"hook":"enter"},{"attributes":[[4,"0200"]],"call":"cuLaunchKernelEx","params":["00ff",null]}]})";

TEST(Compare, EqualTexts) { EXPECT_EQ(first_difference(kOutcome, kOutcome), std::nullopt); }

TEST(Compare, NamesEventMemberIndexAndByte) {
  std::string other(kOutcome);
  other.replace(other.find("00ff"), 4, "00fe");
  EXPECT_EQ(first_difference(kOutcome, other),
            R"(event 1 (cuLaunchKernelEx): params[0]: byte 1: expected "00ff", got "00fe")");
}

TEST(Compare, NullIsFreeAmongExpectedParametersOnly) {
  std::string other(kOutcome);
  other.replace(other.find(",null]"), 6, R"(,"0102"])");
  EXPECT_EQ(first_difference(kOutcome, other), std::nullopt);
  EXPECT_EQ(first_difference(other, kOutcome),
            R"(event 1 (cuLaunchKernelEx): params[1]: expected "0102", got null)");
}

TEST(Compare, EveryTruncationIsRefusedOrDiffers) {
  for (std::size_t length = 0; length < kOutcome.size(); ++length) {
    const std::string_view part = kOutcome.substr(0, length);
    for (const bool first : {true, false}) {
      try {
        EXPECT_TRUE(first_difference(first ? part : kOutcome, first ? kOutcome : part)) << length;
      } catch (const std::invalid_argument&) {
        continue;
      }
    }
  }
}

TEST(Compare, EveryChangedByteIsRefusedOrDiffersOrIsFree) {
  for (std::size_t at = 0; at < kOutcome.size(); ++at) {
    for (const char byte : {'"', '{', '}', '[', ']', ',', ':', '\\', 'x', '0', ' '}) {
      std::string other(kOutcome);
      if (other[at] == byte) continue;
      other[at] = byte;
      try {
        if (first_difference(kOutcome, other) == std::nullopt) {
          EXPECT_GE(at, kOutcome.rfind("null")) << other;
        }
      } catch (const std::invalid_argument&) {
        continue;
      }
    }
  }
}

TEST(Compare, DepthIsBounded) {
  const std::string deep(100'000, '[');
  EXPECT_THROW(first_difference(deep, deep + " "), std::invalid_argument);
  EXPECT_THROW(first_difference("{\"a\":" + deep, "{\"a\":1}"), std::invalid_argument);
}

}  // namespace
