// The C interface over the recording driver: what is bound and launched.

#include <gtest/gtest.h>
#include <relaunch/relaunch.h>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include "tests/unit/capi_fixture.hpp"

namespace {

using namespace relaunch_capi_test;

TEST_F(Capi, Version) { EXPECT_EQ(relaunch_abi_version(), 1U); }

TEST_F(Capi, LaunchesBothWays) {
  relaunch_options chosen = options();
  chosen.num_warps = 8;
  chosen.shared = 1024;
  chosen.pdl = 1;
  const Launcher launcher = bound("x: *fp32, n: i32, BLOCK: constexpr, (i8, fp64)", chosen);
  set_slots({8, 4, 1, 8, 8, 8});
  relaunch_launch_config where = config(2, 3, 4);
  where.stream = reinterpret_cast<void*>(0x57);
  where.profile_scratch = 0x99;
  std::uint64_t x = 0x1122334455667788;
  std::int32_t n = -2;
  std::int8_t small = 5;
  double number = 1.0;
  void* arguments[] = {&x, &n, &small, &number};
  ASSERT_EQ(relaunch_launch(launcher.get(), &where, arguments, 4), RELAUNCH_OK);

  alignas(8) std::byte packed[32] = {};
  std::memcpy(packed, &x, 8);
  std::memcpy(packed + 8, &n, 4);
  std::memcpy(packed + 16, &small, 1);
  std::memcpy(packed + 24, &number, 8);
  ASSERT_EQ(relaunch_launch_packed(launcher.get(), &where, packed, sizeof packed), RELAUNCH_OK);
  const std::string event =
      R"({"call": "cuLaunchKernelEx", "grid": [2, 3, 4], "block": [256, 1, 1], "shared": 1024, )"
      R"("stream": "0x57", "function": "0xf00", "gil_held": 0, "attributes": [[6, "01000000"]], )"
      R"("params": ["8877665544332211", "feffffff", "05", "000000000000f03f", )"
      R"("0000000000000000", "9900000000000000"]})";
  EXPECT_EQ(events(), "[" + event + "," + event + "]");
}

TEST_F(Capi, LaunchesManyParameters) {
  std::string text = "i32";
  constexpr std::uint32_t kCount = 300;
  std::vector<std::uint32_t> values(kCount);
  std::vector<void*> arguments;
  for (std::uint32_t i = 0; i < kCount; ++i) {
    if (i > 0) text += ", i32";
    values[i] = 0;
    arguments.push_back(&values[i]);
  }
  const Launcher launcher = bound(text);
  set_slots({4});
  const relaunch_launch_config where = config();
  ASSERT_EQ(relaunch_launch(launcher.get(), &where, arguments.data(), kCount), RELAUNCH_OK);
  std::vector<std::uint64_t> packed(kCount);
  relaunch_plan plan{};
  plan.size = sizeof plan;
  ASSERT_EQ(relaunch_describe(launcher.get(), &plan), RELAUNCH_OK);
  EXPECT_EQ(plan.packed_bytes, kCount * 8 - 4);
  ASSERT_EQ(relaunch_launch_packed(launcher.get(), &where, packed.data(), plan.packed_bytes),
            RELAUNCH_OK);
  const std::string event =
      R"({"call": "cuLaunchKernelEx", "grid": [1, 1, 1], "block": [128, 1, 1], "shared": 0, )"
      R"("stream": "0x0", "function": "0xf00", "gil_held": 0, "attributes": [], )"
      R"("params": ["00000000"]})";
  EXPECT_EQ(events(), "[" + event + "," + event + "]");
}

TEST_F(Capi, ClustersAndNonPortableSizes) {
  relaunch_options chosen = options();
  chosen.num_ctas = 16;
  const Launcher launcher = bound("i32", chosen);
  std::int32_t n = 1;
  void* arguments[] = {&n};
  relaunch_launch_config where = config(3);
  where.function = reinterpret_cast<void*>(0xbee);
  set_slots({4, 8, 8});
  ASSERT_EQ(relaunch_launch(launcher.get(), &where, arguments, 1), RELAUNCH_OK);
  EXPECT_EQ(
      events(),
      R"([{"call": "cuFuncSetAttribute", "args": ["bee", "14", "1"]},)"
      R"({"call": "cuLaunchKernelEx", "grid": [48, 1, 1], "block": [128, 1, 1], "shared": 0, )"
      R"("stream": "0x0", "function": "0xbee", "gil_held": 0, )"
      R"("attributes": [[4, "100000000100000001000000"], [5, "01000000"]], )"
      R"("params": ["01000000", "0000000000000000", "0000000000000000"]}])");
}

TEST_F(Capi, LaunchesOnHip) {
  open(kHip);
  const Launcher launcher = bound("*fp32", options("triton-3.6-hip"));
  set_slots({8, 8, 8});
  std::uint64_t x = 1;
  void* arguments[] = {&x};
  relaunch_launch_config where = config(2);
  where.profile_scratch = 7;
  ASSERT_EQ(relaunch_launch(launcher.get(), &where, arguments, 1), RELAUNCH_OK);
  EXPECT_EQ(events(),
            R"([{"call": "hipModuleLaunchKernel", "grid": [2, 1, 1], "block": [256, 1, 1], )"
            R"("shared": 0, "stream": "0x0", "function": "0xf00", "gil_held": 0, )"
            R"("attributes": [], "params": ["0100000000000000", "0000000000000000", )"
            R"("0700000000000000"]}])");
  where.global_scratch = 8;
  EXPECT_EQ(relaunch_launch(launcher.get(), &where, arguments, 1), RELAUNCH_ERROR_ARGUMENT);
  EXPECT_EQ(message(), "triton-3.6-hip passes a null global_scratch; none can be given");
}

TEST_F(Capi, EmptyGridLaunchesNothing) {
  const Launcher launcher = bound("{}");
  for (const auto& where : {config(0), config(1, 0), config(1, 1, 0)}) {
    EXPECT_EQ(relaunch_launch(launcher.get(), &where, nullptr, 0), RELAUNCH_OK);
  }
  EXPECT_EQ(events(), "[]");
  const relaunch_launch_config where = config(2147483647, 2147483647, 2147483647);
  EXPECT_EQ(relaunch_launch(launcher.get(), &where, nullptr, 0), RELAUNCH_OK);
  EXPECT_NE(events(), "[]");
}

TEST_F(Capi, DescribesThePlan) {
  const Launcher launcher = bound("x: *fp16, BLOCK: constexpr, (i8, n: fp64)");
  relaunch_plan plan{};
  plan.size = sizeof plan;
  ASSERT_EQ(relaunch_describe(launcher.get(), &plan), RELAUNCH_OK);
  EXPECT_STREQ(plan.dialect, "triton-3.6-cuda");
  EXPECT_STREQ(plan.name, "add");
  EXPECT_STREQ(plan.signature, "*fp16, constexpr, (i8, fp64)");
  EXPECT_EQ(plan.parameter_count, 5U);
  EXPECT_EQ(plan.argument_count, 3U);
  EXPECT_EQ(plan.packed_bytes, 24U);
  EXPECT_EQ(plan.kernel_bytes, 40U);

  std::string text;
  for (std::size_t i = 0; i < plan.parameter_count; ++i) {
    relaunch_parameter p{};
    p.size = sizeof p;
    ASSERT_EQ(relaunch_describe_parameter(launcher.get(), i, &p), RELAUNCH_OK);
    text += std::string(p.name) + " " + p.type;
    for (const std::uint32_t number : {p.hidden, p.position, p.slot_offset, p.slot_size,
                                       p.kernel_offset, p.kernel_size, p.kernel_alignment}) {
      text += " " + std::to_string(number);
    }
    text += "\n";
  }
  EXPECT_EQ(text,
            "x *fp16 0 1 0 8 0 8 8\n"
            " i8 0 3 8 1 8 1 1\n"
            "n fp64 0 4 16 8 16 8 8\n"
            "global_scratch *i8 1 0 24 8 24 8 8\n"
            "profile_scratch *i8 1 0 32 8 32 8 8\n");
  relaunch_parameter p{};
  p.size = sizeof p;
  EXPECT_EQ(relaunch_describe_parameter(launcher.get(), 5, &p), RELAUNCH_ERROR_ARGUMENT);
  EXPECT_EQ(message(), "index 5: add(*fp16, constexpr, (i8, fp64)) has 5 parameters");
}

TEST_F(Capi, TensorMapsByValue) {
  relaunch_options chosen = options();
  chosen.tensordesc_meta = 1;
  const Launcher launcher = bound("i32, tensordesc<fp16[8, 8]>", chosen);
  relaunch_parameter p{};
  p.size = sizeof p;
  ASSERT_EQ(relaunch_describe_parameter(launcher.get(), 1, &p), RELAUNCH_OK);
  EXPECT_STREQ(p.type, "nvTmaDesc");
  EXPECT_EQ(p.slot_offset, 64U);
  set_slots({4, 4, 4});
  alignas(64) std::byte packed[232] = {};
  packed[0] = std::byte{1};
  packed[64] = std::byte{2};
  packed[192] = std::byte{3};
  const relaunch_launch_config where = config();
  EXPECT_EQ(relaunch_launch_packed(launcher.get(), &where, packed, 224), RELAUNCH_OK) << message();
  EXPECT_NE(events().find(R"("params": ["01000000", "02000000", "03000000"])"), std::string::npos)
      << events();
}

TEST_F(Capi, TreesDumpTheirText) {
  EXPECT_STREQ(relaunch_tree_text(parse("{'x': '*f32', 'n': 'i32'}").get()), "x: *fp32, n: i32");
  EXPECT_EQ(relaunch_tree_text(nullptr), nullptr);
}

TEST_F(Capi, MakesAContextCurrent) {
  find<decltype(relaunch_recorder_no_context)>("relaunch_recorder_no_context")();
  const Launcher launcher = bound("{}");
  EXPECT_EQ(events(), "[]") << "binding calls no driver function";
  EXPECT_EQ(relaunch_ensure_context(launcher.get()), RELAUNCH_OK);
  EXPECT_EQ(events(), R"([{"call": "cuDevicePrimaryCtxRetain", "args": ["0"]},)"
                      R"({"call": "cuCtxSetCurrent", "args": ["c1"]}])");
  find<decltype(relaunch_recorder_no_context)>("relaunch_recorder_no_context")();
  find<decltype(relaunch_recorder_fail)>("relaunch_recorder_fail")("cuCtxSetCurrent", 0, 201);
  EXPECT_EQ(relaunch_ensure_context(launcher.get()), RELAUNCH_ERROR_DRIVER);
  EXPECT_EQ(message(),
            "Triton Error [CUDA]: error 201 (201 from cuCtxSetCurrent): add() has no context to "
            "launch in");
}

}  // namespace
