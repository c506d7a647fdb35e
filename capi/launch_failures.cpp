#include "capi/launch_failures.hpp"

#include <array>
#include <bit>
#include <string>
#include <utility>

#include "capi/failure.hpp"

namespace relaunch::capi {
namespace {

std::string call_of(const relaunch_launcher& launcher) {
  return call_text(launcher.name, launcher.plan);
}

std::string grid_text(const relaunch_launcher& launcher, std::size_t axis, std::uint32_t value) {
  std::string text = std::string("grid_") + "xyz"[axis] + " of " + call_of(launcher) +
                     ": expected at most 2147483647 blocks, got " + std::to_string(value);
  const std::int32_t factor = launcher.configuration.scale.factors[axis];
  if (factor != 1) text += " times " + std::to_string(factor) + " CTAs";
  return text;
}

std::string text(const Dims& dims) {
  return "(" + std::to_string(dims[0]) + ", " + std::to_string(dims[1]) + ", " +
         std::to_string(dims[2]) + ")";
}

}  // namespace

relaunch_status fail_count(const relaunch_launcher& launcher, std::size_t expected, std::size_t got,
                           const char* what) noexcept {
  return guarded([&]() -> relaunch_status {
    throw ArgumentError(call_of(launcher) + " takes " + std::to_string(expected) + " " + what +
                        ", got " + std::to_string(got));
  });
}

relaunch_status fail_function(const relaunch_launcher& launcher) noexcept {
  return guarded([&]() -> relaunch_status {
    throw ArgumentError(call_of(launcher) +
                        " was bound without a function: give one in the options or in the config");
  });
}

relaunch_status settle_grid(const relaunch_launcher& launcher,
                            const relaunch_launch_config& config) noexcept {
  return guarded([&] {
    const auto grid = std::bit_cast<std::array<std::int32_t, 3>>(config.grid);
    const GridCheck check = check_grid(grid, launcher.configuration.scale);
    if (check <= GridCheck::skip) return RELAUNCH_OK;
    const auto axis =
        static_cast<std::size_t>(check) - static_cast<std::size_t>(GridCheck::x_out_of_range);
    return keep({RELAUNCH_ERROR_GRID, grid_text(launcher, axis, config.grid[axis]), {}, {}});
  });
}

relaunch_status fail_driver(const relaunch_launcher& launcher, Status status,
                            const LaunchCall* call) noexcept {
  return guarded([&] {
    std::string message = "Triton Error [" + std::string(backend_name(launcher.dialect->backend)) +
                          "]: " + launcher.driver->explain(status) + " (" +
                          std::to_string(status.code) + " from " + status.function +
                          "): " + call_of(launcher);
    if (call == nullptr) {
      message += " has no context to launch in";
    } else {
      message += ", grid " + text(call->grid) + ", block " + std::to_string(call->block) +
                 ", shared " + std::to_string(call->shared) + launcher.driver->beyond_limits(*call);
    }
    return keep({RELAUNCH_ERROR_DRIVER, std::move(message), {}, {}, status.code});
  });
}

}  // namespace relaunch::capi
