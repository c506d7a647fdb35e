#pragma once
// What each part adds to the extension module `relaunch._core`.

#include <pybind11/pybind11.h>

namespace relaunch {

/// PyKernelArg, Tree and the ARG_* constants.
void bind_tree(pybind11::module_& module);

/// Plan and DIALECTS. Behind bind_launcher, whose BindError it raises.
void bind_plan(pybind11::module_& module);

/// Launcher, TensorMap and BindError.
void bind_launcher(pybind11::module_& module);

/// parse, SignatureError and the readers of signature forms.
void bind_migrate(pybind11::module_& module);

/// read_kernels, verify_kernel and BinaryError. Behind bind_launcher, whose BindError it raises.
void bind_binary(pybind11::module_& module);

}  // namespace relaunch
