#pragma once
// What a launcher is refused for when it is bound: a kernel that takes other parameters than its
// signature gives. Everything here throws: PythonError with an exception set, or BindError.

#include <Python.h>

#include "precompiled/python/launcher.hpp"

namespace relaunch {

/// `binary` is bytes-like, or a path of the file that holds the kernel. Of several kernels in it
/// the one with the launcher's name is meant.
void check_binary(const Launcher& launcher, PyObject* binary);

/// The launcher's function, where its driver has a table of it.
void check_function(const Launcher& launcher);

}  // namespace relaunch
