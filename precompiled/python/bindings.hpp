#pragma once
// What each part adds to the extension module `relaunch._core`.

#include <pybind11/pybind11.h>

#include <new>

namespace relaunch {

/// Objects of a bound class come from its constructor or from C++, and are whole: `__new__` by
/// itself, whose object has no C++ value yet, is refused. Without memory for an object there is
/// MemoryError. After the last `def`.
inline void refuse_unfinished(pybind11::handle bound) {
  auto* bound_type = reinterpret_cast<PyTypeObject*>(bound.ptr());
  bound_type->tp_new = [](PyTypeObject* type, PyObject* args, PyObject* kwargs) -> PyObject* {
    try {
      return type->tp_base->tp_new(type, args, kwargs);
    } catch (const std::bad_alloc&) {
      return PyErr_NoMemory();
    }
  };
  // pybind11 looks into the object without a look at whether there is one.
  bound_type->tp_alloc = [](PyTypeObject* type, Py_ssize_t items) {
    PyObject* made = PyType_GenericAlloc(type, items);
    if (made != nullptr) return made;
    PyErr_Clear();
    throw std::bad_alloc();
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
