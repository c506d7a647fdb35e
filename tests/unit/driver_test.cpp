// Driver tables: what happens with libraries that are missing, foreign or old.

#include "precompiled/driver/driver.hpp"

#include <dlfcn.h>
#include <gtest/gtest.h>

#include "differential/recorder/control.h"
#include "precompiled/core/plan.hpp"
#include "precompiled/driver/library.hpp"

namespace relaunch {
namespace {

std::string refusal(Backend backend, std::string_view path) {
  try {
    Driver::open(*find_dialect(backend == Backend::cuda ? "triton-3.6-cuda" : "triton-3.6-hip"),
                 std::string(path));
  } catch (const DriverError& error) {
    return error.what();
  }
  return "opened";
}

TEST(Driver, MissingLibrary) {
  EXPECT_EQ(refusal(Backend::cuda, "/nowhere/libcuda.so.1"),
            "the driver library cannot be opened: /nowhere/libcuda.so.1: cannot open shared object "
            "file: No such file or directory; install the GPU's driver, or give the path of its "
            "library");
}

TEST(Driver, ForeignLibrary) {
  EXPECT_EQ(refusal(Backend::cuda, "libm.so.6"),
            "libm.so.6 is not the CUDA driver: it has no cuCtxGetCurrent; give the path of its "
            "own library");
  EXPECT_EQ(refusal(Backend::hip, "libm.so.6"),
            "libm.so.6 is not the HIP runtime: it has no hipModuleLaunchKernel; give the path of "
            "its own library");
  // A failed opening leaves nothing behind: it fails again.
  EXPECT_EQ(refusal(Backend::hip, "libm.so.6"),
            "libm.so.6 is not the HIP runtime: it has no hipModuleLaunchKernel; give the path of "
            "its own library");
}

std::string parameter_refusal(const Driver& driver, std::uint32_t bytes) {
  try {
    driver.check_parameter_bytes(bytes, "add(i32)");
  } catch (const BindError& error) {
    return error.what();
  }
  return "accepted";
}

TEST(Driver, OldDriversTakeFewerParameters) {
  const std::optional<std::string> path = RELAUNCH_RECORDER_DIR "/libcuda.so.1";
  const Driver& driver = Driver::open(*find_dialect("triton-3.6-cuda"), path);
  void* recorder = dlopen(path->c_str(), RTLD_NOW);
  const auto reset = reinterpret_cast<decltype(&relaunch_recorder_reset)>(
      dlsym(recorder, "relaunch_recorder_reset"));
  const auto set_version = reinterpret_cast<decltype(&relaunch_recorder_driver_version)>(
      dlsym(recorder, "relaunch_recorder_driver_version"));
  reset();
  EXPECT_EQ(parameter_refusal(driver, 32764), "accepted");
  set_version(12010);
  EXPECT_EQ(parameter_refusal(driver, 32764), "accepted");
  set_version(12000);
  EXPECT_EQ(parameter_refusal(driver, 4096), "accepted");
  EXPECT_EQ(parameter_refusal(driver, 4097),
            "add(i32) has 4097 bytes of parameters; the driver, of CUDA 12.0, takes 4096 (32764 "
            "since CUDA 12.1)");
  set_version(11080);
  EXPECT_EQ(parameter_refusal(driver, 32764),
            "add(i32) has 32764 bytes of parameters; the driver, of CUDA 11.8, takes 4096 (32764 "
            "since CUDA 12.1)");
  reinterpret_cast<decltype(&relaunch_recorder_fail)>(dlsym(recorder, "relaunch_recorder_fail"))(
      "cuDriverGetVersion", 0, 999);
  EXPECT_EQ(parameter_refusal(driver, 32764), "accepted") << "it does not say";
  reset();
}

/// The recorder's journal of what `call` asks of a dialect's driver.
template <typename Call>
std::string journal(const char* dialect, Call call) {
  const bool is_hip = std::string_view(dialect).ends_with("hip");
  const std::optional<std::string> path =
      std::string(RELAUNCH_RECORDER_DIR) + (is_hip ? "/libamdhip64.so" : "/libcuda.so.1");
  const Driver& driver = Driver::open(*find_dialect(dialect), path);
  void* recorder = dlopen(path->c_str(), RTLD_NOW);
  const auto find = [recorder](const char* name) { return dlsym(recorder, name); };
  reinterpret_cast<decltype(&relaunch_recorder_reset)>(find("relaunch_recorder_reset"))();
  reinterpret_cast<void (*)()>(find("relaunch_recorder_no_context"))();
  call(driver);
  std::string events = reinterpret_cast<const char* (*)()>(find("relaunch_recorder_events"))();
  reinterpret_cast<decltype(&relaunch_recorder_reset)>(find("relaunch_recorder_reset"))();
  return events;
}

TEST(Driver, AContextIsPartOfTheLaunchSince32) {
  const auto begin = [](const Driver& driver) { EXPECT_TRUE(driver.begin_launch()); };
  EXPECT_EQ(journal("triton-3.0-cuda", begin), "[]");
  for (const char* name : {"triton-3.2-cuda", "triton-3.4-cuda", "triton-3.9-cuda"}) {
    EXPECT_EQ(journal(name, begin), R"([{"call": "cuDevicePrimaryCtxRetain", "args": ["0"]},)"
                                    R"({"call": "cuCtxSetCurrent", "args": ["c1"]}])")
        << name;
  }
  const auto ensure = [](const Driver& driver) { EXPECT_TRUE(driver.ensure_context()); };
  EXPECT_NE(journal("triton-3.0-cuda", ensure), "[]") << "who asks for one gets it";
}

TEST(Driver, WhatBecomesOfAFailedPointerQuery) {
  const auto query = [](std::uint64_t address, int status, std::uint64_t found) {
    return [=](const Driver& driver) {
      std::uint64_t device = 0;
      EXPECT_EQ(driver.device_pointer(address, &device).code, status);
      EXPECT_EQ(device, found);
    };
  };
  constexpr std::uint64_t kUnreachable = 0xBA0000001000;
  constexpr std::uint64_t kFailing = 0x5E0000001000;
  const std::string asked = R"([{"call": "hipPointerGetAttribute", "args": ["3", "ba0000001000"]})";
  const std::string cleared = asked + R"(,{"call": "hipGetLastError", "args": []}])";
  EXPECT_EQ(journal("triton-3.4-hip", query(kUnreachable, 1, 0)), asked + "]");
  EXPECT_EQ(journal("triton-3.5-hip", query(kUnreachable, 1, 0)), cleared);
  EXPECT_EQ(journal("triton-3.7-hip", query(kUnreachable, 1, 0)), cleared);
  for (const char* name :
       {"triton-3.0-cuda", "triton-3.9-cuda", "triton-3.0-hip", "triton-3.6-hip"}) {
    journal(name, query(kFailing, 700, 0));
  }
  EXPECT_EQ(journal("triton-3.7-hip", query(kFailing, 0, kFailing)),
            R"([{"call": "hipPointerGetAttribute", "args": ["3", "5e0000001000"]}])");
}

TEST(Driver, OneObjectForEachLibraryAndRules) {
  const std::string path = RELAUNCH_RECORDER_DIR "/libcuda.so.1";
  const auto open = [&path](const char* name) { return &Driver::open(*find_dialect(name), path); };
  EXPECT_EQ(open("triton-3.4-cuda"), open("triton-3.9-cuda"));
  EXPECT_EQ(open("triton-3.2-cuda"), open("triton-3.3-cuda"));
  EXPECT_NE(open("triton-3.0-cuda"), open("triton-3.2-cuda"));
  EXPECT_NE(open("triton-3.3-cuda"), open("triton-3.4-cuda"));
}

TEST(Library, MissingFunctionsStandIn) {
  const Library library = Library::open("libm.so.6", true);
  std::vector<FunctionEntry> missing;
  double (*present)(double) = nullptr;
  int (*absent)(int, const char*) = nullptr;
  load<801>(library, {"cos", "always"}, &present, &missing);
  load<801>(library, {"no_such_function", "release 9"}, &absent, &missing);
  EXPECT_EQ(present(0.0), 1.0);
  EXPECT_EQ(absent(1, "x"), 801);
  EXPECT_EQ(
      explain_missing(library, missing, "no_such_function"),
      "libm.so.6 has no no_such_function, which came with release 9: install that release or a "
      "later one");
  EXPECT_EQ(explain_missing(library, missing, "cos"), "");
}

TEST(Library, FirstOfSeveralNames) {
  EXPECT_EQ(Library::open("libno-such.so.1 libm.so.6", false).path(), "libm.so.6");
}

}  // namespace
}  // namespace relaunch
