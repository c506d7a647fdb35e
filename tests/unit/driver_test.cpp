// Driver tables: what happens with libraries that are missing, foreign or old.

#include "precompiled/driver/driver.hpp"

#include <gtest/gtest.h>

#include "precompiled/driver/library.hpp"

namespace relaunch {
namespace {

std::string refusal(Backend backend, std::string_view path) {
  try {
    Driver::open(backend, path, true);
  } catch (const DriverError& error) {
    return error.what();
  }
  return "opened";
}

TEST(Driver, MissingLibrary) {
  EXPECT_EQ(refusal(Backend::cuda, "/nowhere/libcuda.so.1"),
            "the driver library cannot be opened: /nowhere/libcuda.so.1: cannot open shared object "
            "file: No such file or directory");
}

TEST(Driver, ForeignLibrary) {
  EXPECT_EQ(refusal(Backend::cuda, "libm.so.6"),
            "libm.so.6 is not the CUDA driver: it has no cuCtxGetCurrent");
  EXPECT_EQ(refusal(Backend::hip, "libm.so.6"),
            "libm.so.6 is not the HIP runtime: it has no hipModuleLaunchKernel");
  // A failed opening leaves nothing behind: it fails again.
  EXPECT_EQ(refusal(Backend::hip, "libm.so.6"),
            "libm.so.6 is not the HIP runtime: it has no hipModuleLaunchKernel");
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
  EXPECT_EQ(explain_missing(library, missing, "no_such_function"),
            "libm.so.6 has no no_such_function (it came with release 9)");
  EXPECT_EQ(explain_missing(library, missing, "cos"), "");
}

TEST(Library, FirstOfSeveralNames) {
  EXPECT_EQ(Library::open("libno-such.so.1 libm.so.6", false).path(), "libm.so.6");
}

}  // namespace
}  // namespace relaunch
