#pragma once
// What the opaque handles hold. Neither changes once made.

#include <relaunch/relaunch.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>

#include "precompiled/core/launch.hpp"
#include "precompiled/core/plan.hpp"
#include "precompiled/core/tree.hpp"
#include "precompiled/driver/driver.hpp"

struct relaunch_tree {
  relaunch::Tree tree;
  std::string text;  // canonical
};

struct relaunch_launcher {
  /// One per entry of the largest hidden section.
  static constexpr std::size_t kMostHidden = 2;
  /// In `hidden_at`: always null.
  static constexpr std::size_t kNull = 0;
  /// Launches of more are put together in a slower way. A multiple of 4.
  static constexpr std::size_t kUsualArguments = 64;

  relaunch_launcher() = default;
  relaunch_launcher(const relaunch_launcher&) = delete;  // `call` points into it
  relaunch_launcher& operator=(const relaunch_launcher&) = delete;
  ~relaunch_launcher() = default;

  // All that a launch reads.
  relaunch::LaunchCall call{};  // all but grid, stream and parameters
  const relaunch::Driver* driver = nullptr;
  std::uint32_t arguments = 0;  // parameters that a launch is given
  std::uint32_t hidden = 0;     // those it appends
  std::uint32_t packed_bytes = 0;
  relaunch::Dims most{};                             // of each dimension, without looking closer
  std::uint32_t usual_size = 0;                      // of a config; 0: no launch is usual
  std::array<std::size_t, kMostHidden> hidden_at{};  // offset of each in relaunch_launch_config
  relaunch::Configuration configuration;

  relaunch::Plan plan;
  const relaunch::Dialect* dialect = nullptr;
  std::string dialect_name;
  std::string name;  // of the kernel
};
