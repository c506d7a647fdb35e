// What the C interface refuses, in which words, and that nothing is launched then.

#include <gtest/gtest.h>
#include <relaunch/relaunch.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "tests/unit/capi_fixture.hpp"

namespace {

using namespace relaunch_capi_test;

class CapiRefusal : public Capi {};

/// The text of a bind that must fail with a status.
std::string refusal(std::string_view text, const relaunch_options& chosen,
                    relaunch_status expected = RELAUNCH_ERROR_BIND) {
  relaunch_launcher* launcher = nullptr;
  EXPECT_EQ(relaunch_bind(parse(text).get(), &chosen, &launcher), expected);
  EXPECT_EQ(launcher, nullptr);
  return message();
}

TEST_F(CapiRefusal, SignatureErrorsHaveCodeAndSpan) {
  relaunch_tree* tree = nullptr;
  constexpr std::string_view kText = "*fp32, i33";
  EXPECT_EQ(relaunch_parse(kText.data(), kText.size(), &tree), RELAUNCH_ERROR_SIGNATURE);
  EXPECT_EQ(tree, nullptr);
  const LastError error;
  EXPECT_EQ(error.status, RELAUNCH_ERROR_SIGNATURE);
  EXPECT_EQ(std::string_view(error.code).substr(0, 2), "RL");
  EXPECT_EQ(kText.substr(error.span_begin, error.span_end - error.span_begin), "i33");
  EXPECT_STRNE(error.message, "");
  EXPECT_EQ(error.driver_status, 0);

  constexpr std::string_view kQuoted = R"("*fp32, i33")";
  EXPECT_EQ(relaunch_parse(kQuoted.data(), kQuoted.size(), &tree), RELAUNCH_ERROR_SIGNATURE);
  const LastError quoted;
  EXPECT_EQ(kQuoted.substr(quoted.span_begin, quoted.span_end - quoted.span_begin), "i33");
}

TEST_F(CapiRefusal, RefusesNulls) {
  relaunch_tree* tree = nullptr;
  EXPECT_EQ(relaunch_parse(nullptr, 1, &tree), RELAUNCH_ERROR_ARGUMENT);
  EXPECT_EQ(message(), "text is null");
  EXPECT_EQ(relaunch_parse("i32", 3, nullptr), RELAUNCH_ERROR_ARGUMENT);
  EXPECT_EQ(message(), "tree is null");
  const Tree parsed = parse("i32");
  const relaunch_options chosen = options();
  relaunch_launcher* launcher = nullptr;
  EXPECT_EQ(relaunch_bind(nullptr, &chosen, &launcher), RELAUNCH_ERROR_ARGUMENT);
  EXPECT_EQ(message(), "tree is null");
  EXPECT_EQ(relaunch_bind(parsed.get(), nullptr, &launcher), RELAUNCH_ERROR_ARGUMENT);
  EXPECT_EQ(message(), "options is null");
  EXPECT_EQ(relaunch_bind(parsed.get(), &chosen, nullptr), RELAUNCH_ERROR_ARGUMENT);
  EXPECT_EQ(message(), "launcher is null");
  EXPECT_EQ(relaunch_last_error(nullptr), RELAUNCH_ERROR_ARGUMENT);
  EXPECT_EQ(relaunch_ensure_context(nullptr), RELAUNCH_ERROR_ARGUMENT);
  EXPECT_EQ(relaunch_describe(nullptr, nullptr), RELAUNCH_ERROR_ARGUMENT);
  relaunch_launcher_free(nullptr);
  relaunch_tree_free(nullptr);

  const Launcher one = bound("i32");
  const relaunch_launch_config where = config();
  std::int32_t n = 1;
  void* arguments[] = {&n};
  EXPECT_EQ(relaunch_launch(nullptr, &where, arguments, 1), RELAUNCH_ERROR_ARGUMENT);
  EXPECT_EQ(message(), "launcher is null");
  EXPECT_EQ(relaunch_launch(one.get(), nullptr, arguments, 1), RELAUNCH_ERROR_ARGUMENT);
  EXPECT_EQ(message(), "config is null");
  EXPECT_EQ(relaunch_launch(one.get(), &where, nullptr, 1), RELAUNCH_ERROR_ARGUMENT);
  EXPECT_EQ(message(), "add(i32) takes 1 arguments, got 0");
  EXPECT_EQ(relaunch_launch_packed(one.get(), &where, nullptr, 4), RELAUNCH_ERROR_ARGUMENT);
  EXPECT_EQ(message(), "add(i32) takes 4 packed bytes, got 0");
  EXPECT_EQ(events(), "[]");
}

TEST_F(CapiRefusal, RefusesWrongSizesAndCounts) {
  relaunch_options chosen = options();
  chosen.size = 95;
  EXPECT_EQ(refusal("i32", chosen, RELAUNCH_ERROR_ARGUMENT),
            "options.size is 95: set it to sizeof, which is at least 96");
  const Launcher launcher = bound("i32, i32");
  std::int32_t n = 1;
  void* arguments[] = {&n, &n, &n};
  relaunch_launch_config where = config();
  for (const std::size_t count : {0, 1, 3}) {
    EXPECT_EQ(relaunch_launch(launcher.get(), &where, arguments, count), RELAUNCH_ERROR_ARGUMENT);
    EXPECT_EQ(message(), "add(i32, i32) takes 2 arguments, got " + std::to_string(count));
  }
  EXPECT_EQ(relaunch_launch_packed(launcher.get(), &where, arguments, 16), RELAUNCH_ERROR_ARGUMENT);
  EXPECT_EQ(message(), "add(i32, i32) takes 12 packed bytes, got 16");
  where.size = 0;
  EXPECT_EQ(relaunch_launch(launcher.get(), &where, arguments, 2), RELAUNCH_ERROR_ARGUMENT);
  EXPECT_EQ(message(), "config.size is 0: set it to sizeof, which is at least 48");
  relaunch_plan plan{};
  EXPECT_EQ(relaunch_describe(launcher.get(), &plan), RELAUNCH_ERROR_ARGUMENT);
  EXPECT_EQ(message(), "plan.size is 0: set it to sizeof, which is at least 48");
  EXPECT_EQ(events(), "[]");
}

TEST_F(CapiRefusal, TakesStructsOfLaterReleases) {
  struct {
    relaunch_launch_config known;
    std::uint64_t later;
  } where{config(), 0};
  where.known.size = sizeof where;
  const Launcher launcher = bound("{}");
  EXPECT_EQ(relaunch_launch(launcher.get(), &where.known, nullptr, 0), RELAUNCH_OK);
  const std::string launched = events();
  where.later = 1;
  EXPECT_EQ(relaunch_launch(launcher.get(), &where.known, nullptr, 0), RELAUNCH_ERROR_ARGUMENT);
  EXPECT_EQ(message(), "config has fields set that this library does not know");
  EXPECT_EQ(events(), launched);

  struct {
    relaunch_plan known;
    std::uint64_t later;
  } plan{{}, 5};
  plan.known.size = sizeof plan;
  EXPECT_EQ(relaunch_describe(launcher.get(), &plan.known), RELAUNCH_OK);
  EXPECT_EQ(plan.known.size, sizeof plan);
  EXPECT_EQ(plan.later, 5U);
}

TEST_F(CapiRefusal, RefusesWhatCannotBeBound) {
  relaunch_options chosen = options();
  chosen.dialect = "triton-9.9-cuda";
  EXPECT_EQ(refusal("i32", chosen).substr(0, 41), "unknown dialect 'triton-9.9-cuda'; there ");
  chosen.dialect = nullptr;
  EXPECT_EQ(refusal("i32", chosen), "options.dialect is null: name one, as triton-3.6-cuda");
  chosen = options();
  chosen.driver = "/nowhere/libcuda.so.1";
  EXPECT_EQ(refusal("i32", chosen, RELAUNCH_ERROR_LIBRARY),
            "the driver library cannot be opened: /nowhere/libcuda.so.1: cannot open shared object "
            "file: No such file or directory; install the GPU's driver, or give the path of its "
            "library");
  chosen.driver = "libm.so.6";
  EXPECT_EQ(refusal("i32", chosen, RELAUNCH_ERROR_LIBRARY),
            "libm.so.6 is not the CUDA driver: it has no cuCtxGetCurrent; give the path of its "
            "own library");
  chosen = options();
  chosen.scheduling = 9;
  EXPECT_EQ(refusal("i32", chosen), "options.scheduling: expected a relaunch_scheduling, got 9");
  chosen = options();
  chosen.num_warps = -1;
  EXPECT_EQ(refusal("i32", chosen), "num_warps must be positive, got -1");
  chosen = options();
  chosen.cluster[0] = 2;
  EXPECT_EQ(refusal("i32", chosen), "cluster=(2, 0, 0): every dimension must be positive");
  chosen = options("triton-3.6-hip");
  chosen.pdl = 1;
  EXPECT_EQ(refusal("i32", chosen), "triton-3.6-hip has no pdl");
  std::string many = "*i8";
  for (int i = 0; i < 4095; ++i) many += ", *i8";
  const std::string text = refusal(many, options());
  EXPECT_EQ(text.substr(0, 15), "parameter 4096 ");
  EXPECT_NE(text.find("it ends at byte 32768 of the kernel's parameters; the driver takes 32764"),
            std::string::npos)
      << text;
  EXPECT_EQ(events(), "[]");
}

/// A signature of that many i32; two hidden pointers come behind them.
std::string ints(std::uint32_t count) {
  std::string text = "i32";
  for (std::uint32_t i = 1; i < count; ++i) text += ", i32";
  return text;
}

TEST_F(CapiRefusal, RefusesMoreParametersThanAnOldDriverTakes) {
  const auto set_version =
      find<decltype(relaunch_recorder_driver_version)>("relaunch_recorder_driver_version");
  EXPECT_NE(bound(ints(8186)), nullptr);  // 32,760 bytes
  EXPECT_TRUE(
      refusal(ints(8187), options())
          .ends_with("it ends at byte 32768 of the kernel's parameters; the driver takes 32764"));
  set_version(12000);
  EXPECT_NE(bound(ints(1020)), nullptr);  // 4,096 bytes
  for (const auto& [count, bytes] : {std::pair{1021U, "4104"}, {8186U, "32760"}}) {
    const std::string text = refusal(ints(count), options());
    EXPECT_TRUE(text.starts_with("add(i32, i32, ")) << text;
    EXPECT_TRUE(text.ends_with("...) has " + std::string(bytes) +
                               " bytes of parameters; the driver, of CUDA 12.0, takes 4096 (32764 "
                               "since CUDA 12.1)"))
        << text;
  }
  relaunch_options hip = options("triton-3.6-hip");
  EXPECT_NE(bound(ints(8186), hip), nullptr);
  EXPECT_EQ(events(), "[]");
}

TEST_F(CapiRefusal, RefusesGridsOutOfRange) {
  relaunch_options chosen = options();
  chosen.num_ctas = 2;
  const Launcher launcher = bound("{}", chosen);
  const auto refuse = [&launcher](const relaunch_launch_config& where) {
    EXPECT_EQ(relaunch_launch(launcher.get(), &where, nullptr, 0), RELAUNCH_ERROR_GRID);
    return message();
  };
  EXPECT_EQ(refuse(config(1073741824)),
            "grid_x of add(): expected at most 2147483647 blocks, got 1073741824 times 2 CTAs");
  EXPECT_EQ(refuse(config(0, 2147483648)),
            "grid_y of add(): expected at most 2147483647 blocks, got 2147483648");
  EXPECT_EQ(refuse(config(1, 1, 4294967295)),
            "grid_z of add(): expected at most 2147483647 blocks, got 4294967295");
  EXPECT_EQ(events(), "[]");
}

TEST_F(CapiRefusal, NeedsAFunction) {
  relaunch_options chosen = options();
  chosen.function = nullptr;
  const Launcher launcher = bound("{}", chosen);
  relaunch_launch_config where = config();
  EXPECT_EQ(relaunch_launch(launcher.get(), &where, nullptr, 0), RELAUNCH_ERROR_ARGUMENT);
  EXPECT_EQ(message(),
            "add() was bound without a function: give one in the options or in the config");
  EXPECT_EQ(events(), "[]");
  where.function = reinterpret_cast<void*>(1);
  EXPECT_EQ(relaunch_launch(launcher.get(), &where, nullptr, 0), RELAUNCH_OK);
}

TEST_F(CapiRefusal, DriverErrorsAreTranslated) {
  const auto fail = find<decltype(relaunch_recorder_fail)>("relaunch_recorder_fail");
  fail("cuLaunchKernelEx", 0, 1);
  const Launcher launcher = bound("i32");
  std::int32_t n = 1;
  void* arguments[] = {&n};
  const relaunch_launch_config where = config(2);
  EXPECT_EQ(relaunch_launch(launcher.get(), &where, arguments, 1), RELAUNCH_ERROR_DRIVER);
  const LastError error;
  EXPECT_EQ(error.driver_status, 1);
  EXPECT_STREQ(error.message,
               "Triton Error [CUDA]: invalid argument (1 from cuLaunchKernelEx): add(i32), grid "
               "(2, 1, 1), block 128, shared 0");
  relaunch_options chosen = options();
  chosen.non_portable_cluster = 1;
  const Launcher wide = bound("i32", chosen);
  fail("cuFuncSetAttribute", 0, 801);
  const std::string before = events();
  EXPECT_EQ(relaunch_launch(wide.get(), &where, arguments, 1), RELAUNCH_ERROR_DRIVER);
  EXPECT_EQ(LastError().driver_status, 801);
  EXPECT_EQ(events().find("cuLaunchKernelEx", before.size()), std::string::npos);
}

TEST_F(CapiRefusal, ErrorsBelongToTheirThread) {
  EXPECT_EQ(relaunch_parse(nullptr, 0, nullptr), RELAUNCH_ERROR_ARGUMENT);
  const Launcher launcher = bound("i32");
  std::vector<std::thread> threads;
  threads.reserve(4);
  for (std::uint32_t i = 0; i < 4; ++i) {
    threads.emplace_back([&launcher, i] {
      EXPECT_EQ(LastError().status, RELAUNCH_OK);
      std::uint32_t n = i;
      void* arguments[] = {&n};
      const relaunch_launch_config where = config(i + 1);
      for (int turn = 0; turn < 100; ++turn) {
        EXPECT_EQ(relaunch_launch(launcher.get(), &where, arguments, 1), RELAUNCH_OK);
        EXPECT_EQ(relaunch_launch(launcher.get(), &where, arguments, 3 + i),
                  RELAUNCH_ERROR_ARGUMENT);
        EXPECT_EQ(message(), "add(i32) takes 1 arguments, got " + std::to_string(3 + i));
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(message(), "text is null");
}

}  // namespace
