#pragma once
// relaunch._core.LaunchEntry: what stands where a kernel's launcher object stood.

#include <Python.h>

namespace relaunch {

/// Makes the type and adds it to the module. False with an exception set.
bool add_launch_entry(PyObject* module) noexcept;

}  // namespace relaunch
