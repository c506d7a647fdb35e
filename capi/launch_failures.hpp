#pragma once
// The failures of a launch, worded. All are kept for relaunch_last_error; none is on the way of a
// launch that succeeds.

#include <relaunch/relaunch.h>

#include <cstddef>

#include "capi/launcher.hpp"
#include "precompiled/driver/driver.hpp"

namespace relaunch::capi {

#define RELAUNCH_COLD [[gnu::noinline, gnu::cold]]

/// `what` was given `got` times.
RELAUNCH_COLD relaunch_status fail_count(const relaunch_launcher& launcher, std::size_t expected,
                                         std::size_t got, const char* what) noexcept;

/// Neither the options nor the config has a function.
RELAUNCH_COLD relaunch_status fail_function(const relaunch_launcher& launcher) noexcept;

/// A grid with a dimension that is 0 (not a failure, but nothing is launched) or out of range.
RELAUNCH_COLD relaunch_status settle_grid(const relaunch_launcher& launcher,
                                          const relaunch_launch_config& config) noexcept;

/// What the driver refused; null where no context could be made current.
RELAUNCH_COLD relaunch_status fail_driver(const relaunch_launcher& launcher, Status status,
                                          const LaunchCall* call) noexcept;

}  // namespace relaunch::capi
