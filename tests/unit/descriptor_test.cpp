// What becomes of descriptors in signatures, rule by rule and release by release.

#include "precompiled/core/descriptor.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "precompiled/core/plan.hpp"

namespace relaunch {
namespace {

using Types = std::vector<std::string>;

PyKernelArg kernel(std::string type, std::string name = "") {
  PyKernelArg node;
  node.dtype = std::move(type);
  node.name = std::move(name);
  return node;
}

PyKernelArg tuple(std::vector<PyKernelArg> items) {
  PyKernelArg node;
  node.type = ArgKind::ARG_TUPLE;
  node.nested_tuple = std::move(items);
  return node;
}

Tree tree(std::vector<PyKernelArg> nodes) { return {"", std::move(nodes)}; }

/// A dialect of 3.6 with other descriptor rules.
Dialect with_rules(const DescriptorRules& rules, const char* base = "triton-3.6-cuda") {
  Dialect dialect = *find_dialect(base);
  dialect.descriptors = rules;
  return dialect;
}

Types leaves(const Plan& plan) {
  Types out;
  for (const Leaf& leaf : plan.leaves) out.push_back(leaf.type);
  return out;
}

std::string refusal(const Tree& tree, const Dialect& dialect, const PlanOptions& options = {}) {
  try {
    make_plan(tree, dialect, options);
  } catch (const BindError& error) {
    return error.what();
  }
  return "accepted";
}

TEST(DescriptorRules, TakenApart) {
  const DescriptorType type{"fp16", 2};
  const Types none = {"*fp16", "i64", "i64", "i64", "i64", "i32", "i32", "i64", "i64"};
  const Types one = {"*fp16", "i64", "i64", "i64", "i64", "i1", "i32", "i32", "i64", "i64"};
  const Types two = {"*fp16", "i64", "i64", "i64", "i64", "i1", "i1", "i32", "i32", "i64", "i64"};
  for (const DescriptorRules& rules : {descriptors::kCuda34, descriptors::kHip34}) {
    EXPECT_EQ(expand_descriptor(rules, type, false), none);
  }
  for (const DescriptorRules& rules :
       {descriptors::kCuda35, descriptors::kHip35, descriptors::kHip36}) {
    EXPECT_EQ(expand_descriptor(rules, type, false), one);
  }
  for (const DescriptorRules& rules :
       {descriptors::kCuda37, descriptors::kCuda38, descriptors::kHip37, descriptors::kHip38}) {
    EXPECT_EQ(expand_descriptor(rules, type, false), two);
  }
}

TEST(DescriptorRules, ByValue) {
  const DescriptorType type{"fp16", 2};
  for (const DescriptorRules& rules :
       {descriptors::kCuda34, descriptors::kCuda35, descriptors::kCuda37, descriptors::kCuda38}) {
    EXPECT_EQ(expand_descriptor(rules, type, true),
              (Types{"nvTmaDesc", "i32", "i32", "i64", "i64"}));
    EXPECT_EQ(rules.bytes, 128U);
  }
  for (const DescriptorRules& rules :
       {descriptors::kHip36, descriptors::kHip37, descriptors::kHip38}) {
    EXPECT_EQ(expand_descriptor(rules, type, true),
              (Types{"tensordesc", "i32", "i32", "i64", "i64"}));
  }
  EXPECT_EQ(descriptors::kHip36.bytes, 48U);
  EXPECT_EQ(descriptors::kHip37.bytes, 80U);
  EXPECT_EQ(descriptors::kHip38.bytes, 80U);
}

TEST(DescriptorRules, BytesOfTheByValueParameter) {
  const Dialect hip = with_rules(descriptors::kHip37, "triton-3.6-hip");
  const Plan plan =
      make_plan(tree({kernel("tensordesc<i8[4]>")}), hip, {.descriptor_metas = {true}});
  EXPECT_EQ(plan.parameters[0].size, 80U);
  EXPECT_EQ(plan.parameters[0].slot_size, 80U);
  EXPECT_EQ(plan.parameters[1].slot_offset, plan.parameters[0].slot_offset + 80);
  EXPECT_EQ(make_plan(tree({kernel("tensordesc")}), hip, {}).parameters[0].size, 80U);
}

TEST(DescriptorPlan, MetadataIsEachOnesOwnUpTo37) {
  const Tree what = tree({kernel("tensordesc<i8[4]>"), kernel("i32"), kernel("tensordesc<i8[4]>")});
  const PlanOptions options{.descriptor_metas = {false, true}};
  EXPECT_EQ(
      leaves(make_plan(what, with_rules(descriptors::kCuda37), options)),
      (Types{"*i8", "i64", "i64", "i1", "i1", "i32", "i64", "i32", "nvTmaDesc", "i32", "i64"}));
  EXPECT_EQ(leaves(make_plan(what, with_rules(descriptors::kCuda38), options)),
            (Types{"nvTmaDesc", "i32", "i64", "i32", "nvTmaDesc", "i32", "i64"}));
}

TEST(DescriptorPlan, InsideTuples) {
  const Tree what = tree({tuple({kernel("i8"), tuple({kernel("tensordesc<i8[4]>", "d")})})});
  const Plan plan = make_plan(what, with_rules(descriptors::kCuda38), {.descriptor_metas = {true}});
  EXPECT_EQ(leaves(plan), (Types{"i8", "nvTmaDesc", "i32", "i64"}));
  EXPECT_EQ(plan.arguments, 1U);
  ASSERT_EQ(plan.descriptors.size(), 1U);
  EXPECT_TRUE(plan.descriptors[0].in_tuple);
  EXPECT_TRUE(plan.descriptors[0].by_value);
  EXPECT_EQ(plan.descriptors[0].parts, 3U);
  EXPECT_EQ(plan.descriptors[0].name, "d");
  EXPECT_EQ(plan.signature, "(i8, (tensordesc<i8[4]>,))");
  EXPECT_EQ(refusal(what, with_rules(descriptors::kCuda37)),
            "parameter 2 'd' of ((i8, (tensordesc<i8[4]>,))): triton-3.6-cuda expands no "
            "descriptors inside tuples; Triton does from 3.8 on");
}

TEST(DescriptorPlan, Im2colCountsItsInput) {
  const Tree what = tree({kernel("tensordesc_im2col<i8[64, 32],input_rank=3,'layout'>")});
  const Dialect newest = with_rules(descriptors::kCuda38);
  EXPECT_EQ(leaves(make_plan(what, newest, {.descriptor_metas = {true}})),
            (Types{"nvTmaDesc", "i32", "i32", "i32", "i64", "i64", "i64"}));
  EXPECT_EQ(make_plan(what, newest, {}).descriptors[0].rank, 3U);
  EXPECT_TRUE(make_plan(what, newest, {}).descriptors[0].is_im2col);
  EXPECT_EQ(refusal(what, with_rules(descriptors::kCuda37)),
            "parameter 1 of (tensordesc_im2col<i8[64, 32],input_rank=3,'layout'>): "
            "triton-3.6-cuda has no im2col descriptors; Triton has them from 3.8 on");
}

TEST(DescriptorPlan, WhereThereIsNoExpansion) {
  for (const DescriptorRules& rules : {descriptors::kNone, descriptors::kCuda32}) {
    EXPECT_EQ(refusal(tree({kernel("tensordesc<i8[4]>")}), with_rules(rules)),
              "parameter 1 of (tensordesc<i8[4]>): triton-3.6-cuda has no type "
              "'tensordesc<i8[4]>'");
  }
  EXPECT_EQ(refusal(tree({kernel("nvTmaDesc")}), with_rules(descriptors::kNone)),
            "parameter 1 of (nvTmaDesc): triton-3.6-cuda has no type 'nvTmaDesc'");
  EXPECT_EQ(refusal(tree({kernel("tensordesc<fp7[4]>")}), with_rules(descriptors::kCuda35)),
            "parameter 1 of (tensordesc<fp7[4]>): 'tensordesc<fp7[4]>' is no descriptor");
}

TEST(DescriptorPlan, MapsByAddress) {
  const auto op = [](const DescriptorRules& rules) {
    return make_plan(tree({kernel("nvTmaDesc")}), with_rules(rules), {}).intake[2].op;
  };
  EXPECT_EQ(op(descriptors::kCuda32), Op::map_address);
  EXPECT_EQ(op(descriptors::kCuda34), Op::map_address);
  EXPECT_EQ(op(descriptors::kCuda35), Op::nv_tma_desc);
  EXPECT_EQ(op(descriptors::kCuda38), Op::nv_tma_desc);
}

TEST(DescriptorPlan, NumberOfMetas) {
  const Dialect cuda = with_rules(descriptors::kCuda35);
  const Tree one = tree({kernel("tensordesc<i8[4]>")});
  EXPECT_THROW(make_plan(one, cuda, {.descriptor_metas = {true, true}}), MetaCountError);
  EXPECT_EQ(refusal(one, cuda, {.descriptor_metas = {true, true}}),
            "tensordesc_meta has 2 entries for the 1 descriptors of (tensordesc<i8[4]>)");
  EXPECT_EQ(refusal(one, with_rules(descriptors::kHip35), {.descriptor_metas = {true}}),
            "triton-3.6-cuda takes no tensordesc_meta");
}

}  // namespace
}  // namespace relaunch
