#include "precompiled/python/hook_chain.hpp"

#include <utility>

#include "precompiled/python/guards.hpp"

namespace relaunch {
namespace {

PyObject* call_name = nullptr;       // "__call__"
PyObject* calls_name = nullptr;      // "calls"
PyTypeObject* chain_type = nullptr;  // owned
PyObject* chain_call = nullptr;      // owned

/// What a class of Python's has for `__call__` itself, borrowed; null where it has none.
PyObject* own_call(PyTypeObject* type) noexcept {
  PyObject* found = PyDict_GetItemWithError(type->tp_dict, call_name);
  if (found == nullptr) PyErr_Clear();
  return found;
}

PyObject* set_hook_chain(PyObject* /*module*/, PyObject* type) {
  PyObject* call = nullptr;
  if (type != Py_None) {
    auto* as_class = reinterpret_cast<PyTypeObject*>(type);
    const bool is_own =
        PyType_Check(type) != 0 && PyType_HasFeature(as_class, Py_TPFLAGS_HEAPTYPE) != 0;
    if (is_own) call = own_call(as_class);
    if (call == nullptr) {
      PyErr_Format(PyExc_TypeError, "type: expected a class with a __call__ of its own, got %R",
                   type);
      return nullptr;
    }
  }
  PyObject* named = call == nullptr ? nullptr : type;
  const Ref old_type(reinterpret_cast<PyObject*>(
      std::exchange(chain_type, reinterpret_cast<PyTypeObject*>(Py_XNewRef(named)))));
  const Ref old_call(std::exchange(chain_call, Py_XNewRef(call)));
  Py_RETURN_NONE;
}

PyMethodDef functions[] = {
    {"set_hook_chain", set_hook_chain, METH_O,
     "set_hook_chain(type, /)\n--\n\n"
     "A hook of exactly this class whose `calls` is an empty list is not called: its `__call__`\n"
     "must do nothing but call those. None for no class. TypeError."},
    {nullptr, nullptr, 0, nullptr},
};

}  // namespace

bool is_empty_chain(PyObject* hook) noexcept {
  if (Py_TYPE(hook) != chain_type || own_call(chain_type) != chain_call) return false;
  const Ref calls(PyObject_GetAttr(hook, calls_name));
  if (!calls) {
    PyErr_Clear();  // the call says what is wrong
    return false;
  }
  return PyList_CheckExact(calls.get()) && PyList_GET_SIZE(calls.get()) == 0;
}

bool add_hook_chain(PyObject* module) noexcept {
  call_name = PyUnicode_InternFromString("__call__");
  calls_name = PyUnicode_InternFromString("calls");
  return call_name != nullptr && calls_name != nullptr &&
         PyModule_AddFunctions(module, functions) == 0;
}

}  // namespace relaunch
