// relaunch.hpp over the recording driver: typed launches, and arguments that do not fit.

#include <dlfcn.h>
#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <relaunch/relaunch.hpp>
#include <span>
#include <string>
#include <tuple>
#include <utility>

#include "differential/recorder/control.h"

namespace {

constexpr const char* kCuda = RELAUNCH_RECORDER_DIR "/libcuda.so.1";

struct half {
  std::uint16_t bits;
};

relaunch::launcher bound(std::string_view signature) {
  return {signature,
          {.dialect = "triton-3.6-cuda",
           .name = "add",
           .driver = kCuda,
           .function = reinterpret_cast<void*>(0xf00)}};
}

template <typename Call>
std::string refusal(const Call& call, relaunch_status status = RELAUNCH_ERROR_ARGUMENT) {
  try {
    call();
  } catch (const relaunch::error& error) {
    EXPECT_EQ(error.status(), status);
    return error.what();
  }
  return "accepted";
}

class CapiCpp : public testing::Test {
 protected:
  void SetUp() override {
    library_ = dlopen(kCuda, RTLD_NOW);
    ASSERT_NE(library_, nullptr) << dlerror();
    find<decltype(relaunch_recorder_reset)>("relaunch_recorder_reset")();
  }
  template <typename Function>
  Function* find(const char* name) const {
    return reinterpret_cast<Function*>(dlsym(library_, name));
  }
  void set_slots(std::initializer_list<std::uint32_t> bytes) const {
    find<decltype(relaunch_recorder_set_slots)>("relaunch_recorder_set_slots")(bytes.begin(),
                                                                               bytes.size());
  }
  /// The parameters of the only launch.
  std::string parameters() const {
    const std::string text = find<const char*()>("relaunch_recorder_events")();
    const std::size_t at = text.find("\"params\": ");
    return at == std::string::npos ? text : text.substr(at + 10);
  }

  void* library_ = nullptr;
};

TEST_F(CapiCpp, LaunchesValues) {
  const relaunch::launcher add = bound("*fp32, *fp32, *fp32, i32, i8, i1, fp16, bf16, fp32, fp64");
  set_slots({8, 8, 8, 4, 1, 1, 2, 2, 4, 8});
  auto* x = reinterpret_cast<float*>(0x10);
  const std::uint64_t address = 0x20;  // as a CUdeviceptr
  const std::span out(reinterpret_cast<float*>(0x30), 5);
  add({2}, nullptr, x, address, out, -1, std::int8_t{-2}, true, half{0x3c00}, half{0x3f80}, 1.0F,
      1.0);
  EXPECT_EQ(parameters(),
            R"(["1000000000000000", "2000000000000000", "3000000000000000", "ffffffff", "fe", )"
            R"("01", "003c", "803f", "0000803f", "000000000000f03f"]}])");
}

TEST_F(CapiCpp, TakesTuplesApart) {
  const relaunch::launcher add = bound("(i32, (*i8, i64, i64)), *i8");
  set_slots({4, 8, 8, 8, 8});
  const std::array<std::int64_t, 2> strides = {3, 4};
  add.launch({.grid = {1, 2, 3}, .global_scratch = 9}, std::tuple{1, std::pair{nullptr, strides}},
             nullptr);
  EXPECT_EQ(parameters(),
            R"(["01000000", "0000000000000000", "0300000000000000", "0400000000000000", )"
            R"("0000000000000000"]}])");
}

TEST_F(CapiCpp, LaunchesWithoutArguments) {
  const relaunch::launcher add = bound("{}");
  set_slots({8, 8});
  add({1, 1, 1}, nullptr);
  EXPECT_EQ(parameters(), R"(["0000000000000000", "0000000000000000"]}])");
}

TEST_F(CapiCpp, RefusesWrongTypes) {
  const relaunch::launcher add = bound("x: *fp32, N: constexpr, n: i32, fp32, fp16");
  float* x = nullptr;
  const auto with = [&](auto... arguments) {
    return refusal([&] { add({1}, nullptr, arguments...); });
  };
  const half h{};
  const std::string call = " of add(*fp32, constexpr, i32, fp32, fp16): expected ";
  EXPECT_EQ(with(x, std::int64_t{1}, 1.0F, h),
            "argument 3 'n'" + call + "i32, got an integer of 8 bytes");
  EXPECT_EQ(with(x, 1.0F, 1.0F, h),
            "argument 3 'n'" + call + "i32, got a floating-point number of 4 bytes");
  EXPECT_EQ(with(x, x, 1.0F, h), "argument 3 'n'" + call + "i32, got a pointer of 8 bytes");
  EXPECT_EQ(with(1, 1, 1.0F, h), "argument 1 'x'" + call + "*fp32, got an integer of 4 bytes");
  EXPECT_EQ(with(std::int64_t{1}, 1, 1.0F, h),
            "argument 1 'x'" + call + "*fp32, got an integer of 8 bytes");
  EXPECT_EQ(with(x, 1, 1.0, h),
            "argument 4" + call + "fp32, got a floating-point number of 8 bytes");
  EXPECT_EQ(with(x, 1, 1.0F, std::uint16_t{1}),
            "argument 5" + call + "fp16, got an unsigned integer of 2 bytes");
  EXPECT_EQ(with(x, 1, half{}, h), "argument 4" + call + "fp32, got an object of 2 bytes");
  EXPECT_EQ(with(x, 1, 1.0F), "add(*fp32, constexpr, i32, fp32, fp16) takes 4 arguments, got 3");
  EXPECT_EQ(parameters(), "[]");
  EXPECT_EQ(with(x, 1, 1.0F, h), "accepted");
  EXPECT_EQ(with(x, 1, 1.0F), "add(*fp32, constexpr, i32, fp32, fp16) takes 4 arguments, got 3");
}

TEST_F(CapiCpp, PointersAndPackedValues) {
  const relaunch::launcher add = bound("i32, i32");
  set_slots({4, 4});
  std::int32_t n = 1;
  std::int32_t m = 2;
  void* pointers[] = {&n, &m};
  add.launch_pointers({}, pointers);
  EXPECT_EQ(parameters(), R"(["01000000", "02000000"]}])");
  find<decltype(relaunch_recorder_reset)>("relaunch_recorder_reset")();
  set_slots({4, 4});
  const std::int32_t packed[] = {3, 0, 4};
  add.launch_packed({}, std::as_bytes(std::span(packed)));
  EXPECT_EQ(parameters(), R"(["03000000", "04000000"]}])");
  EXPECT_EQ(add.plan().argument_count, 2U);
  EXPECT_EQ(add.parameters().size(), 4U);
  add.ensure_context();
}

TEST_F(CapiCpp, ErrorsAreExceptions) {
  try {
    const relaunch::tree tree("*fp32, i33");
    FAIL() << tree.text();
  } catch (const relaunch::error& error) {
    EXPECT_EQ(error.status(), RELAUNCH_ERROR_SIGNATURE);
    EXPECT_EQ(error.code().substr(0, 2), "RL");
    EXPECT_EQ(error.span_begin(), 7U);
    EXPECT_EQ(error.span_end(), 10U);
    EXPECT_EQ(error.driver_status(), 0);
  }
  EXPECT_EQ(refusal(
                [] {
                  relaunch::launcher(
                      "i32", {.dialect = "triton-3.6-cuda", .driver = "/nowhere", .pdl = true});
                },
                RELAUNCH_ERROR_LIBRARY)
                .substr(0, 45),
            "the driver library cannot be opened: /nowhere");
}

TEST_F(CapiCpp, HandlesMove) {
  relaunch::launcher add = bound("i32");
  const relaunch::launcher moved = std::move(add);
  moved({1}, nullptr, 1);
  EXPECT_EQ(relaunch::tree("x:*f32").text(), "x: *fp32");
}

}  // namespace
