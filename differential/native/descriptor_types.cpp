#include "differential/native/descriptor_types.hpp"

#include <cstdlib>
#include <cstring>

namespace relaunch::differential {
namespace {

// PyCUtensorMap of Triton 3.5 and later: the 128 bytes lie at offset 128 of a 128-byte-aligned
// object. PyTDMDescriptor: right behind the 16-byte header, 48 bytes in 3.6 and 80 from 3.7 on.
// Both are made from at most 128 bytes, zeros behind them.
constexpr Py_ssize_t kMostBytes = 128;
struct alignas(128) TensorMapObject {
  PyObject head;
  alignas(128) std::byte map[kMostBytes];
};
struct DescriptorObject {
  PyObject head;
  std::byte words[kMostBytes];
};
static_assert(sizeof(TensorMapObject) == 256 && offsetof(TensorMapObject, map) == 128);
static_assert(offsetof(DescriptorObject, words) == 16);

PyObject* aligned_object(PyTypeObject* type, Py_ssize_t /*items*/) {
  void* const memory = std::aligned_alloc(alignof(TensorMapObject), sizeof(TensorMapObject));
  if (memory == nullptr) return PyErr_NoMemory();
  std::memset(memory, 0, sizeof(TensorMapObject));
  return PyObject_Init(static_cast<PyObject*>(memory), type);
}

PyObject* new_from_bytes(PyTypeObject* type, PyObject* args, std::byte* (*where)(PyObject*)) {
  const char* bytes = nullptr;
  Py_ssize_t count = 0;
  if (!PyArg_ParseTuple(args, "y#", &bytes, &count)) return nullptr;
  if (count > kMostBytes) {
    return PyErr_Format(PyExc_ValueError, "%s holds at most %zd bytes, got %zd", type->tp_name,
                        kMostBytes, count);
  }
  PyObject* const self = type->tp_alloc(type, 0);
  if (self != nullptr) std::memcpy(where(self), bytes, static_cast<std::size_t>(count));
  return self;
}

PyObject* new_tensor_map(PyTypeObject* type, PyObject* args, PyObject* /*kwargs*/) {
  const auto where = [](PyObject* self) { return reinterpret_cast<TensorMapObject*>(self)->map; };
  return new_from_bytes(type, args, where);
}

PyObject* new_descriptor(PyTypeObject* type, PyObject* args, PyObject* /*kwargs*/) {
  const auto where = [](PyObject* self) {
    return reinterpret_cast<DescriptorObject*>(self)->words;
  };
  return new_from_bytes(type, args, where);
}

PyTypeObject named_type(const char* name, Py_ssize_t size, newfunc make) {
  const PyVarObject head[] = {PyVarObject_HEAD_INIT(nullptr, 0)};
  PyTypeObject type{};
  type.ob_base = head[0];
  type.tp_name = name;
  type.tp_basicsize = size;
  type.tp_flags = Py_TPFLAGS_DEFAULT;
  type.tp_new = make;
  return type;
}

void add_type(pybind11::module_& module, PyTypeObject& type, const char* attribute) {
  if (PyType_Ready(&type) != 0) throw pybind11::error_already_set();
  module.attr(attribute) =
      pybind11::reinterpret_borrow<pybind11::object>(reinterpret_cast<PyObject*>(&type));
}

}  // namespace

void add_descriptor_types(pybind11::module_& module) {
  static PyTypeObject tensor_map = [] {
    PyTypeObject type =
        named_type("triton.backends.nvidia.PyCUtensorMap", sizeof(TensorMapObject), new_tensor_map);
    type.tp_alloc = aligned_object;
    type.tp_free = std::free;
    return type;
  }();
  static PyTypeObject descriptor =
      named_type("triton.backends.amd.PyTDMDescriptor", sizeof(DescriptorObject), new_descriptor);
  add_type(module, tensor_map, "PyCUtensorMap");
  add_type(module, descriptor, "PyTDMDescriptor");
}

}  // namespace relaunch::differential
