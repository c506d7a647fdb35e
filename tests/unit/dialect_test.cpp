// Dialects as data: names, and what the facts of the releases say.

#include "precompiled/core/dialect.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace relaunch {
namespace {

TEST(Dialect, PatchNumbersAreAccepted) {
  const Dialect* cuda = find_dialect("triton-3.6-cuda");
  ASSERT_NE(cuda, nullptr);
  EXPECT_EQ(find_dialect("triton-3.6.0-cuda"), cuda);
  EXPECT_EQ(find_dialect("triton-3.6.12-cuda"), cuda);
  EXPECT_EQ(find_dialect("triton-3.6.1-hip"), find_dialect("triton-3.6-hip"));
}

TEST(Dialect, UnknownNames) {
  for (const char* name : {"", "triton", "triton-3-cuda", "triton-3.6", "triton-3.60-cuda",
                           "triton-3.6.x-cuda", "triton-3.6.-cuda", "triton-3.6.0.0-cuda",
                           "triton-3.6-rocm", "3.6-cuda", "Triton-3.6-cuda", "-", "."}) {
    EXPECT_EQ(find_dialect(name), nullptr) << name;
  }
}

TEST(Dialect, HiddenParameters) {
  const Dialect& cuda = *find_dialect("triton-3.6-cuda");
  const Dialect& hip = *find_dialect("triton-3.6-hip");
  ASSERT_EQ(cuda.hidden.parameters.size(), 2U);
  ASSERT_EQ(hip.hidden.parameters.size(), 2U);
  EXPECT_EQ(cuda.hidden.version, hip.hidden.version);
  EXPECT_EQ(cuda.hidden.parameters[0].kind, HiddenKind::global_scratch);
  EXPECT_EQ(hip.hidden.parameters[0].kind, HiddenKind::null);
  EXPECT_EQ(cuda.hidden.parameters[1].kind, HiddenKind::profile_scratch);
  EXPECT_EQ(hip.hidden.parameters[1].kind, HiddenKind::profile_scratch);
}

}  // namespace
}  // namespace relaunch
