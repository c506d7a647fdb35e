// One launch. Everything known when the launcher was bound is in the launcher; the rest lies on the
// stack.

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstring>
#include <string>

#include "capi/failure.hpp"
#include "capi/launch_failures.hpp"
#include "capi/launcher.hpp"
#include "capi/structs.hpp"

namespace relaunch::capi {
namespace {

/// Refuses what the dialect has no parameter for.
void check_scratch(const relaunch_launcher& self, const relaunch_launch_config& config) {
  const auto takes = [&self](std::size_t field) {
    return std::find(self.hidden_at.begin(), self.hidden_at.end(), field) != self.hidden_at.end();
  };
  const auto check = [&](std::uint64_t given, std::size_t field, const char* name) {
    if (given == 0 || takes(field)) return;
    throw ArgumentError(scratch_refusal(*self.dialect, name));
  };
  check(config.global_scratch, offsetof(relaunch_launch_config, global_scratch), "global_scratch");
  check(config.profile_scratch, offsetof(relaunch_launch_config, profile_scratch),
        "profile_scratch");
}

bool is_empty(const relaunch_launch_config& config) {
  return config.grid[0] == 0 || config.grid[1] == 0 || config.grid[2] == 0;
}

enum class Shape : std::uint8_t {
  usual,    // both scratch pointers are hidden, slots are words, few parameters, nothing to ask or
            // to scale
  general,  // any
};

/// The launch with `self.arguments` parameters in their places and room behind them.
template <Shape shape>
[[gnu::always_inline]] inline relaunch_status submit(const relaunch_launcher& self,
                                                     const relaunch_launch_config& config,
                                                     void** parameters) noexcept {
  LaunchCall call = self.call;
  if (config.function != nullptr) [[unlikely]] {
    call.function = reinterpret_cast<std::uint64_t>(config.function);
  } else if (call.function == 0) [[unlikely]] {
    return fail_function(self);
  }
  const Dims& most = self.most;
  if (config.grid[0] - 1 >= most[0] || config.grid[1] - 1 >= most[1] ||
      config.grid[2] - 1 >= most[2]) [[unlikely]] {
    const relaunch_status settled = settle_grid(self, config);
    if (settled != RELAUNCH_OK || is_empty(config)) return settled;
  }
  if constexpr (shape == Shape::usual) {
    call.grid = {config.grid[0], config.grid[1], config.grid[2]};
  } else {
    const auto grid = std::bit_cast<std::array<std::int32_t, 3>>(config.grid);
    call.grid = self.configuration.scale.apply(grid);
  }
  call.stream = reinterpret_cast<std::uint64_t>(config.stream);
  call.parameters = parameters;

  // The driver only reads parameters; its type lacks the const.
  auto& fields = const_cast<relaunch_launch_config&>(config);  // NOLINT
  void** hidden = parameters + self.arguments;
  if constexpr (shape == Shape::usual) {
    hidden[0] = &fields.global_scratch;
    hidden[1] = &fields.profile_scratch;
  } else {
    static std::uint64_t null = 0;
    for (std::uint32_t i = 0; i < self.hidden; ++i) {
      const std::size_t at = self.hidden_at[i];
      hidden[i] = at == relaunch_launcher::kNull ? static_cast<void*>(&null)
                                                 : reinterpret_cast<char*>(&fields) + at;
    }
    if (self.configuration.non_portable) {
      const Status allowed = self.driver->allow_non_portable_cluster(call.function);
      if (!allowed) return fail_driver(self, allowed, &call);
    }
  }
  const Status status = self.driver->launch(call);
  if (!status) [[unlikely]]
    return fail_driver(self, status, &call);
  return RELAUNCH_OK;
}

/// Arguments that are given by their addresses.
struct Pointers {
  void* const* arguments;
  std::size_t count;

  bool are_null() const { return arguments == nullptr; }
  bool fit(const relaunch_launcher& self) const {
    return count == self.arguments && (!are_null() || count == 0);
  }
  relaunch_status fail(const relaunch_launcher& self) const noexcept {
    return fail_count(self, self.arguments, are_null() ? 0 : count, "arguments");
  }
  template <Shape shape>
  void place(const relaunch_launcher& self, void** parameters) const {
    if (shape == Shape::usual || count != 0) {
      std::memcpy(parameters, arguments, self.arguments * sizeof(void*));
    }
  }
};

/// Arguments that lie in one block.
struct Packed {
  const void* block;
  std::size_t bytes;

  bool are_null() const { return block == nullptr; }
  bool fit(const relaunch_launcher& self) const {
    return bytes == self.packed_bytes && (!are_null() || bytes == 0);
  }
  relaunch_status fail(const relaunch_launcher& self) const noexcept {
    return fail_count(self, self.packed_bytes, are_null() ? 0 : bytes, "packed bytes");
  }
  template <Shape shape>
  void place(const relaunch_launcher& self, void** parameters) const {
    auto* start = const_cast<char*>(static_cast<const char*>(block));  // NOLINT: only read
    if constexpr (shape == Shape::usual) {
      // Groups of four, two at once; hidden parameters come over what is too much.
      using Pair = std::uint64_t __attribute__((vector_size(16)));
      const auto first = reinterpret_cast<std::uint64_t>(start);
      Pair addresses = {first, first + 8};
      for (std::size_t i = 0; i < self.arguments; i += 4) {
        for (std::size_t j = i; j < i + 4; j += 2, addresses += 16) {
          std::memcpy(parameters + j, &addresses, sizeof addresses);
        }
      }
      return;
    }
    const std::uint32_t* offsets = self.plan.slot_offsets.data();
    for (std::uint32_t i = 0; i < self.arguments; ++i) parameters[i] = start + offsets[i];
  }
};

/// What is rare but allowed: another release's config, a launcher of another shape. alloca, because
/// only the launcher knows how many parameters there are and a launch must not touch the heap.
template <typename Arguments>
[[gnu::noinline]] relaunch_status launch_general(const relaunch_launcher* launcher,
                                                 const relaunch_launch_config* config,
                                                 Arguments given) noexcept {
  relaunch_launch_config own;
  const relaunch_status status = guarded([&] {
    require(launcher, "launcher");
    own = read(config, "config");
    check_scratch(*launcher, own);
    return RELAUNCH_OK;
  });
  if (status != RELAUNCH_OK) return status;
  if (!given.fit(*launcher)) return given.fail(*launcher);
  const std::size_t count = launcher->arguments + relaunch_launcher::kMostHidden;
  auto** parameters = static_cast<void**>(__builtin_alloca(count * sizeof(void*)));
  given.template place<Shape::general>(*launcher, parameters);
  return submit<Shape::general>(*launcher, own, parameters);
}

template <typename Arguments>
[[gnu::always_inline]] inline relaunch_status launch(const relaunch_launcher* launcher,
                                                     const relaunch_launch_config* config,
                                                     Arguments given) noexcept {
  if (launcher == nullptr || config == nullptr || config->size != launcher->usual_size ||
      given.are_null() || !given.fit(*launcher)) [[unlikely]] {
    return launch_general(launcher, config, given);
  }
  void* parameters[relaunch_launcher::kUsualArguments + relaunch_launcher::kMostHidden];
  given.template place<Shape::usual>(*launcher, parameters);
  return submit<Shape::usual>(*launcher, *config, parameters);
}

}  // namespace
}  // namespace relaunch::capi

using namespace relaunch;
using namespace relaunch::capi;

relaunch_status relaunch_launch(const relaunch_launcher* launcher,
                                const relaunch_launch_config* config, void* const* arguments,
                                size_t count) {
  return capi::launch(launcher, config, Pointers{arguments, count});
}

relaunch_status relaunch_launch_packed(const relaunch_launcher* launcher,
                                       const relaunch_launch_config* config, const void* packed,
                                       size_t bytes) {
  return capi::launch(launcher, config, Packed{packed, bytes});
}

relaunch_status relaunch_ensure_context(const relaunch_launcher* launcher) {
  return guarded([=] {
    require(launcher, "launcher");
    const Status status = launcher->driver->ensure_context();
    return status ? RELAUNCH_OK : fail_driver(*launcher, status, nullptr);
  });
}
