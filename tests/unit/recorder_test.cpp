// The recording drivers without Python, called through the symbols that a launcher looks up.
#include <dlfcn.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <thread>
#include <vector>

#include "differential/recorder/control.h"

namespace {

/// One recorder, opened as a driver is: by file name, with its functions looked up.
class Driver {
 public:
  explicit Driver(const char* file)
      : library_(dlopen((std::string(RELAUNCH_RECORDER_DIR) + "/" + file).c_str(), RTLD_NOW)) {
    if (library_ != nullptr) find<void()>("relaunch_recorder_reset")();
  }
  bool opened() const { return library_ != nullptr; }

  template <typename Function>
  Function* find(const char* name) const {
    void* const found = dlsym(library_, name);
    EXPECT_NE(found, nullptr) << name;
    return reinterpret_cast<Function*>(found);
  }
  std::string events() const { return find<const char*()>("relaunch_recorder_events")(); }

 private:
  void* library_;
};

using Launch = int(void*, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned,
                   void*, void**, void**);
using PointerQuery = int(void*, int, std::uint64_t);

struct Backend {
  const char* file;
  const char* launch;
  const char* query;
};

class Recorder : public testing::TestWithParam<Backend> {};

TEST_P(Recorder, RecordsALaunch) {
  const Driver driver(GetParam().file);
  ASSERT_TRUE(driver.opened()) << dlerror();
  const std::uint32_t slots[] = {1, 4};
  driver.find<decltype(relaunch_recorder_set_slots)>("relaunch_recorder_set_slots")(slots, 2);
  std::uint32_t value = 0x04030201;
  void* params[] = {&value, &value};
  EXPECT_EQ(driver.find<Launch>(GetParam().launch)(nullptr, 1, 2, 3, 4, 5, 6, 7, nullptr, params,
                                                   nullptr),
            0);
  EXPECT_EQ(
      driver.events(),
      std::string(R"([{"call": ")") + GetParam().launch +
          R"(", "grid": [1, 2, 3], "block": [4, 5, 6], "shared": 7, "stream": "0x0", )"
          R"("function": "0x0", "gil_held": 0, "attributes": [], "params": ["01", "01020304"]}])");
}

TEST_P(Recorder, FailsTheNthCallAndRecordsIt) {
  const Driver driver(GetParam().file);
  ASSERT_TRUE(driver.opened()) << dlerror();
  driver.find<decltype(relaunch_recorder_fail)>("relaunch_recorder_fail")(GetParam().query, 1, 719);
  auto* const query = driver.find<PointerQuery>(GetParam().query);
  std::uint64_t out = 0;
  EXPECT_EQ(query(&out, 3, 16), 0);
  EXPECT_EQ(query(&out, 3, 32), 719);
  EXPECT_EQ(query(&out, 3, 48), 0);
  EXPECT_EQ(out, 48U);
  const std::string name = GetParam().query;
  EXPECT_EQ(driver.events(), R"([{"call": ")" + name + R"(", "args": ["3", "10"]},{"call": ")" +
                                 name + R"(", "args": ["3", "20"]},{"call": ")" + name +
                                 R"(", "args": ["3", "30"]}])");
}

TEST_P(Recorder, ServesThreadsWhileItIsControlled) {
  const Driver driver(GetParam().file);
  ASSERT_TRUE(driver.opened()) << dlerror();
  constexpr int kThreads = 4;
  constexpr int kCalls = 200;
  auto* const query = driver.find<PointerQuery>(GetParam().query);
  auto* const launch = driver.find<Launch>(GetParam().launch);
  auto* const note = driver.find<decltype(relaunch_recorder_note)>("relaunch_recorder_note");
  auto* const fail = driver.find<decltype(relaunch_recorder_fail)>("relaunch_recorder_fail");
  const std::uint32_t slots[] = {8};
  driver.find<decltype(relaunch_recorder_set_slots)>("relaunch_recorder_set_slots")(slots, 1);
  std::vector<std::thread> threads;
  for (int i = 0; i < kThreads; ++i) {
    threads.emplace_back([&] {
      std::uint64_t value = 0;
      void* params[] = {&value};
      for (int call = 0; call < kCalls; ++call) {
        query(&value, 3, 64);
        launch(nullptr, 1, 1, 1, 1, 1, 1, 0, nullptr, params, nullptr);
        note("0");
      }
    });
  }
  for (int i = 0; i < kCalls; ++i) {
    fail("never", 0, 1);
    EXPECT_FALSE(driver.events().empty());
  }
  for (std::thread& thread : threads) thread.join();
  const std::string events = driver.events();
  std::size_t notes = 0;
  for (std::size_t at = 0; (at = events.find(",0", at)) != std::string::npos; ++at) ++notes;
  EXPECT_EQ(notes, std::size_t{kThreads * kCalls});
}

TEST_P(Recorder, NullModeRecordsNothing) {
  const Driver driver(GetParam().file);
  ASSERT_TRUE(driver.opened()) << dlerror();
  driver.find<decltype(relaunch_recorder_mode)>("relaunch_recorder_mode")(RELAUNCH_RECORDER_NULL);
  std::uint64_t out = 0;
  EXPECT_EQ(driver.find<PointerQuery>(GetParam().query)(&out, 3, 0x910000000000), 0);
  EXPECT_EQ(out, 0x910010000000U);
  EXPECT_EQ(driver.events(), "[]");
}

INSTANTIATE_TEST_SUITE_P(
    Backends, Recorder,
    testing::Values(Backend{"libcuda.so.1", "cuLaunchKernel", "cuPointerGetAttribute"},
                    Backend{"libamdhip64.so", "hipModuleLaunchKernel", "hipPointerGetAttribute"}),
    [](const auto& tested) {
      return std::string(tested.param.launch).substr(0, 2) == "cu" ? "Cuda" : "Hip";
    });

}  // namespace
