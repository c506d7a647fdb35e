#pragma once
// A bound launcher: everything that is known before the first launch, and nothing that a launch
// writes. One object serves many threads.

#include <Python.h>

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "precompiled/core/launch.hpp"
#include "precompiled/core/plan.hpp"
#include "precompiled/driver/driver.hpp"
#include "precompiled/python/descriptor_meta.hpp"
#include "precompiled/python/guards.hpp"

namespace relaunch {

/// Arguments in front of the kernel's own.
inline constexpr Py_ssize_t kCallFixed = 4;  // grid_x, grid_y, grid_z, stream
inline constexpr Py_ssize_t kLaunchFixed =
    9;  // these, function, kernel_metadata, launch_metadata, hooks

/// Hidden parameters that a caller can give: one per entry of the largest hidden section.
inline constexpr std::size_t kMaxHidden = 2;

/// One launch, as far as it is not in the plan.
struct LaunchRequest {
  std::array<std::int32_t, 3> grid;
  std::uint64_t stream;
  std::uint64_t function;
  std::int32_t num_warps;
  std::int32_t shared;  // bytes
};

struct Launcher {
  Plan plan;
  const Dialect* dialect = nullptr;
  const Driver* driver = nullptr;
  /// Hands a launch to the driver, with or without the GIL as the dialect has it.
  Status (*submit)(const Launcher& self, const LaunchCall& call, bool non_portable) = nullptr;
  /// Reads kernel_metadata in the dialect's form. False with an exception set.
  bool (*parse_metadata)(const Launcher& self, PyObject* metadata, Geometry* geometry) = nullptr;
  /// The two entries, picked for the plan's shape.
  vectorcallfunc call_entry = nullptr;
  PyObject* (*launch_entry)(PyObject* self, PyObject* const* args, Py_ssize_t count) = nullptr;
  /// Those for arguments as the plan has them; others where the first two look for objects before.
  vectorcallfunc call_expanded = nullptr;
  PyObject* (*launch_expanded)(PyObject* self, PyObject* const* args, Py_ssize_t count) = nullptr;

  LaunchOptions options;
  Configuration configuration;  // of the options' own geometry
  std::uint64_t function = 0;

  // One block on a launch's stack: slots, values and then parameter pointers, held items. Offsets
  // in bytes.
  std::uint32_t pointers_at = 0;
  std::uint32_t values_at = 0;
  std::uint32_t held_at = 0;
  std::uint32_t frame_bytes = 0;

  // By index in the hidden section: an int, an object with data_ptr(), or a callable of
  // (grid, stream) that gives one of these. None where nothing was given.
  std::array<Ref, kMaxHidden> scratch;
  std::array<bool, kMaxHidden> scratch_is_called{};

  // For calls with one object for each descriptor.
  const Tree* declared = nullptr;  // what `tree` holds
  std::vector<DescriptorMeta> metas;

  Ref descriptor_type;  // Triton's own, where its module was loaded
  std::string name;     // of the kernel
  Ref tree;
};

struct LauncherObject {
  PyObject base;
  vectorcallfunc vectorcall;
  Launcher* launcher;
};

inline const Launcher& launcher_of(PyObject* self) noexcept {
  return *reinterpret_cast<LauncherObject*>(self)->launcher;
}

/// Sets the entries and the frame's layout for the finished plan. Without a function the hot call
/// is refused.
void choose_entries(Launcher& launcher, bool has_function) noexcept;

/// tp_new: builds a Launcher from the constructor's arguments. Null with an exception set.
PyObject* new_launcher(PyTypeObject* type, PyObject* args, PyObject* kwargs) noexcept;

/// Makes relaunch.Launcher and BindError and adds them to the module. False with an exception set.
bool add_launcher(PyObject* module) noexcept;

}  // namespace relaunch
