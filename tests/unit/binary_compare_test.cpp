// A plan against a kernel's own table: what fits, and how a difference is told.

#include "precompiled/binary/compare.hpp"
#include "precompiled/core/dialect.hpp"
#include "tests/unit/binary_files.hpp"

namespace relaunch::binary {
namespace {

PyKernelArg entry(const std::string& type, const std::string& name = {}) {
  PyKernelArg node;
  if (type == "constexpr") {
    node.type = ArgKind::ARG_CONSTEXPR;
  } else {
    node.dtype = type;
  }
  node.name = name;
  return node;
}

Plan plan_of(std::vector<PyKernelArg> entries, const char* dialect = "triton-3.6-cuda",
             std::vector<bool> metas = {}) {
  PlanOptions options;
  options.descriptor_metas = std::move(metas);
  return make_plan(Tree{{}, std::move(entries)}, *find_dialect(dialect), options);
}

KernelParameters only_kernel(const char* file) {
  const std::string content = example(file);
  return read_kernels(bytes_of(content)).front();
}

std::vector<PyKernelArg> add_entries(const char* last = "i32") {
  return {entry("*fp32", "x"), entry("*fp32", "y"), entry("*fp32", "out"), entry(last, "n"),
          entry("constexpr", "BLOCK")};
}

TEST(Compare, Fits) {
  const Plan plan = plan_of(add_entries());
  for (const char* file : {"add-3.6.0-sm90.cubin", "add-3.6.0-sm90.ptx"}) {
    const Comparison comparison = compare(plan, only_kernel(file));
    EXPECT_TRUE(comparison.fits()) << describe_layouts(comparison);
    EXPECT_EQ(describe_difference(comparison), "");
    EXPECT_EQ(comparison.planned_bytes, 48U);
  }
  EXPECT_TRUE(
      compare(plan_of(add_entries(), "triton-3.6-hip"), only_kernel("add-3.6.0-gfx942.hsaco"))
          .fits());
}

TEST(Compare, DescriptorsByValueOnEveryArchitecture) {
  const std::vector<PyKernelArg> entries{entry("tensordesc<fp16[64, 64]>"),
                                         entry("tensordesc<fp16[64, 64]>")};
  const Plan by_value = plan_of(entries, "triton-3.6-cuda", {true, true});
  EXPECT_TRUE(compare(by_value, only_kernel("desc_copy-3.6.0-sm90.cubin")).fits());
  EXPECT_TRUE(compare(by_value, only_kernel("desc_copy-3.6.0-sm90.ptx")).fits());
  EXPECT_FALSE(compare(plan_of(entries), only_kernel("desc_copy-3.6.0-sm90.cubin")).fits());
  EXPECT_TRUE(
      compare(plan_of(entries, "triton-3.6-hip"), only_kernel("desc_copy-3.6.0-gfx942.hsaco"))
          .fits());
}

TEST(Compare, TheBlocksBeginMovesAlignedParameters) {
  Plan plan =
      plan_of({entry("i8"), entry("*fp32"), entry("nvTmaDesc"), entry("fp16"), entry("i8")});
  plan.parameters.resize(5);  // these kernels have no hidden parameters
  for (const char* file : {"others/several-sm70.cubin", "others/several-sm100.cubin"}) {
    EXPECT_TRUE(compare(plan, only_kernel(file)).fits()) << file;
  }
  const std::string ptx = example("others/several.ptx");
  EXPECT_TRUE(compare(plan, find_kernel(read_kernels(bytes_of(ptx)), "mix")).fits());
}

/// As nvcc lays out kernels/load_tile.cu: by a cuda.h of before and after the map's alignment grew.
KernelParameters load_tile(std::uint32_t map, std::uint32_t base) {
  KernelParameters kernel;
  kernel.base = base;
  std::uint32_t offset = map;
  for (const std::uint32_t size : {128, 4, 4, 8, 8, 8, 8, 4, 4, 8, 8}) {
    kernel.parameters.push_back({"", "", offset, size, 0, false});
    offset += size;
  }
  return kernel;
}

TEST(Compare, TensorMapsOfEitherAlignment) {
  const Plan plan = plan_of(
      {entry("tensordesc<fp32[8, 16]>"), entry("*fp32"), entry("*i64"), entry("i32"), entry("i32")},
      "triton-3.6-cuda", {true});
  for (const std::uint32_t map : {48U, 112U}) {
    const Comparison comparison = compare(plan, load_tile(map, 0x210));
    EXPECT_TRUE(comparison.fits()) << describe_layouts(comparison);
    EXPECT_EQ(comparison.planned_bytes, map + 192U);
    EXPECT_TRUE(compare_anywhere(plan, load_tile(map, 0)).fits());
  }
  EXPECT_TRUE(compare_anywhere(plan, load_tile(0, 0)).fits());
  EXPECT_EQ(compare(plan, load_tile(176, 0x210)).difference, 0U);
  EXPECT_EQ(compare_anywhere(plan, load_tile(8, 0)).difference, 0U);
  EXPECT_EQ(compare_anywhere(plan, load_tile(128, 0)).difference, 0U);
}

/// As Triton 3.8 and 3.9 compile a kernel for gfx1250 with one descriptor.
KernelParameters with_tdm_descriptor(std::uint32_t size, std::uint32_t rank) {
  KernelParameters kernel;
  std::uint32_t offset = 0;
  const auto add = [&](std::uint32_t bytes) {
    offset = (offset + std::min(bytes, 8U) - 1) / std::min(bytes, 8U) * std::min(bytes, 8U);
    kernel.parameters.push_back({"", "by_value", offset, bytes, 0, false});
    offset += bytes;
  };
  add(size);
  for (std::uint32_t i = 0; i < rank; ++i) add(4);
  for (std::uint32_t i = 0; i < rank + 2; ++i) add(8);
  return kernel;
}

TEST(Compare, TdmDescriptorsOfFewDimensionsAreReadInPart) {
  const std::string shapes[] = {"8", "8, 8", "8, 8, 8", "1, 8, 8, 8", "1, 1, 8, 8, 8"};
  for (std::uint32_t rank = 1; rank <= 5; ++rank) {
    const std::string type = "tensordesc<fp16[" + shapes[rank - 1] + "]>";
    const Plan plan = plan_of({entry(type)}, "triton-3.9-hip", {true});
    for (const std::uint32_t size : {48U, 80U}) {
      EXPECT_TRUE(compare(plan, with_tdm_descriptor(size, rank)).fits()) << type << size;
      EXPECT_EQ(compare(plan, with_tdm_descriptor(size, rank + 1)).difference, rank + 1);
      EXPECT_EQ(compare(plan, with_tdm_descriptor(size, rank - 1)).difference, rank);
    }
    for (const std::uint32_t size : {32U, 64U, 96U}) {
      EXPECT_EQ(compare(plan, with_tdm_descriptor(size, rank)).difference, 0U);
    }
    EXPECT_EQ(
        compare(plan_of({entry(type)}, "triton-3.6-hip", {true}), with_tdm_descriptor(80, rank))
            .difference,
        0U);
  }
}

TEST(Compare, WhatTheRuntimeFillsIsNoneOfTheSignatures) {
  Plan plan = plan_of({entry("*i64"), entry("fp64"), entry("i8")}, "triton-3.6-hip");
  plan.parameters.resize(3);
  KernelParameters kernel = only_kernel("others/several-gfx90a-v4.hsaco");
  EXPECT_EQ(compare(plan, kernel).found.size(), 5U);
  const std::string file = example("others/several-gfx90a-v4.hsaco");
  EXPECT_TRUE(compare(plan, find_kernel(read_kernels(bytes_of(file)), "second")).fits());
}

TEST(Compare, ASizeThatDiffers) {
  const Comparison comparison =
      compare(plan_of(add_entries("i64")), only_kernel("add-3.6.0-sm90.ptx"));
  EXPECT_EQ(comparison.difference, 3U);
  EXPECT_EQ(describe_difference(comparison),
            "parameter 3 'n' (i64) has 8 bytes at offset 24 by the signature, 4 bytes at offset 24 "
            "in the "
            "kernel");
  EXPECT_EQ(
      describe_layouts(comparison),
      "       offset  size  signature                 |  offset  size  kernel\n"
      "     0      0     8  x: *fp32                  |       0     8  add_param_0: .u64.ptr\n"
      "     1      8     8  y: *fp32                  |       8     8  add_param_1: .u64.ptr\n"
      "     2     16     8  out: *fp32                |      16     8  add_param_2: .u64.ptr\n"
      ">    3     24     8  n: i64                    |      24     4  add_param_3: .u32\n"
      "     4     32     8  global_scratch (hidden)   |      32     8  add_param_4: .u64.ptr\n"
      "     5     40     8  profile_scratch (hidden)  |      40     8  add_param_5: .u64.ptr\n"
      "           48        bytes                     |      48        bytes\n");
}

TEST(Compare, AnOffsetThatDiffers) {
  std::vector<PyKernelArg> entries = add_entries();
  std::swap(entries[2], entries[3]);
  EXPECT_EQ(describe_difference(compare(plan_of(entries), only_kernel("add-3.6.0-sm90.cubin"))),
            "parameter 2 'n' (i32) has 4 bytes at offset 16 by the signature, 8 bytes at offset 16 "
            "in the "
            "kernel");
  entries = {entry("i32"), entry("*fp32"), entry("i32"), entry("i32")};
  KernelParameters packed = only_kernel("add-3.6.0-sm90.cubin");
  packed.parameters = {{"", "", 0, 4, 0, false}, {"", "", 4, 8, 0, false}};
  EXPECT_EQ(describe_difference(compare(plan_of(entries), packed)),
            "parameter 1 (*fp32) has 8 bytes at offset 8 by the signature, 8 bytes at offset 4 in "
            "the kernel");
}

TEST(Compare, ParametersThatAreMissing) {
  std::vector<PyKernelArg> entries = add_entries();
  entries.push_back(entry("*i8", "more"));
  const Comparison one_more = compare(plan_of(entries), only_kernel("add-3.6.0-gfx942.hsaco"));
  EXPECT_EQ(
      describe_difference(one_more),
      "parameter 6 'profile_scratch' (hidden) has 8 bytes at offset 48 by the signature, and the "
      "kernel has no such parameter");
  const std::string layouts = describe_layouts(one_more);
  EXPECT_NE(layouts.find(">    6     48     8  profile_scratch (hidden)  |       -     -\n"),
            std::string::npos)
      << layouts;
  EXPECT_EQ(describe_difference(compare(plan_of({}), only_kernel("add-3.6.0-sm90.cubin"))),
            "parameter 2 of the kernel, 8 bytes at offset 16, is none of the signature's");
}

}  // namespace
}  // namespace relaunch::binary
