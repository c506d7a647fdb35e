// One launcher of the C interface, used by many threads at once; each keeps its own last error.

#include <relaunch/relaunch.h>

#include <array>

#include "tests/unit/threads.hpp"

namespace {

using namespace relaunch_threads_test;

constexpr std::string_view kText = "x: *fp32, n: i32, BLOCK: constexpr, f: fp64";

relaunch_launcher* bind() {
  relaunch_tree* tree = nullptr;
  if (relaunch_parse(kText.data(), kText.size(), &tree) != RELAUNCH_OK) return nullptr;
  relaunch_options options{};
  options.size = sizeof options;
  options.dialect = "triton-3.6-cuda";
  options.driver = kCuda;
  options.function = reinterpret_cast<void*>(0xf00);
  relaunch_launcher* launcher = nullptr;
  relaunch_bind(tree, &options, &launcher);
  relaunch_tree_free(tree);
  return launcher;
}

relaunch_launch_config config(std::uint32_t thread, std::uint32_t launch) {
  relaunch_launch_config where{};
  where.size = sizeof where;
  where.grid[0] = thread + 1;
  where.grid[1] = launch + 1;
  where.grid[2] = 1;
  where.stream = reinterpret_cast<void*>(stream(thread));
  return where;
}

relaunch_status launch_once(const relaunch_launcher* launcher, std::uint32_t thread,
                            std::uint32_t launch) {
  Arguments own(thread, launch);
  const relaunch_launch_config where = config(thread, launch);
  if (launch % 2 == 0) {
    void* arguments[] = {&own.x, &own.n, &own.f};
    return relaunch_launch(launcher, &where, arguments, 3);
  }
  alignas(8) std::byte packed[24] = {};
  std::memcpy(packed, &own.x, sizeof own.x);
  std::memcpy(packed + 8, &own.n, sizeof own.n);
  std::memcpy(packed + 16, &own.f, sizeof own.f);
  return relaunch_launch_packed(launcher, &where, packed, sizeof packed);
}

/// A launch that the thread's own mistake stops: a dimension only it gives.
bool fails_for_itself(const relaunch_launcher* launcher, std::uint32_t thread) {
  relaunch_launch_config where = config(thread, 0);
  where.grid[1] = 0x80000000U + thread;
  Arguments own(thread, 0);
  void* arguments[] = {&own.x, &own.n, &own.f};
  if (relaunch_launch(launcher, &where, arguments, 3) != RELAUNCH_ERROR_GRID) return false;
  std::this_thread::yield();
  relaunch_error error{};
  error.size = sizeof error;
  if (relaunch_last_error(&error) != RELAUNCH_OK) return false;
  return std::string_view(error.message)
      .ends_with("expected at most 2147483647 blocks, got " + std::to_string(where.grid[1]));
}

TEST_F(Threads, OneLauncherOfTheCInterface) {
  relaunch_launcher* launcher = bind();
  ASSERT_NE(launcher, nullptr);
  std::array<std::uint32_t, kThreads> failures{};
  in_threads([&](std::uint32_t thread) {
    if (relaunch_ensure_context(launcher) != RELAUNCH_OK) ++failures[thread];
    for (std::uint32_t launch = 0; launch < kLaunches; ++launch) {
      if (launch_once(launcher, thread, launch) != RELAUNCH_OK) ++failures[thread];
      if (launch % 16 == 0 && !fails_for_itself(launcher, thread)) ++failures[thread];
    }
  });
  EXPECT_EQ(failures, (std::array<std::uint32_t, kThreads>{}));
  expect_every_launch();
  relaunch_launcher_free(launcher);
}

TEST_F(Threads, EachBindsItsOwn) {
  std::array<std::uint32_t, kThreads> failures{};
  in_threads([&](std::uint32_t thread) {
    for (std::uint32_t launch = 0; launch < kLaunches; ++launch) {
      relaunch_launcher* launcher = bind();
      if (relaunch_ensure_context(launcher) != RELAUNCH_OK) ++failures[thread];
      if (launch_once(launcher, thread, launch) != RELAUNCH_OK) ++failures[thread];
      relaunch_launcher_free(launcher);
    }
  });
  EXPECT_EQ(failures, (std::array<std::uint32_t, kThreads>{}));
  expect_every_launch();
}

}  // namespace
