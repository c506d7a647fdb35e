#pragma once
// What tests of the C interface share: handles that free themselves, and the recording driver.

#include <dlfcn.h>
#include <gtest/gtest.h>
#include <relaunch/relaunch.h>

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "differential/recorder/control.h"

namespace relaunch_capi_test {

inline constexpr const char* kCuda = RELAUNCH_RECORDER_DIR "/libcuda.so.1";
inline constexpr const char* kHip = RELAUNCH_RECORDER_DIR "/libamdhip64.so";

using Tree = std::unique_ptr<relaunch_tree, decltype(&relaunch_tree_free)>;
using Launcher = std::unique_ptr<relaunch_launcher, decltype(&relaunch_launcher_free)>;

struct LastError : relaunch_error {
  LastError() : relaunch_error{} {
    size = sizeof(relaunch_error);
    EXPECT_EQ(relaunch_last_error(this), RELAUNCH_OK);
  }
};

inline std::string message() { return LastError().message; }

inline Tree parse(std::string_view text) {
  relaunch_tree* tree = nullptr;
  EXPECT_EQ(relaunch_parse(text.data(), text.size(), &tree), RELAUNCH_OK) << message();
  return {tree, relaunch_tree_free};
}

inline relaunch_options options(const char* dialect = "triton-3.6-cuda") {
  relaunch_options chosen{};
  chosen.size = sizeof chosen;
  chosen.dialect = dialect;
  chosen.name = "add";
  chosen.driver = std::string_view(dialect).ends_with("hip") ? kHip : kCuda;
  chosen.function = reinterpret_cast<void*>(0xf00);
  return chosen;
}

inline Launcher bound(std::string_view text, const relaunch_options& chosen = options()) {
  relaunch_launcher* launcher = nullptr;
  EXPECT_EQ(relaunch_bind(parse(text).get(), &chosen, &launcher), RELAUNCH_OK) << message();
  return {launcher, relaunch_launcher_free};
}

inline relaunch_launch_config config(std::uint32_t x = 1, std::uint32_t y = 1,
                                     std::uint32_t z = 1) {
  relaunch_launch_config where{};
  where.size = sizeof where;
  where.grid[0] = x;
  where.grid[1] = y;
  where.grid[2] = z;
  return where;
}

/// The recorder that launchers bound above use too, emptied.
class Capi : public testing::Test {
 protected:
  void SetUp() override { open(kCuda); }

  void open(const char* path) {
    library_ = dlopen(path, RTLD_NOW);
    ASSERT_NE(library_, nullptr) << dlerror();
    find<decltype(relaunch_recorder_reset)>("relaunch_recorder_reset")();
  }
  template <typename Function>
  Function* find(const char* name) const {
    return reinterpret_cast<Function*>(dlsym(library_, name));
  }
  void set_slots(const std::vector<std::uint32_t>& bytes) const {
    find<decltype(relaunch_recorder_set_slots)>("relaunch_recorder_set_slots")(bytes.data(),
                                                                               bytes.size());
  }
  std::string events() const { return find<const char*()>("relaunch_recorder_events")(); }

  void* library_ = nullptr;
};

}  // namespace relaunch_capi_test
