#include "precompiled/python/descriptor.hpp"

#include <cstring>

#include "precompiled/python/guards.hpp"

namespace relaunch {

PyTypeObject* tensor_map_type = nullptr;

namespace {

constexpr std::size_t kMapBytes = 128;
constexpr std::uintptr_t kMapAlignment = 128;
constexpr std::size_t kTritonMapOffset =
    128;  // PyCUtensorMap: the map lies behind its own alignment
constexpr std::size_t kTdmBytes = 48;
constexpr std::size_t kTdmOffset = 16;  // PyTDMDescriptor: right behind the object header
static_assert(sizeof(PyObject) == kTdmOffset);

struct TensorMapObject {
  PyObject base;
  std::byte room[kMapBytes + kMapAlignment - 1];
};

/// The allocator aligns objects to 16 bytes, so the map floats in its room.
std::byte* map_of(PyObject* self) noexcept {
  const auto room =
      reinterpret_cast<std::uintptr_t>(reinterpret_cast<TensorMapObject*>(self)->room);
  return reinterpret_cast<std::byte*>((room + kMapAlignment - 1) & ~(kMapAlignment - 1));
}

PyObject* new_tensor_map(PyTypeObject* type, PyObject* args, PyObject* kwargs) noexcept {
  static const char* names[] = {"source", nullptr};
  PyObject* source = Py_None;
  if (PyArg_ParseTupleAndKeywords(args, kwargs, "|O:TensorMap", const_cast<char**>(names),
                                  &source) == 0) {
    return nullptr;
  }
  Ref self(type->tp_alloc(type, 0));
  if (!self) return nullptr;
  std::memset(map_of(self.get()), 0, kMapBytes);
  if (source == Py_None) return self.release();
  Py_buffer view{};
  if (PyObject_GetBuffer(source, &view, PyBUF_SIMPLE) != 0) return nullptr;
  const bool fits = view.len == static_cast<Py_ssize_t>(kMapBytes);
  if (fits) {
    std::memcpy(map_of(self.get()), view.buf, kMapBytes);
  } else {
    PyErr_Format(PyExc_ValueError, "a tensor map has %zu bytes, got %zd", kMapBytes, view.len);
  }
  PyBuffer_Release(&view);
  return fits ? self.release() : nullptr;
}

int map_buffer(PyObject* self, Py_buffer* view, int flags) noexcept {
  return PyBuffer_FillInfo(view, self, map_of(self), kMapBytes, 0, flags);
}

PyObject* map_address(PyObject* self, void* /*closure*/) noexcept {
  return PyLong_FromUnsignedLongLong(reinterpret_cast<std::uintptr_t>(map_of(self)));
}

void delete_tensor_map(PyObject* self) noexcept {
  PyTypeObject* type = Py_TYPE(self);
  type->tp_free(self);
  Py_DECREF(type);
}

PyGetSetDef map_properties[] = {
    {"address", map_address, nullptr,
     "Host address of the 128 bytes, a multiple of 128: where an encode call may write.", nullptr},
    {nullptr, nullptr, nullptr, nullptr, nullptr},
};

PyType_Slot map_slots[] = {
    {Py_tp_doc,
     const_cast<char*>(
         "TensorMap(source=None)\n--\n\nA CUDA tensor map: 128 bytes at a 128-byte-aligned "
         "address, zero or a copy of `source`. A writable buffer.")},
    {Py_tp_new, reinterpret_cast<void*>(new_tensor_map)},
    {Py_tp_dealloc, reinterpret_cast<void*>(delete_tensor_map)},
    {Py_tp_getset, map_properties},
    {Py_bf_getbuffer, reinterpret_cast<void*>(map_buffer)},
    {0, nullptr},
};

PyType_Spec map_spec = {"relaunch.TensorMap", sizeof(TensorMapObject), 0, Py_TPFLAGS_DEFAULT,
                        map_slots};

/// `module.name` where the module is loaded and the name is a type of at least `bytes` bytes.
PyTypeObject* find_type(const char* module_name, const char* name, std::size_t bytes) noexcept {
  PyObject* modules = PyImport_GetModuleDict();  // borrowed
  if (modules == nullptr) return nullptr;
  const Ref module = Ref::borrow(PyDict_GetItemString(modules, module_name));
  if (!module) return nullptr;
  Ref found(PyObject_GetAttrString(module.get(), name));
  if (!found) PyErr_Clear();
  if (!found || PyType_Check(found.get()) == 0) return nullptr;
  const auto* type = reinterpret_cast<PyTypeObject*>(found.get());
  if (type->tp_basicsize < static_cast<Py_ssize_t>(bytes)) return nullptr;
  return reinterpret_cast<PyTypeObject*>(found.release());
}

}  // namespace

bool add_tensor_map(PyObject* module) noexcept {
  PyObject* type = PyType_FromSpec(&map_spec);
  if (type == nullptr) return false;
  tensor_map_type = reinterpret_cast<PyTypeObject*>(type);
  return PyModule_AddObjectRef(module, "TensorMap", type) == 0;
}

PyTypeObject* find_triton_tensor_map() noexcept {
  return find_type("triton.backends.nvidia.driver", "PyCUtensorMap", kTritonMapOffset + kMapBytes);
}

PyTypeObject* find_triton_tdm_descriptor() noexcept {
  return find_type("triton.backends.amd.driver", "PyTDMDescriptor", kTdmOffset + kTdmBytes);
}

bool convert_tensor_map(PyObject* object, const PyTypeObject* triton_type, std::byte* slot,
                        DescriptorFault* fault) noexcept {
  const std::byte* map = nullptr;
  if (Py_TYPE(object) == triton_type) {
    map = reinterpret_cast<const std::byte*>(object) + kTritonMapOffset;
  } else if (Py_TYPE(object) == tensor_map_type) {
    map = map_of(object);
  } else {
    *fault = DescriptorFault::wrong_type;
    return false;
  }
  if (reinterpret_cast<std::uintptr_t>(map) % kMapAlignment != 0) {
    *fault = DescriptorFault::unaligned;
    return false;
  }
  std::memcpy(slot, map, kMapBytes);
  return true;
}

bool convert_tdm_descriptor(PyObject* object, const PyTypeObject* triton_type, std::byte* slot,
                            DescriptorFault* fault) noexcept {
  if (Py_TYPE(object) != triton_type) {
    *fault = DescriptorFault::wrong_type;
    return false;
  }
  std::memcpy(slot, reinterpret_cast<const std::byte*>(object) + kTdmOffset, kTdmBytes);
  return true;
}

}  // namespace relaunch
