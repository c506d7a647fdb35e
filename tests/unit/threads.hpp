#pragma once
// What tests with threads share: the recording driver, threads that start together, and the order
// in which their launches must have been recorded.

#include <dlfcn.h>
#include <gtest/gtest.h>

#include <atomic>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "differential/recorder/control.h"

namespace relaunch_threads_test {

inline constexpr const char* kCuda = RELAUNCH_RECORDER_DIR "/libcuda.so.1";
inline constexpr std::uint32_t kThreads = 8;
inline constexpr std::uint32_t kLaunches = 200;  // of each thread

/// What launch `launch` of thread `thread` passes for `x: *fp32, n: i32, f: fp64`.
struct Arguments {
  Arguments(std::uint32_t thread, std::uint32_t launch)
      : x(0x7000000000 + (std::uint64_t{thread} << 24U) + launch),
        n(static_cast<std::int32_t>(thread * 1000 + launch)),
        f(n) {}
  std::uint64_t x;
  std::int32_t n;
  double f;
};

inline std::uint64_t stream(std::uint32_t thread) { return 0x55000 + thread; }

template <typename T>
std::string hex(T value) {
  unsigned char bytes[sizeof(T)];
  std::memcpy(bytes, &value, sizeof value);
  std::string text = "\"";
  for (const unsigned char byte : bytes) {
    text += "0123456789abcdef"[byte >> 4U];
    text += "0123456789abcdef"[byte & 15U];
  }
  return text + '"';
}

/// The record of that launch, on a grid of (thread + 1, launch + 1, 1), with four warps.
inline std::string record(std::uint32_t thread, std::uint32_t launch) {
  const Arguments arguments(thread, launch);
  return R"({"call": "cuLaunchKernelEx", "grid": [)" + std::to_string(thread + 1) + ", " +
         std::to_string(launch + 1) +
         R"(, 1], "block": [128, 1, 1], "shared": 0, "stream": "0x5500)" + std::to_string(thread) +
         R"(", "function": "0xf00", "gil_held": 0, "attributes": [], )" + R"("params": [)" +
         hex(arguments.x) + ", " + hex(arguments.n) + ", " + hex(arguments.f) + ", " +
         hex(std::uint64_t{0}) + ", " + hex(std::uint64_t{0}) + "]}";
}

/// Runs `body(thread)` in kThreads threads at once.
template <typename Body>
void in_threads(const Body& body) {
  std::atomic<std::uint32_t> ready = 0;
  std::vector<std::thread> threads;
  for (std::uint32_t thread = 0; thread < kThreads; ++thread) {
    threads.emplace_back([&body, &ready, thread] {
      ++ready;
      while (ready < kThreads) std::this_thread::yield();
      body(thread);
    });
  }
  for (std::thread& thread : threads) thread.join();
}

/// The recorder, emptied. No thread has a context until it sets one.
class Threads : public testing::Test {
 protected:
  void SetUp() override {
    library_ = dlopen(kCuda, RTLD_NOW);
    ASSERT_NE(library_, nullptr) << dlerror();
    find<decltype(relaunch_recorder_reset)>("relaunch_recorder_reset")();
    find<decltype(relaunch_recorder_no_context)>("relaunch_recorder_no_context")();
    constexpr std::uint32_t kSlots[] = {8, 4, 8, 8, 8};
    find<decltype(relaunch_recorder_set_slots)>("relaunch_recorder_set_slots")(kSlots, 5);
  }

  template <typename Function>
  Function* find(const char* name) const {
    return reinterpret_cast<Function*>(dlsym(library_, name));
  }

  /// Every record is the next launch of one of the threads, or one of the two calls by which each
  /// of them made a context current once.
  void expect_every_launch() const {
    const std::string events = find<const char*()>("relaunch_recorder_events")();
    std::string_view rest = events;
    rest.remove_prefix(1);
    std::vector<std::uint32_t> next(kThreads);
    std::uint32_t retained = 0;
    std::uint32_t set = 0;
    const auto take = [&rest](std::string_view text) {
      if (!rest.starts_with(text)) return false;
      rest.remove_prefix(text.size() + 1);  // the comma or the end of the list
      return true;
    };
    while (!rest.empty()) {
      bool known = false;
      for (std::uint32_t thread = 0; thread < kThreads && !known; ++thread) {
        known = take(record(thread, next[thread]));
        if (known) ++next[thread];
      }
      if (!known && take(R"({"call": "cuDevicePrimaryCtxRetain", "args": ["0"]})")) {
        known = true;
        ++retained;
      }
      if (!known && take(R"({"call": "cuCtxSetCurrent", "args": ["c1"]})")) {
        known = true;
        ++set;
      }
      ASSERT_TRUE(known) << rest.substr(0, 400);
    }
    EXPECT_EQ(next, std::vector<std::uint32_t>(kThreads, kLaunches));
    EXPECT_EQ(retained, kThreads);
    EXPECT_EQ(set, kThreads);
  }

  void* library_ = nullptr;
};

}  // namespace relaunch_threads_test
