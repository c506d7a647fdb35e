#include "precompiled/python/convert.hpp"

#include "precompiled/python/guards.hpp"

namespace relaunch {
namespace {

bool takes_index(Beside beside) {
#if PY_VERSION_HEX >= 0x030E0000
  return beside != Beside::none;
#else
  return beside == Beside::index;
#endif
}

/// The int that `object` is or gives by __index__.
PyObject* marker = nullptr;

Ref as_int(PyObject* object, Beside beside) noexcept {
  if (PyLong_Check(object)) return Ref::borrow(object);
  if (!takes_index(beside) || PyIndex_Check(object) == 0) {
    raise_mismatch(PyExc_TypeError);
    return Ref();
  }
  return Ref(PyNumber_Index(object));
}

}  // namespace

bool prepare_conversions() noexcept {
  marker = PyUnicode_InternFromString("a value that does not fit its type");
  return marker != nullptr;
}

PyObject* mismatch() noexcept { return marker; }

bool raise_mismatch(PyObject* type) noexcept {
  PyErr_SetObject(type, mismatch());
  return false;
}

bool int64_of(PyObject* object, std::int64_t* value) noexcept {
  const Ref number = as_int(object, Beside::index);
  if (!number) return false;
  int overflow = 0;
  *value = PyLong_AsLongLongAndOverflow(number.get(), &overflow);
  return overflow == 0 || raise_mismatch(PyExc_OverflowError);
}

bool masked_of(PyObject* object, Beside beside, std::uint64_t* value) noexcept {
  const Ref number = as_int(object, beside);
  if (!number) return false;
  *value = PyLong_AsUnsignedLongLongMask(number.get());
  return true;
}

bool uint64_of(PyObject* object, Beside beside, std::uint64_t* value) noexcept {
  const Ref number = as_int(object, beside);
  if (!number) return false;
  *value = PyLong_AsUnsignedLongLong(number.get());
  if (*value != std::numeric_limits<std::uint64_t>::max() || PyErr_Occurred() == nullptr) {
    return true;
  }
  PyErr_Clear();
  return raise_mismatch(PyExc_OverflowError);
}

bool double_of(PyObject* object, double* value) noexcept {
  if (PyFloat_Check(object)) {
    *value = PyFloat_AS_DOUBLE(object);
    return true;
  }
  Ref number = Ref::borrow(object);
  const PyNumberMethods* methods = Py_TYPE(object)->tp_as_number;
  const bool gives_float = methods != nullptr && methods->nb_float != nullptr;
  if (!PyLong_CheckExact(object)) {
    if (gives_float) {
      *value = PyFloat_AsDouble(object);
      return *value != -1.0 || PyErr_Occurred() == nullptr;
    }
    number = as_int(object, Beside::index);
    if (!number) return false;
  }
  *value = PyLong_AsDouble(number.get());
  if (*value != -1.0 || PyErr_Occurred() == nullptr) return true;
  PyErr_Clear();
  return raise_mismatch(PyExc_OverflowError);
}

std::uint16_t pack_half_nan(double value) noexcept {
#if PY_VERSION_HEX >= 0x030E0000
  std::uint16_t bits = 0;
  PyFloat_Pack2(value, reinterpret_cast<char*>(&bits), 1);
  return bits;
#else
  return pack_half(value).bits;
#endif
}

}  // namespace relaunch
