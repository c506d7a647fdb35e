#ifndef RELAUNCH_DIFFERENTIAL_NATIVE_DESCRIPTOR_TYPES_HPP
#define RELAUNCH_DIFFERENTIAL_NATIVE_DESCRIPTOR_TYPES_HPP

#define PY_SSIZE_T_CLEAN  // y# gives a Py_ssize_t
#include <pybind11/pybind11.h>

namespace relaunch::differential {

/// Adds PyCUtensorMap and PyTDMDescriptor: stand-ins for the classes of Triton's drivers, which
/// launchers read by layout. Both are made from the bytes they hold.
void add_descriptor_types(pybind11::module_& module);

}  // namespace relaunch::differential

#endif
