// One plan and one driver, used by many threads at once.

#include <array>

#include "precompiled/core/plan.hpp"
#include "precompiled/driver/driver.hpp"
#include "tests/unit/threads.hpp"

namespace relaunch {
namespace {

using namespace relaunch_threads_test;

PyKernelArg kernel(const char* type) {
  PyKernelArg node;
  node.type = ArgKind::ARG_KERNEL;
  node.dtype = type;
  return node;
}

TEST_F(Threads, OnePlanAndDriver) {
  const Dialect& dialect = *find_dialect("triton-3.6-cuda");
  const Plan plan = make_plan({{}, {kernel("*fp32"), kernel("i32"), kernel("fp64")}}, dialect, {});
  const std::optional<std::string> path = kCuda;
  const Driver& driver = Driver::open(*find_dialect("triton-3.6-cuda"), path);
  const EncodedAttributes attributes = driver.encode({}, false);
  std::array<std::uint32_t, kThreads> failures{};
  in_threads([&](std::uint32_t thread) {
    // The same driver whoever opens it.
    if (&Driver::open(*find_dialect("triton-3.6-cuda"), path) != &driver) ++failures[thread];
    for (std::uint32_t launch = 0; launch < kLaunches; ++launch) {
      const Arguments arguments(thread, launch);
      alignas(kSlotAlignment) std::byte slots[128] = {};
      std::memcpy(slots + plan.slot_offsets[0], &arguments.x, sizeof arguments.x);
      std::memcpy(slots + plan.slot_offsets[1], &arguments.n, sizeof arguments.n);
      std::memcpy(slots + plan.slot_offsets[2], &arguments.f, sizeof arguments.f);
      std::array<void*, 5> parameters{};
      for (std::size_t i = 0; i < 5; ++i) parameters[i] = slots + plan.slot_offsets[i];
      const LaunchCall call{.grid = {thread + 1, launch + 1, 1},
                            .block = 128,
                            .shared = 0,
                            .stream = stream(thread),
                            .attributes = &attributes,
                            .attribute_count = attributes.count,
                            .function = 0xf00,
                            .parameters = parameters.data()};
      if (!driver.ensure_context() || !driver.launch(call)) ++failures[thread];
    }
  });
  EXPECT_EQ(failures, (std::array<std::uint32_t, kThreads>{}));
  expect_every_launch();
}

}  // namespace
}  // namespace relaunch
