#include "precompiled/python/dlpack.hpp"

#include "precompiled/python/guards.hpp"

namespace relaunch::dlpack {
namespace {

/// One remembered type. The version tag is unique to a type and its state, so an entry needs no
/// reference to the type: neither a change nor a new type at the old address goes unseen.
/// Read and written under the GIL only; a launch depends on no entry.
struct Entry {
  PyTypeObject* type;
  unsigned int version;
  TensorFromObject function;
};

constexpr std::size_t kEntries = 64;
Entry entries[kEntries];

/// 0 where the type has no valid tag.
unsigned int version_of(PyTypeObject* type) noexcept {
#if PY_VERSION_HEX < 0x030C0000
  if ((type->tp_flags & Py_TPFLAGS_VALID_VERSION_TAG) == 0) return 0;
#endif
  return type->tp_version_tag;
}

Entry& entry_of(PyTypeObject* type) noexcept {
  return entries[(reinterpret_cast<std::uintptr_t>(type) >> 5) % kEntries];
}

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
  while (header != nullptr && header->version.major != 1) header = header->previous;
  if (header == nullptr) return nullptr;
  return reinterpret_cast<const ExchangeTable*>(header)->tensor_from_object;
}

/// Walks the classes from the most derived one: whichever of the two names comes first decides.
/// A class with both is the table's own class.
TensorFromObject find(PyTypeObject* type) noexcept {
  static PyObject* table_name = PyUnicode_InternFromString("__dlpack_c_exchange_api__");
  static PyObject* method_name = PyUnicode_InternFromString("data_ptr");
  if (table_name == nullptr || method_name == nullptr) return nullptr;
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

[[gnu::noinline]] TensorFromObject remember(PyTypeObject* type, Entry& entry) noexcept {
  // An attribute look-up gives the type its version tag where it has none yet.
  const Ref ignored(PyObject_GetAttrString(reinterpret_cast<PyObject*>(type), "__name__"));
  if (!ignored) PyErr_Clear();
  const TensorFromObject function = find(type);
  if (const unsigned int version = version_of(type)) entry = {type, version, function};
  return function;
}

}  // namespace

TensorFromObject exchange_of(PyTypeObject* type) noexcept {
  Entry& entry = entry_of(type);
  if (entry.type == type && entry.version == version_of(type)) [[likely]]
    return entry.function;
  return remember(type, entry);
}

}  // namespace relaunch::dlpack
