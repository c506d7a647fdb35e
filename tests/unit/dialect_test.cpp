// Dialects as data: names, and what the facts of the releases say.

#include "precompiled/core/dialect.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

namespace relaunch {
namespace {

TEST(Dialect, PatchNumbersAreAccepted) {
  const Dialect* cuda = find_dialect("triton-3.6-cuda");
  ASSERT_NE(cuda, nullptr);
  EXPECT_EQ(find_dialect("triton-3.6.0-cuda"), cuda);
  EXPECT_EQ(find_dialect("triton-3.6.12-cuda"), cuda);
  EXPECT_EQ(find_dialect("triton-3.6.1-hip"), find_dialect("triton-3.6-hip"));
}

TEST(Dialect, UnknownNames) {
  for (const char* name : {"", "triton", "triton-3-cuda", "triton-3.6", "triton-3.60-cuda",
                           "triton-3.6.x-cuda", "triton-3.6.-cuda", "triton-3.6.0.0-cuda",
                           "triton-3.6-rocm", "3.6-cuda", "Triton-3.6-cuda", "-", "."}) {
    EXPECT_EQ(find_dialect(name), nullptr) << name;
  }
}

TEST(Dialect, HiddenParameters) {
  const Dialect& cuda = *find_dialect("triton-3.6-cuda");
  const Dialect& hip = *find_dialect("triton-3.6-hip");
  ASSERT_EQ(cuda.hidden.parameters.size(), 2U);
  ASSERT_EQ(hip.hidden.parameters.size(), 2U);
  EXPECT_EQ(cuda.hidden.version, hip.hidden.version);
  EXPECT_EQ(cuda.hidden.parameters[0].kind, HiddenKind::global_scratch);
  EXPECT_EQ(hip.hidden.parameters[0].kind, HiddenKind::null);
  EXPECT_EQ(cuda.hidden.parameters[1].kind, HiddenKind::profile_scratch);
  EXPECT_EQ(hip.hidden.parameters[1].kind, HiddenKind::profile_scratch);
}

TEST(Dialect, ReleasesWithTheLauncherOfAnother) {
  for (const char* backend : {"cuda", "hip"}) {
    const auto find = [backend](const std::string& release) {
      return find_dialect("triton-" + release + "-" + backend);
    };
    ASSERT_NE(find("3.0"), nullptr);
    EXPECT_EQ(find("3.1"), find("3.0"));
    EXPECT_EQ(find("3.1.0"), find("3.0"));
    EXPECT_EQ(find("3.8"), find("3.9"));
    EXPECT_EQ(find("3.8.2"), find("3.9"));
    EXPECT_EQ(find("3.10"), nullptr);
    EXPECT_EQ(find("2.1"), nullptr);
  }
}

TEST(Dialect, EachIsFoundByItsNameInOrderOfRelease) {
  std::string last;
  for (const Dialect& dialect : all_dialects()) {
    EXPECT_EQ(find_dialect(dialect.name), &dialect);
    const std::string release(dialect.name.substr(0, dialect.name.rfind('-')));
    EXPECT_LE(last, release);
    last = release;
  }
  EXPECT_EQ(all_dialects().size(), 16U);
}

TEST(Dialect, UnknownNamesListTheKnownOnes) {
  const std::string text = unknown_dialect("x");
  EXPECT_TRUE(text.starts_with("unknown dialect 'x'; there are triton-3.0-cuda, triton-3.0-hip, "));
  EXPECT_TRUE(text.ends_with(", triton-3.9-cuda, triton-3.9-hip"));
}

TEST(Dialect, ConversionsAreOfTheirType) {
  for (const Dialect& dialect : all_dialects()) {
    for (const ConversionRule& rule : dialect.conversions) {
      for (const Op op : {rule.usual, rule.on_request}) {
        ASSERT_TRUE(is_scalar(op));
        EXPECT_EQ(conversion(op).type, rule.type) << dialect.name;
      }
      // An option changes values, never the width.
      EXPECT_EQ(conversion(rule.usual).bytes, conversion(rule.on_request).bytes) << dialect.name;
    }
    for (const Type type :
         {Type::i1, Type::u1, Type::i8, Type::u8, Type::i16, Type::u16, Type::i32, Type::u32,
          Type::i64, Type::u64, Type::fp16, Type::bf16, Type::fp32, Type::fp64}) {
      EXPECT_EQ(conversion(scalar_op(dialect, type)).type, type);
      EXPECT_GE(conversion(scalar_op(dialect, type)).bytes, info(type).size);
      EXPECT_EQ(conversion(scalar_op(dialect, type, true)).type, type);
    }
  }
}

TEST(Dialect, EveryIntakeTakesInEverything) {
  for (const Dialect& dialect : all_dialects()) {
    const auto has = [&dialect](IntakeStage stage) {
      return std::count(dialect.intake.begin(), dialect.intake.end(), stage) == 1;
    };
    EXPECT_TRUE(has(IntakeStage::scratch)) << dialect.name;
    EXPECT_NE(has(IntakeStage::flat_order), has(IntakeStage::pointers)) << dialect.name;
    const bool by_value = dialect.descriptors.by_value.has_value();
    if (by_value && !takes_flat_order(dialect)) {
      EXPECT_TRUE(has(IntakeStage::descriptors)) << dialect.name;
    }
  }
}

TEST(Dialect, ScratchThatNobodyCanGive) {
  EXPECT_EQ(scratch_refusal(*find_dialect("triton-3.2-cuda"), "global_scratch"),
            "triton-3.2-cuda has no global_scratch; none can be given");
  EXPECT_EQ(scratch_refusal(*find_dialect("triton-3.4-hip"), "global_scratch"),
            "triton-3.4-hip passes a null global_scratch; none can be given");
  EXPECT_EQ(scratch_refusal(*find_dialect("triton-3.4-hip"), "profile_scratch"),
            "triton-3.4-hip has no profile_scratch; none can be given");
}

}  // namespace
}  // namespace relaunch
