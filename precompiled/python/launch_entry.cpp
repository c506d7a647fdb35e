// A callable with a target that can be changed. Classes made from it keep the vectorcall
// (Python 3.12 and later; before, a call makes a tuple of its arguments), so that a launcher object
// of Triton's can be replaced without a Python frame for each launch.

#include "precompiled/python/launch_entry.hpp"

#include <structmember.h>

#include <cstddef>

#include "precompiled/python/guards.hpp"
#include "precompiled/python/launcher.hpp"

namespace relaunch {
namespace {

PyTypeObject* launcher_type = nullptr;

struct LaunchEntryObject {
  PyObject base;
  vectorcallfunc vectorcall;
  PyObject* target;  // owned
};

LaunchEntryObject* entry_of(PyObject* object) {
  return reinterpret_cast<LaunchEntryObject*>(object);
}

PyObject* call(PyObject* object, PyObject* const* args, std::size_t nargsf, PyObject* kwnames) {
  // Held: a hook or a data_ptr() may change the target.
  const Ref target = Ref::borrow(entry_of(object)->target);
  if (!target) {
    PyErr_SetString(PyExc_TypeError, "LaunchEntry has no target: it was never initialised");
    return nullptr;
  }
  const bool has_keywords = kwnames != nullptr && PyTuple_GET_SIZE(kwnames) != 0;
  if (Py_TYPE(target.get()) != launcher_type) {
    return PyObject_Vectorcall(target.get(), args, nargsf, kwnames);
  }
  if (has_keywords) [[unlikely]] {
    const Ref ordered(PyObject_GetAttrString(object, "call_with_keywords"));
    return ordered ? PyObject_Vectorcall(ordered.get(), args, nargsf, kwnames) : nullptr;
  }
  return launcher_of(target.get()).launch_entry(target.get(), args, PyVectorcall_NARGS(nargsf));
}

PyObject* retarget(PyObject* object, PyObject* target) {
  if (PyCallable_Check(target) == 0) {
    PyErr_Format(PyExc_TypeError, "target: expected a Launcher or a callable, got %s",
                 Py_TYPE(target)->tp_name);
    return nullptr;
  }
  const Ref old(std::exchange(entry_of(object)->target, Py_NewRef(target)));
  Py_RETURN_NONE;
}

PyObject* make(PyTypeObject* type, PyObject* args, PyObject* /*kwargs*/) {
  if (PyTuple_GET_SIZE(args) == 0) {
    PyErr_SetString(PyExc_TypeError, "LaunchEntry() needs a target: a Launcher or a callable");
    return nullptr;
  }
  Ref self(type->tp_alloc(type, 0));
  if (!self) return nullptr;
  entry_of(self.get())->vectorcall = call;
  const Ref done(retarget(self.get(), PyTuple_GET_ITEM(args, 0)));
  return done ? self.release() : nullptr;
}

int traverse(PyObject* object, visitproc visit, void* arg) {
  Py_VISIT(Py_TYPE(object));
  Py_VISIT(entry_of(object)->target);
  return 0;
}

int clear(PyObject* object) {
  Py_CLEAR(entry_of(object)->target);
  return 0;
}

void deallocate(PyObject* object) {
  PyObject_GC_UnTrack(object);
  PyTypeObject* type = Py_TYPE(object);
  clear(object);
  type->tp_free(object);
  Py_DECREF(type);
}

PyObject* get_target(PyObject* object, void* /*closure*/) {
  PyObject* target = entry_of(object)->target;
  return Py_NewRef(target != nullptr ? target : Py_None);
}

PyMethodDef methods[] = {
    {"retarget", retarget, METH_O,
     "retarget($self, target, /)\n--\n\n"
     "Calls go to `target` from now on; one that is under way ends where it began."},
    {nullptr, nullptr, 0, nullptr},
};

PyGetSetDef properties[] = {
    {"target", get_target, nullptr, "What calls go to.", nullptr},
    {nullptr, nullptr, nullptr, nullptr, nullptr},
};

PyMemberDef members[] = {
    {"__vectorcalloffset__", T_PYSSIZET, offsetof(LaunchEntryObject, vectorcall), READONLY,
     nullptr},
    {nullptr, 0, 0, 0, nullptr},
};

const char* const kText =
    "LaunchEntry(target)\n--\n\n"
    "entry(*args) is target.launch(*args) where the target is a relaunch.Launcher, else "
    "target(*args).";

PyType_Slot slots[] = {
    {Py_tp_doc, const_cast<char*>(kText)},
    {Py_tp_new, reinterpret_cast<void*>(make)},
    {Py_tp_dealloc, reinterpret_cast<void*>(deallocate)},
    {Py_tp_traverse, reinterpret_cast<void*>(traverse)},
    {Py_tp_clear, reinterpret_cast<void*>(clear)},
    {Py_tp_call, reinterpret_cast<void*>(PyVectorcall_Call)},
    {Py_tp_methods, methods},
    {Py_tp_getset, properties},
    {Py_tp_members, members},
    {0, nullptr},
};

PyType_Spec spec = {"relaunch._core.LaunchEntry", sizeof(LaunchEntryObject), 0,
                    Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_HAVE_VECTORCALL |
                        Py_TPFLAGS_BASETYPE | Py_TPFLAGS_IMMUTABLETYPE,
                    slots};

}  // namespace

bool add_launch_entry(PyObject* module) noexcept {
  const Ref launcher(PyObject_GetAttrString(module, "Launcher"));
  const Ref type(launcher ? PyType_FromSpec(&spec) : nullptr);
  launcher_type = reinterpret_cast<PyTypeObject*>(launcher.get());  // the module keeps it
  return type && PyModule_AddObjectRef(module, "LaunchEntry", type.get()) == 0;
}

}  // namespace relaunch
