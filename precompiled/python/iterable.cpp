// Tuple arguments of launchers that take any iterable for one.

#include "precompiled/python/errors.hpp"
#include "precompiled/python/steps.hpp"

namespace relaunch {
namespace {

/// Whether iterating gives the tuple's own items.
bool is_own_iterable(PyObject* object) noexcept {
  return PyTuple_Check(object) != 0 && Py_TYPE(object)->tp_iter == PyTuple_Type.tp_iter;
}

/// A tuple of at most `most` items; what comes behind is not asked for. Null with an exception set.
Ref first_items(PyObject* iterable, Py_ssize_t most) noexcept {
  if (PyList_CheckExact(iterable)) return Ref(PyList_GetSlice(iterable, 0, most));
  const Ref iterator(PyObject_GetIter(iterable));
  if (!iterator) return Ref();
  Ref items(PyList_New(0));
  while (items && PyList_GET_SIZE(items.get()) < most) {
    const Ref item(PyIter_Next(iterator.get()));
    if (!item) break;
    if (PyList_Append(items.get(), item.get()) != 0) items = Ref();
  }
  if (PyErr_Occurred() != nullptr) return Ref();
  return items;
}

}  // namespace

bool open_iterable(const Launcher& self, const Step& step, PyObject** values, HeldItems& held) {
  PyObject* value = values[step.source];
  const auto count = static_cast<Py_ssize_t>(step.extra);
  if (is_own_iterable(value)) {
    return PyTuple_GET_SIZE(value) == count || fail_sequence(self, step, value);
  }
  const Ref items = first_items(value, count + 1);
  if (!items) {
    if (Py_TYPE(value)->tp_iter != nullptr || PySequence_Check(value) != 0) return false;
    PyErr_Clear();  // "object is not iterable", which we word
    return fail_sequence(self, step, value);
  }
  if (PyList_GET_SIZE(items.get()) != count) return fail_sequence(self, step, value);
  Ref tuple(PyList_AsTuple(items.get()));
  if (!tuple) return false;
  values[step.source] = tuple.get();
  held.hold(tuple.release());
  return true;
}

}  // namespace relaunch
