#pragma once
// What each part adds to the extension module `relaunch._core`.

#include <pybind11/pybind11.h>

namespace relaunch {

/// Objects of a bound class come from its constructor or from C++, and are whole: `__new__` by
/// itself, whose object has no C++ value yet, is refused. After the last `def`.
inline void refuse_unfinished(pybind11::handle bound) {
  reinterpret_cast<PyTypeObject*>(bound.ptr())->tp_new = [](PyTypeObject* type, PyObject* args,
                                                            PyObject* kwargs) {
    return type->tp_base->tp_new(type, args, kwargs);
  };
}

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
