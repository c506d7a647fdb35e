// The type table: words, aliases, sizes; and the numbers that stored plans and records rely on.

#include "precompiled/core/types.hpp"

#include <gtest/gtest.h>

#include <set>
#include <string>

#include "precompiled/core/plan.hpp"

namespace relaunch {
namespace {

// Compiling this file is a test: codes and sizes are interfaces.
static_assert(static_cast<int>(Type::pointer) == 1 && static_cast<int>(Type::constexpr_) == 19);
static_assert(kTypes[static_cast<int>(Type::i1) - 1].size == 1);
static_assert(kTypes[static_cast<int>(Type::u1) - 1].size == 1);
static_assert(kTypes[static_cast<int>(Type::i16) - 1].size == 2);
static_assert(kTypes[static_cast<int>(Type::fp16) - 1].size == 2);
static_assert(kTypes[static_cast<int>(Type::bf16) - 1].size == 2);
static_assert(kTypes[static_cast<int>(Type::fp32) - 1].size == 4);
static_assert(kTypes[static_cast<int>(Type::fp64) - 1].size == 8);
static_assert(kTypes[static_cast<int>(Type::u64) - 1].size == 8);
static_assert(kTypes[static_cast<int>(Type::pointer) - 1].size == 8);
static_assert(kTypes[static_cast<int>(Type::nv_tma_desc) - 1].size == 128);
static_assert(kTypes[static_cast<int>(Type::nv_tma_desc) - 1].alignment == 64);
static_assert(kTypes[static_cast<int>(Type::tdm_desc) - 1].size == 48);
static_assert(conversion(Op::fp64).type == Type::fp64 && conversion(Op::fp64).bytes == 8);
static_assert(conversion(Op::wide_u1).type == Type::u1 && conversion(Op::wide_u1).bytes == 4);
static_assert(is_scalar(Op::ranged_fp16) && !is_scalar(Op::pointer));

TEST(Types, TableIsInOrderOfCodes) {
  int code = 1;
  for (const TypeInfo& entry : kTypes) {
    EXPECT_EQ(static_cast<int>(entry.type), code++);
    EXPECT_EQ(&info(entry.type), &entry);
  }
}

TEST(Types, EveryWordIsUsedOnce) {
  std::set<std::string> seen;
  for (const TypeInfo& entry : kTypes) {
    EXPECT_TRUE(seen.insert(std::string(entry.name)).second) << entry.name;
    std::string_view rest = entry.aliases;
    while (!rest.empty()) {
      const std::size_t blank = rest.find(' ');
      EXPECT_TRUE(seen.insert(std::string(rest.substr(0, blank))).second) << rest;
      rest = blank == std::string_view::npos ? "" : rest.substr(blank + 1);
    }
  }
}

TEST(Types, CanonicalSpelling) {
  EXPECT_EQ(canonical_type("float32"), "fp32");
  EXPECT_EQ(canonical_type("f32"), "fp32");
  EXPECT_EQ(canonical_type("half"), "fp16");
  EXPECT_EQ(canonical_type("*bfloat16"), "*bf16");
  EXPECT_EQ(canonical_type("*kfloat16"), "*kfp16");
  EXPECT_EQ(canonical_type("**i8"), "**i8");
  EXPECT_EQ(canonical_type("*fp8e4nv"), "*fp8e4nv");
  EXPECT_EQ(canonical_type("void"), "void");
  EXPECT_EQ(canonical_type("tensordesc<fp16[64, 64]>"), "tensordesc<fp16[64, 64]>");
}

TEST(Types, PlainTypesAreTheTablesWordsAlone) {
  for (const char* word : {"half", "**i8", "*kfloat16", "void", "i32"}) {
    std::string out = "before";
    EXPECT_TRUE(take_plain_type(word, out)) << word;
    EXPECT_EQ(out, canonical_type(word)) << word;
  }
  for (const char* word : {"", "*", "constexpr", "tensordesc", "tensordesc<fp16[64]>", "kfp32"}) {
    std::string out = "before";
    EXPECT_FALSE(take_plain_type(word, out)) << word;
    EXPECT_EQ(out, "before") << word;
  }
}

TEST(Types, WhatIsNoType) {
  for (const char* word :
       {"", "*", "kfp32", "* fp32", "fp7", "*constexpr", "*tensordesc", "tensordesc<fp16>",
        "tensordesc<fp16[]>", "tensordesc<fp7[8]>", "tensordesc<fp16[8,]>", "tensordesc<fp16[8]"}) {
    EXPECT_EQ(canonical_type(word), std::nullopt) << word;
  }
}

TEST(Types, FindType) {
  EXPECT_EQ(find_type("*anything"), Type::pointer);
  EXPECT_EQ(find_type("i1"), Type::i1);
  EXPECT_EQ(find_type("constexpr"), Type::constexpr_);
  EXPECT_EQ(find_type("tensordesc<i8[1, 2, 3]>"), Type::tensordesc);
  EXPECT_EQ(find_type("tensordesc"), Type::tdm_desc);
  EXPECT_EQ(find_type("fp8e5"), std::nullopt);
}

TEST(Types, Descriptors) {
  const auto descriptor = parse_descriptor("tensordesc<float16[64, 32, 1]>");
  ASSERT_TRUE(descriptor);
  EXPECT_EQ(descriptor->element, "fp16");
  EXPECT_EQ(descriptor->rank, 3U);
  EXPECT_EQ(parse_descriptor("tensordesc<i8[16],NVMMASharedLayout(a=[1, 2])>")->rank, 1U);
  EXPECT_FALSE(descriptor->is_im2col);
}

TEST(Types, Im2colDescriptors) {
  const auto rank = [](const char* text) { return parse_descriptor(text)->rank; };
  EXPECT_TRUE(parse_descriptor("tensordesc_im2col<i8[16, 8],input_rank=4>")->is_im2col);
  EXPECT_EQ(rank("tensordesc_im2col<i8[16, 8],input_rank=4>"), 4U);
  EXPECT_EQ(rank("tensordesc_im2col<i8[16, 8], input_rank=5,Layout([1, 2])>"), 5U);
  EXPECT_EQ(rank("tensordesc_im2col<i8[16, 8]>"), 2U);
  EXPECT_EQ(rank("tensordesc_im2col<i8[16, 8],input_rank=>"), 2U);
  EXPECT_EQ(rank("tensordesc_im2col<i8[16, 8],input_rank=99999999999>"), 2U);
  EXPECT_EQ(rank("tensordesc<i8[16, 8],input_rank=4>"), 2U);
}

}  // namespace
}  // namespace relaunch
