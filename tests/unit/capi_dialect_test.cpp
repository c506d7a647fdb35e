// The C interface in dialects other than the newest legacy ones.

#include <gtest/gtest.h>
#include <relaunch/relaunch.h>

#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include "tests/unit/capi_fixture.hpp"

namespace {

using namespace relaunch_capi_test;

class CapiDialect : public Capi {
 protected:
  void choose(const std::string& dialect) {
    dialect_ = dialect;
    open(dialect.ends_with("hip") ? kHip : kCuda);
    chosen_ = options(dialect_.c_str());
  }

  std::string dialect_;
  relaunch_options chosen_{};
};

TEST_F(CapiDialect, EveryOneLaunches) {
  for (const char* release :
       {"3.0", "3.1", "3.2", "3.3", "3.4", "3.5", "3.6", "3.7", "3.8", "3.9"}) {
    for (const char* backend : {"cuda", "hip"}) {
      choose(std::string("triton-") + release + "-" + backend);
      const Launcher launcher = bound("*fp32, i1, fp16", chosen_);
      set_slots({8, 1, 2});
      std::uint64_t x = 0x1000;
      std::int32_t flag = 1;
      std::uint32_t half = 0x3C00;
      void* arguments[] = {&x, &flag, &half};
      const relaunch_launch_config where = config(2, 3, 4);
      ASSERT_EQ(relaunch_launch(launcher.get(), &where, arguments, 3), RELAUNCH_OK) << message();
      relaunch_plan plan{};
      plan.size = sizeof plan;
      ASSERT_EQ(relaunch_describe(launcher.get(), &plan), RELAUNCH_OK);
      std::vector<std::uint64_t> block(plan.packed_bytes / 8 + 1);
      std::memcpy(block.data(), &x, 8);
      std::memcpy(block.data() + 1, &flag, 4);
      std::memcpy(block.data() + 2, &half, 4);
      ASSERT_EQ(relaunch_launch_packed(launcher.get(), &where, block.data(), plan.packed_bytes),
                RELAUNCH_OK)
          << message();
      const std::string one = R"("params": ["0010000000000000", "01", "003c")";
      const std::string seen = events();
      EXPECT_NE(seen.find(one), seen.rfind(one)) << dialect_ << seen;
      EXPECT_NE(seen.find(R"("grid": [2, 3, 4])"), std::string::npos) << seen;
    }
  }
}

TEST_F(CapiDialect, OlderReleasesLaunchWithoutAttributesByThePlainFunction) {
  for (const auto& [release, function] :
       {std::pair("3.0", "cuLaunchKernel"), std::pair("3.3", "cuLaunchKernel"),
        std::pair("3.4", "cuLaunchKernelEx")}) {
    choose(std::string("triton-") + release + "-cuda");
    const Launcher launcher = bound("{}", chosen_);
    const relaunch_launch_config where = config();
    ASSERT_EQ(relaunch_launch(launcher.get(), &where, nullptr, 0), RELAUNCH_OK) << message();
    EXPECT_EQ(events().find(std::string(R"([{"call": ")") + function + "\""), 0U) << events();
  }
}

TEST_F(CapiDialect, OlderClustersScaleEveryDimension) {
  choose("triton-3.5-cuda");
  chosen_.num_ctas = 2;
  chosen_.cluster[0] = 1;
  chosen_.cluster[1] = 2;
  chosen_.cluster[2] = 1;
  const Launcher launcher = bound("{}", chosen_);
  relaunch_launch_config where = config(5, 6, 7);
  ASSERT_EQ(relaunch_launch(launcher.get(), &where, nullptr, 0), RELAUNCH_OK) << message();
  EXPECT_NE(events().find(R"("grid": [5, 12, 7])"), std::string::npos) << events();
  EXPECT_NE(events().find(R"([4, "010000000200000001000000"])"), std::string::npos) << events();
  where = config(1, 1U << 30, 1);
  EXPECT_EQ(relaunch_launch(launcher.get(), &where, nullptr, 0), RELAUNCH_ERROR_GRID);
  EXPECT_EQ(message(),
            "grid_y of add(): expected at most 2147483647 blocks, got 1073741824 times 2 CTAs");
}

TEST_F(CapiDialect, ScratchThatThereIsNot) {
  relaunch_launch_config where = config();
  where.global_scratch = 8;
  choose("triton-3.2-cuda");
  const Launcher oldest = bound("{}", chosen_);
  EXPECT_EQ(relaunch_launch(oldest.get(), &where, nullptr, 0), RELAUNCH_ERROR_ARGUMENT);
  EXPECT_EQ(message(), "triton-3.2-cuda has no global_scratch; none can be given");
  choose("triton-3.3-cuda");
  set_slots({8});
  const Launcher one = bound("{}", chosen_);
  ASSERT_EQ(relaunch_launch(one.get(), &where, nullptr, 0), RELAUNCH_OK) << message();
  EXPECT_NE(events().find(R"("params": ["0800000000000000"])"), std::string::npos) << events();
  where.profile_scratch = 8;
  EXPECT_EQ(relaunch_launch(one.get(), &where, nullptr, 0), RELAUNCH_ERROR_ARGUMENT);
  EXPECT_EQ(message(), "triton-3.3-cuda has no profile_scratch; none can be given");
}

TEST_F(CapiDialect, BothScratchPointersOfTheNewestHip) {
  choose("triton-3.9-hip");
  set_slots({4, 8, 8});
  const Launcher launcher = bound("i32", chosen_);
  relaunch_launch_config where = config();
  where.global_scratch = 8;
  where.profile_scratch = 9;
  std::int32_t n = 1;
  void* arguments[] = {&n};
  ASSERT_EQ(relaunch_launch(launcher.get(), &where, arguments, 1), RELAUNCH_OK) << message();
  EXPECT_NE(events().find(R"(["01000000", "0800000000000000", "0900000000000000"])"),
            std::string::npos)
      << events();
}

}  // namespace
