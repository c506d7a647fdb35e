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

  relaunch::Plan plan;
  const relaunch::Dialect* dialect = nullptr;
  const relaunch::Driver* driver = nullptr;
  std::string name;

  // All that a launch reads.
  relaunch::EncodedAttributes attributes;
  std::uint64_t function = 0;
  std::uint32_t arguments = 0;                       // parameters that a launch is given
  std::uint32_t hidden = 0;                          // those it appends
  std::array<std::size_t, kMostHidden> hidden_at{};  // offset of each in relaunch_launch_config
  bool takes_global_scratch = false;
  bool takes_profile_scratch = false;
  bool non_portable = false;
  std::int32_t grid_scale = 1;  // blocks per block of the grid asked for, along x
  std::uint32_t block = 0;      // threads
  std::uint32_t shared = 0;     // bytes
  std::uint32_t packed_bytes = 0;
};
