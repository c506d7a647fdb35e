// One launch. Everything known when the launcher was bound is in the launcher; the rest lies on the
// stack.

#include <array>
#include <bit>
#include <cstring>
#include <string>

#include "capi/failure.hpp"
#include "capi/launcher.hpp"
#include "capi/structs.hpp"

#define RELAUNCH_COLD [[gnu::noinline, gnu::cold]]

namespace relaunch::capi {
namespace {

constexpr std::uint64_t kNullAddress = 0;

std::string call_of(const relaunch_launcher& launcher) {
  return call_text(launcher.name, launcher.plan);
}

std::string driver_error(const relaunch_launcher& launcher, const Status& status) {
  return "Triton Error [" + std::string(backend_name(launcher.dialect->backend)) +
         "]: " + launcher.driver->explain(status) + " (" + std::to_string(status.code) + " from " +
         status.function + "): " + call_of(launcher);
}

RELAUNCH_COLD relaunch_status fail(const std::string& message) { throw ArgumentError(message); }

RELAUNCH_COLD relaunch_status fail_count(const relaunch_launcher& launcher, std::size_t expected,
                                         std::size_t got, const char* what) noexcept {
  return guarded([&] {
    return fail(call_of(launcher) + " takes " + std::to_string(expected) + " " + what + ", got " +
                std::to_string(got));
  });
}

RELAUNCH_COLD relaunch_status fail_null(const relaunch_launcher& launcher,
                                        void* const* arguments) noexcept {
  return guarded([&] {
    std::uint32_t i = 0;
    while (arguments[i] != nullptr) ++i;
    const Parameter& parameter = launcher.plan.parameters[i];
    std::string text = "argument " + std::to_string(parameter.leaf + 1);
    if (!parameter.name.empty()) text += " '" + parameter.name + "'";
    return fail(text + " of " + call_of(launcher) + ": expected a pointer to " +
                launcher.plan.leaves[parameter.leaf].type + ", got null");
  });
}

RELAUNCH_COLD relaunch_status fail_grid(const relaunch_launcher& launcher, GridCheck check,
                                        const relaunch_launch_config& config) noexcept {
  return guarded([&] {
    const int axis = static_cast<int>(check) - static_cast<int>(GridCheck::x_out_of_range);
    std::string text = std::string("grid_") + "xyz"[axis] + " of " + call_of(launcher) +
                       ": expected at most 2147483647 blocks, got " +
                       std::to_string(config.grid[axis]);
    if (axis == 0 && launcher.grid_scale != 1) {
      text += " times " + std::to_string(launcher.grid_scale) + " CTAs";
    }
    return keep({RELAUNCH_ERROR_GRID, std::move(text), {}, {}});
  });
}

RELAUNCH_COLD relaunch_status fail_driver(const relaunch_launcher& launcher, const Status& status,
                                          const LaunchCall* call) noexcept {
  return guarded([&] {
    std::string text = driver_error(launcher, status);
    if (call == nullptr) {
      text += " has no context to launch in";
    } else {
      text += ", grid (" + std::to_string(call->grid[0]) + ", " + std::to_string(call->grid[1]) +
              ", " + std::to_string(call->grid[2]) + "), block " + std::to_string(call->block) +
              ", shared " + std::to_string(call->shared);
    }
    return keep({RELAUNCH_ERROR_DRIVER, std::move(text), {}, {}, status.code});
  });
}

/// What is rare but allowed (a config of another release), or wrong. `own` takes the config.
RELAUNCH_COLD relaunch_status read_config(const relaunch_launcher* launcher,
                                          const relaunch_launch_config* config,
                                          relaunch_launch_config* own) noexcept {
  return guarded([=] {
    require(launcher, "launcher");
    *own = read(config, "config");
    return RELAUNCH_OK;
  });
}

/// Scratch that the dialect has no parameter for, or no function at all.
RELAUNCH_COLD relaunch_status fail_config(const relaunch_launcher& launcher,
                                          const relaunch_launch_config& config) noexcept {
  return guarded([&] {
    if (config.function == nullptr && launcher.function == 0) {
      return fail(call_of(launcher) +
                  " was bound without a function: give one in the options or in the config");
    }
    const char* scratch = launcher.takes_global_scratch ? "profile_scratch" : "global_scratch";
    return fail(std::string(launcher.dialect->name) + " passes a null " + scratch +
                "; none can be given");
  });
}

bool fits(const relaunch_launcher& launcher, const relaunch_launch_config& config) {
  return (config.function != nullptr || launcher.function != 0) &&
         (config.global_scratch == 0 || launcher.takes_global_scratch) &&
         (config.profile_scratch == 0 || launcher.takes_profile_scratch);
}

/// Everything behind the arguments. `parameters` has room for the hidden ones, which lie in
/// `config`.
[[gnu::always_inline]] inline relaunch_status submit(const relaunch_launcher& self,
                                                     const relaunch_launch_config& config,
                                                     void** parameters) noexcept {
  const auto grid = std::bit_cast<std::array<std::int32_t, 3>>(config.grid);
  const GridCheck check = check_grid(grid, self.grid_scale);
  if (check > GridCheck::skip) [[unlikely]]
    return fail_grid(self, check, config);
  if (!fits(self, config)) [[unlikely]]
    return fail_config(self, config);
  if (check == GridCheck::skip) [[unlikely]]
    return RELAUNCH_OK;

  // The driver only reads parameters; its type lacks the const.
  auto* fields = const_cast<char*>(reinterpret_cast<const char*>(&config));  // NOLINT
  for (std::uint32_t i = 0; i < self.hidden; ++i) {
    const std::size_t at = self.hidden_at[i];
    parameters[self.arguments + i] = at == relaunch_launcher::kNull
                                         ? const_cast<std::uint64_t*>(&kNullAddress)  // NOLINT
                                         : static_cast<void*>(fields + at);
  }
  const LaunchCall call{
      .grid = {config.grid[0] * static_cast<std::uint32_t>(self.grid_scale), config.grid[1],
               config.grid[2]},
      .block = self.block,
      .shared = self.shared,
      .stream = reinterpret_cast<std::uint64_t>(config.stream),
      .function = config.function != nullptr ? reinterpret_cast<std::uint64_t>(config.function)
                                             : self.function,
      .parameters = parameters,
      .attributes = &self.attributes,
  };
  if (self.non_portable) [[unlikely]] {
    const Status allowed = self.driver->allow_non_portable_cluster(call.function);
    if (!allowed) return fail_driver(self, allowed, &call);
  }
  const Status status = self.driver->launch(call);
  if (!status) [[unlikely]]
    return fail_driver(self, status, &call);
  return RELAUNCH_OK;
}

bool is_plain(const relaunch_launcher* launcher, const relaunch_launch_config* config) {
  return launcher != nullptr && config != nullptr && config->size == sizeof(*config) &&
         config->reserved == 0;
}

/// The frame of one launch: alloca, because only the launcher knows its size and a launch must not
/// touch the heap.
#define RELAUNCH_PARAMETER_ARRAY(launcher) \
  static_cast<void**>(__builtin_alloca(((launcher).arguments + (launcher).hidden) * sizeof(void*)))

relaunch_status launch(const relaunch_launcher& self, const relaunch_launch_config& config,
                       void* const* arguments, std::size_t count) noexcept {
  if (count != self.arguments || (arguments == nullptr && count != 0)) [[unlikely]] {
    return fail_count(self, self.arguments, arguments == nullptr ? 0 : count, "arguments");
  }
  void** parameters = RELAUNCH_PARAMETER_ARRAY(self);
  bool has_null = false;
  for (std::size_t i = 0; i < count; ++i) {
    parameters[i] = arguments[i];
    has_null |= arguments[i] == nullptr;
  }
  if (has_null) [[unlikely]]
    return fail_null(self, arguments);
  return submit(self, config, parameters);
}

relaunch_status launch_packed(const relaunch_launcher& self, const relaunch_launch_config& config,
                              const void* packed, std::size_t bytes) noexcept {
  if (bytes != self.packed_bytes || (packed == nullptr && bytes != 0)) [[unlikely]] {
    return fail_count(self, self.packed_bytes, packed == nullptr ? 0 : bytes, "packed bytes");
  }
  void** parameters = RELAUNCH_PARAMETER_ARRAY(self);
  auto* block = const_cast<char*>(static_cast<const char*>(packed));  // NOLINT: only read
  const std::uint32_t* offsets = self.plan.slot_offsets.data();
  for (std::uint32_t i = 0; i < self.arguments; ++i) parameters[i] = block + offsets[i];
  return submit(self, config, parameters);
}

}  // namespace
}  // namespace relaunch::capi

using namespace relaunch;
using namespace relaunch::capi;

relaunch_status relaunch_launch(const relaunch_launcher* launcher,
                                const relaunch_launch_config* config, void* const* arguments,
                                size_t count) {
  if (is_plain(launcher, config)) [[likely]]
    return capi::launch(*launcher, *config, arguments, count);
  relaunch_launch_config own;
  const relaunch_status status = read_config(launcher, config, &own);
  return status != RELAUNCH_OK ? status : capi::launch(*launcher, own, arguments, count);
}

relaunch_status relaunch_launch_packed(const relaunch_launcher* launcher,
                                       const relaunch_launch_config* config, const void* packed,
                                       size_t bytes) {
  if (is_plain(launcher, config)) [[likely]]
    return launch_packed(*launcher, *config, packed, bytes);
  relaunch_launch_config own;
  const relaunch_status status = read_config(launcher, config, &own);
  return status != RELAUNCH_OK ? status : launch_packed(*launcher, own, packed, bytes);
}

relaunch_status relaunch_ensure_context(const relaunch_launcher* launcher) {
  return guarded([=] {
    require(launcher, "launcher");
    const Status status = launcher->driver->ensure_context();
    return status ? RELAUNCH_OK : fail_driver(*launcher, status, nullptr);
  });
}
