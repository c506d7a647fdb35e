#include "precompiled/python/dlpack.hpp"

#include "precompiled/python/guards.hpp"

namespace relaunch::dlpack {
namespace {

PyObject* table_name = nullptr;
PyObject* method_name = nullptr;
PyObject* no_name = nullptr;  // of nothing

/// What `name` is in the class's own dictionary, or nothing.
Ref own_attribute(PyObject* type, PyObject* name) noexcept {
#if PY_VERSION_HEX >= 0x030C0000
  const Ref names(PyType_GetDict(reinterpret_cast<PyTypeObject*>(type)));
  PyObject* dictionary = names.get();
#else
  PyObject* dictionary = reinterpret_cast<PyTypeObject*>(type)->tp_dict;
#endif
  if (dictionary == nullptr) return Ref();
  Ref found = Ref::borrow(PyDict_GetItemWithError(dictionary, name));
  if (PyErr_Occurred() != nullptr) PyErr_Clear();
  return found;
}

TensorFromObject function_of(PyObject* capsule) noexcept {
  constexpr const char* kName = "dlpack_exchange_api";
  if (PyCapsule_IsValid(capsule, kName) == 0) return nullptr;
  const auto* header = static_cast<const ExchangeHeader*>(PyCapsule_GetPointer(capsule, kName));
  // Majors fall along the chain; one that goes on otherwise is broken, and might never end.
  while (header->version.major > 1) {
    const ExchangeHeader* previous = header->previous;
    if (previous == nullptr || previous->version.major >= header->version.major) return nullptr;
    header = previous;
  }
  if (header->version.major != 1) return nullptr;
  return reinterpret_cast<const ExchangeTable*>(header)->tensor_from_object;
}

/// Walks the classes from the most derived one: whichever of the two names comes first decides.
/// A class with both is the table's own class.
TensorFromObject find(PyTypeObject* type) noexcept {
  const Ref classes = Ref::borrow(type->tp_mro);
  if (!classes || PyTuple_Check(classes.get()) == 0) return nullptr;
  for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(classes.get()); ++i) {
    PyObject* one = PyTuple_GET_ITEM(classes.get(), i);
    if (PyType_Check(one) == 0) continue;
    if (const Ref capsule = own_attribute(one, table_name)) return function_of(capsule.get());
    if (own_attribute(one, method_name)) return nullptr;
  }
  return nullptr;
}

}  // namespace

bool prepare() noexcept {
  table_name = PyUnicode_InternFromString("__dlpack_c_exchange_api__");
  method_name = PyUnicode_InternFromString("data_ptr");
  no_name = PyUnicode_InternFromString("__relaunch_no_such_name__");
  return table_name != nullptr && method_name != nullptr && no_name != nullptr;
}

TensorFromObject find_exchange(PyTypeObject* type) noexcept {
  // A look-up in the type's classes gives it its version tag where it has none yet: of a name that
  // no class has, so that no code of theirs runs. (`__name__` would be found in the metatype.)
  const Ref ignored(PyType_Type.tp_getattro(reinterpret_cast<PyObject*>(type), no_name));
  if (!ignored) PyErr_Clear();
  return find(type);
}

}  // namespace relaunch::dlpack
