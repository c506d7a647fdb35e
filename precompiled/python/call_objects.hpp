#pragma once
// The entries of a launcher for calls that may give descriptor objects.

#include <Python.h>

#include <cstddef>

namespace relaunch {

/// As a launcher's two entries, for arguments that are not as many as the plan has or that may have
/// objects inside tuples.
PyObject* call_objects(PyObject* object, PyObject* const* args, std::size_t nargsf,
                       PyObject* kwnames) noexcept;
PyObject* launch_objects(PyObject* object, PyObject* const* args, Py_ssize_t count) noexcept;

}  // namespace relaunch
