// Plans: layout, steps, and what is refused.

#include "precompiled/core/plan.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace relaunch {
namespace {

const Dialect& cuda() { return *find_dialect("triton-3.6-cuda"); }
const Dialect& hip() { return *find_dialect("triton-3.6-hip"); }

PyKernelArg kernel(std::string type, std::string name = "") {
  PyKernelArg node;
  node.dtype = std::move(type);
  node.name = std::move(name);
  if (node.dtype == "constexpr") {
    node.type = ArgKind::ARG_CONSTEXPR;
    node.dtype.clear();
  }
  return node;
}

PyKernelArg tuple(std::vector<PyKernelArg> items) {
  PyKernelArg node;
  node.type = ArgKind::ARG_TUPLE;
  node.nested_tuple = std::move(items);
  return node;
}

Tree tree(std::vector<PyKernelArg> parameters) { return {"", std::move(parameters)}; }

std::vector<std::uint32_t> offsets(const Plan& plan) {
  std::vector<std::uint32_t> out;
  for (const Parameter& parameter : plan.parameters) out.push_back(parameter.offset);
  return out;
}

std::vector<Op> ops(const std::vector<Step>& steps) {
  std::vector<Op> out;
  for (const Step& step : steps) out.push_back(step.op);
  EXPECT_EQ(out.back(), Op::end);
  out.pop_back();
  return out;
}

std::string refusal(const Tree& what, const Dialect& dialect, const PlanOptions& options = {}) {
  try {
    make_plan(what, dialect, options);
  } catch (const BindError& error) {
    return error.what();
  }
  return "accepted";
}

TEST(Plan, KernelLayout) {
  const Plan plan =
      make_plan(tree({kernel("i8"), kernel("constexpr"), kernel("i16"), kernel("*fp32"),
                      kernel("i1"), kernel("nvTmaDesc"), kernel("u1"), kernel("fp64")}),
                cuda(), {});
  EXPECT_EQ(plan.arguments, 8U);
  EXPECT_EQ(plan.leaves.size(), 8U);
  EXPECT_EQ(plan.items, 0U);
  // i8, i16, pointer, i1, map (64-aligned), u1, fp64, two hidden pointers
  EXPECT_EQ(offsets(plan), (std::vector<std::uint32_t>{0, 2, 8, 16, 64, 192, 200, 208, 216}));
  EXPECT_EQ(plan.parameter_bytes, 224U);
  EXPECT_EQ(plan.parameters[4].slot_offset % 64, 0U);
  EXPECT_EQ(plan.slot_bytes % kSlotAlignment, 0U);
  EXPECT_EQ(plan.parameters.back().leaf, kNoLeaf);
  EXPECT_EQ(plan.parameters.back().name, "profile_scratch");
}

TEST(Plan, SlotsDoNotOverlap) {
  std::vector<PyKernelArg> all;
  for (const TypeInfo& type : kTypes) {
    const bool is_parameter = type.size > 0 && type.type != Type::pointer;
    if (is_parameter && type.type != Type::tdm_desc) all.push_back(kernel(std::string(type.name)));
  }
  const Plan plan = make_plan(tree(all), cuda(), {});
  std::uint32_t end = 0;
  for (const Parameter& parameter : plan.parameters) {
    EXPECT_GE(parameter.slot_offset, end);
    EXPECT_EQ(parameter.slot_offset % parameter.alignment, 0U);
    EXPECT_EQ(parameter.offset % parameter.alignment, 0U);
    // An fp16 writes four bytes: its overflow note lies behind it.
    end = parameter.slot_offset + std::max(parameter.slot_size, 4U);
  }
  EXPECT_LE(end, plan.slot_bytes);
}

TEST(Plan, CudaTakesInPointersFirst) {
  const Tree what = tree({kernel("nvTmaDesc"), kernel("fp16"), kernel("*i8"), kernel("i32")});
  PlanOptions options;
  options.profile_scratch = true;
  const Plan plan = make_plan(what, cuda(), options);
  EXPECT_EQ(ops(plan.parse), (std::vector<Op>{Op::fp16, Op::i32}));
  EXPECT_EQ(ops(plan.intake),
            (std::vector<Op>{Op::null, Op::hidden, Op::pointer, Op::nv_tma_desc, Op::check_half}));
}

TEST(Plan, HipTakesInDescriptorsFirst) {
  const Tree what = tree({kernel("*i8"), kernel("fp16"), kernel("tensordesc<fp16[8]>")});
  PlanOptions options;
  options.descriptor_metas = {true};
  options.global_scratch = true;  // HIP has no use for it
  const Plan plan = make_plan(what, hip(), options);
  EXPECT_EQ(ops(plan.intake),
            (std::vector<Op>{Op::null, Op::null, Op::tdm_desc, Op::pointer, Op::check_half}));
  EXPECT_EQ(plan.arguments, 5U);
  EXPECT_EQ(plan.parameters[2].size, 48U);
}

TEST(Plan, TuplesInSteps) {
  const Plan plan = make_plan(
      tree({kernel("i32"), tuple({kernel("constexpr"), tuple({kernel("u8")})}), tuple({})}), cuda(),
      {});
  EXPECT_EQ(plan.arguments, 3U);
  EXPECT_EQ(plan.values, 6U);
  EXPECT_EQ(plan.items, 3U);
  EXPECT_EQ(ops(plan.parse), (std::vector<Op>{Op::i32, Op::open, Op::item, Op::item, Op::open,
                                              Op::item, Op::u8, Op::open}));
  const Step& inner = plan.parse[4];
  EXPECT_EQ(inner.source, 4U);  // arguments 0 to 2, then the outer tuple's items 3 and 4
  EXPECT_EQ(inner.extra, 1U);
  EXPECT_EQ(plan.signature, "i32, (constexpr, (u8,)), ()");
}

TEST(Plan, ExpandedDescriptors) {
  const Plan plan =
      make_plan(tree({kernel("tensordesc<fp16[64, 64]>", "d"), kernel("i32")}), cuda(), {});
  EXPECT_EQ(plan.arguments, 11U);
  EXPECT_EQ(plan.leaves[0].type, "*fp16");
  EXPECT_EQ(plan.leaves[0].name, "d");
  EXPECT_EQ(plan.signature, "tensordesc<fp16[64, 64]>, i32");
}

TEST(Plan, StrictAndRounding) {
  const Tree what = tree({kernel("u1"), kernel("u8"), kernel("u16"), kernel("u32"), kernel("u64"),
                          kernel("i8"), kernel("bf16")});
  PlanOptions options;
  EXPECT_EQ(ops(make_plan(what, cuda(), options).parse),
            (std::vector<Op>{Op::u1, Op::u8, Op::u16, Op::u32, Op::u64, Op::i8, Op::bf16}));
  options.strict = true;
  options.round_bf16 = true;
  EXPECT_EQ(ops(make_plan(what, cuda(), options).parse),
            (std::vector<Op>{Op::checked_u1, Op::checked_u8, Op::checked_u16, Op::checked_u32,
                             Op::checked_u64, Op::i8, Op::rounded_bf16}));
}

TEST(Plan, Refusals) {
  EXPECT_EQ(refusal(tree({kernel("i32"), kernel("foo", "x")}), cuda()),
            "parameter 2 'x' of (i32, foo): unknown type 'foo'");
  EXPECT_EQ(refusal(tree({kernel("fp8e5")}), cuda()),
            "parameter 1 of (fp8e5): 'fp8e5' can only be pointed to: '*fp8e5'");
  EXPECT_EQ(refusal(tree({kernel("void")}), hip()),
            "parameter 1 of (void): 'void' can only be pointed to: '*void'");
  EXPECT_EQ(refusal(tree({kernel("")}), cuda()), "parameter 1 of (): it has no type");
  EXPECT_EQ(refusal(tree({kernel("nvTmaDesc")}), hip()),
            "parameter 1 of (nvTmaDesc): triton-3.6-hip has no type 'nvTmaDesc'");
  EXPECT_EQ(refusal(tree({kernel("tensordesc")}), cuda()),
            "parameter 1 of (tensordesc): triton-3.6-cuda has no type 'tensordesc'");
  EXPECT_EQ(refusal(tree({tuple({kernel("tensordesc<i8[4]>", "t")})}), cuda()),
            "parameter 1 't' of ((tensordesc<i8[4]>,)): triton-3.6-cuda expands no descriptors "
            "inside tuples; Triton does from 3.8 on");
  EXPECT_EQ(
      refusal(tree({kernel("tensordesc<i8[4]>")}), cuda(), {.descriptor_metas = {true, true}}),
      "tensordesc_meta has 2 entries for the 1 descriptors of (tensordesc<i8[4]>)");
}

TEST(Plan, NestingLimit) {
  PyKernelArg node = kernel("i8");
  for (std::size_t i = 0; i < kMaxTupleDepth; ++i) node = tuple({node});
  EXPECT_EQ(refusal(tree({node}), cuda()), "accepted");
  node = tuple({node});
  EXPECT_TRUE(refusal(tree({node}), cuda()).ends_with(": tuples nested deeper than 256"));
}

TEST(Plan, ParameterLimit) {
  // 5,000 i32 fit; so do 4,093 pointers with the two hidden ones, and one more does not.
  EXPECT_EQ(refusal(tree(std::vector<PyKernelArg>(5000, kernel("i32"))), cuda()), "accepted");
  EXPECT_EQ(refusal(tree(std::vector<PyKernelArg>(4093, kernel("*i8"))), cuda()), "accepted");
  const std::string text =
      refusal(tree(std::vector<PyKernelArg>(4096, kernel("*i8", "p"))), cuda());
  EXPECT_TRUE(text.starts_with("parameter 4096 'p' of (*i8, *i8, ")) << text;
  EXPECT_TRUE(
      text.ends_with("...): it ends at byte 32768 of the kernel's parameters; the driver "
                     "takes 32764"))
      << text;
  EXPECT_LT(text.size(), 400U);
}

TEST(Plan, LongSignaturesAreShortened) {
  const Plan plan = make_plan(tree(std::vector<PyKernelArg>(100, kernel("i32"))), cuda(), {});
  const std::string text = call_text("add", plan);
  EXPECT_TRUE(text.starts_with("add(i32, i32, "));
  EXPECT_TRUE(text.ends_with("...)"));
  EXPECT_LT(text.size(), 200U);
}

TEST(Plan, WideSlots) {
  const Tree what =
      tree({kernel("i1"), kernel("fp16"), kernel("u1"), kernel("bf16"), kernel("i8")});
  const auto slots = [&what](const char* dialect) {
    std::vector<std::uint32_t> sizes;
    for (const Parameter& parameter : make_plan(what, *find_dialect(dialect), {}).parameters) {
      if (parameter.leaf != kNoLeaf) sizes.push_back(parameter.slot_size);
    }
    return sizes;
  };
  using Sizes = std::vector<std::uint32_t>;
  EXPECT_EQ(slots("triton-3.0-hip"), (Sizes{4, 4, 4, 4, 1}));
  EXPECT_EQ(slots("triton-3.3-cuda"), (Sizes{4, 4, 4, 4, 1}));
  EXPECT_EQ(slots("triton-3.4-cuda"), (Sizes{4, 2, 4, 2, 1}));
  EXPECT_EQ(slots("triton-3.5-hip"), (Sizes{1, 2, 1, 2, 1}));
  EXPECT_EQ(slots("triton-3.9-cuda"), (Sizes{4, 2, 4, 2, 1}));
  // The kernel's own sizes are those of the types, whatever the slots.
  const Plan old = make_plan(what, *find_dialect("triton-3.0-cuda"), {});
  EXPECT_EQ(offsets(old), (Sizes{0, 2, 4, 6, 8}));
  EXPECT_EQ(old.parameter_bytes, 9U);
}

TEST(Plan, FoldedConstantsHaveSlotsAndNoParameters) {
  const Tree what = tree({kernel("*i8"), kernel("fp16"), kernel("*fp32"), kernel("i64")});
  const Plan plan = make_plan(what, *find_dialect("triton-3.2-cuda"), {.constants = {2, 1, 2}});
  EXPECT_EQ(plan.arguments, 4U);
  ASSERT_EQ(plan.parameters.size(), 2U);
  EXPECT_EQ(plan.parameters[1].type, Type::i64);
  EXPECT_EQ(offsets(plan), (std::vector<std::uint32_t>{0, 8}));
  // Nothing becomes of a folded fp16, so that its overflow is nobody's concern.
  EXPECT_EQ(ops(plan.parse), (std::vector<Op>{Op::wide_fp16, Op::i64}));
  EXPECT_EQ(ops(plan.intake), (std::vector<Op>{Op::pointer, Op::pointer}));
  EXPECT_EQ(plan.slot_offsets, (std::vector<std::uint32_t>{0, 24}));
  EXPECT_EQ(
      refusal(what, *find_dialect("triton-3.0-hip"), {.constants = {4}}),
      "constants: index 4 is none of the 4 entries of (*i8, fp16, *fp32, i64), which count from 0");
  EXPECT_EQ(refusal(what, cuda(), {.constants = {0}}),
            "triton-3.6-cuda folds no constants: such entries are constexpr in its signatures");
}

TEST(Plan, EarlyChecksOfHalves) {
  const Tree what = tree({kernel("fp16"), kernel("*i8"), kernel("i32")});
  for (const char* name : {"triton-3.4-hip", "triton-3.5-hip"}) {
    const Plan plan = make_plan(what, *find_dialect(name), {});
    EXPECT_EQ(ops(plan.parse), (std::vector<Op>{Op::fp16, Op::i32, Op::check_half}));
    EXPECT_EQ(ops(plan.intake).back(), Op::pointer);
  }
  const Plan later = make_plan(what, *find_dialect("triton-3.6-hip"), {});
  EXPECT_EQ(ops(later.intake).back(), Op::check_half);
}

TEST(Plan, FlatOrder) {
  const Tree what = tree({kernel("fp16"), tuple({kernel("*i8"), tuple({kernel("u1")})}),
                          kernel("constexpr"), kernel("nvTmaDesc"), kernel("i64")});
  const Plan plan = make_plan(what, *find_dialect("triton-3.7-cuda"), {.global_scratch = true});
  EXPECT_TRUE(plan.flat_order);
  EXPECT_EQ(ops(plan.parse), std::vector<Op>{});
  EXPECT_EQ(ops(plan.intake), (std::vector<Op>{Op::open, Op::item, Op::item, Op::open, Op::item,
                                               Op::ranged_fp16, Op::pointer, Op::long_u1,
                                               Op::nv_tma_desc, Op::i64, Op::hidden, Op::null}));
  EXPECT_EQ(plan.tuples, 2U);
  EXPECT_EQ(plan.items, 3U);
}

TEST(Plan, EntriesThatADialectHasNot) {
  const Dialect& oldest = *find_dialect("triton-3.0-cuda");
  EXPECT_EQ(
      refusal(tree({kernel("i32"), kernel("constexpr", "N")}), oldest),
      "parameter 2 'N' of (i32, constexpr): triton-3.0-cuda has no constexpr entries: leave it "
      "out of the signature and the call");
  EXPECT_EQ(refusal(tree({tuple({kernel("i32")})}), oldest),
            "parameter 1 of ((i32,)): triton-3.0-cuda has no tuples: give each item by itself");
  EXPECT_EQ(refusal(tree({kernel("nvTmaDesc")}), oldest),
            "parameter 1 of (nvTmaDesc): triton-3.0-cuda has no type 'nvTmaDesc'");
}

}  // namespace
}  // namespace relaunch
