#include "precompiled/python/descriptor.hpp"

#include <cstring>

#include "precompiled/python/errors.hpp"
#include "precompiled/python/guards.hpp"
#include "precompiled/python/launcher.hpp"

namespace relaunch {

PyTypeObject* tensor_map_type = nullptr;

namespace {

constexpr std::size_t kMapBytes = 128;
constexpr std::uintptr_t kMapAlignment = 128;
constexpr std::size_t kTritonMapOffset =
    128;  // PyCUtensorMap: the map lies behind its own alignment
constexpr std::uint64_t kHostAlignment = 64;  // of what tma_desc_cpu_ptr() gives
constexpr std::size_t kTdmOffset = 16;        // PyTDMDescriptor: right behind the object header
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

PyObject* map_host_address(PyObject* self, PyObject* /*none*/) noexcept {
  return map_address(self, nullptr);
}

PyMethodDef map_methods[] = {
    {"tma_desc_cpu_ptr", map_host_address, METH_NOARGS,
     "tma_desc_cpu_ptr($self, /)\n--\n\nThe address, as Triton 3.2 to 3.4 asks for it."},
    {nullptr, nullptr, 0, nullptr},
};

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
    {Py_tp_methods, map_methods},
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

bool take_map(PyObject* object, const PyTypeObject* triton_type, std::byte* slot,
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

/// The address that tma_desc_cpu_ptr() gives is trusted like that of data_ptr(): 128 bytes are read
/// there. An exception is pending only where the fault says that something raised.
bool take_map_at_address(PyObject* object, std::byte* slot, DescriptorFault* fault) noexcept {
  if (Py_TYPE(object) == tensor_map_type) {
    std::memcpy(slot, map_of(object), kMapBytes);
    return true;
  }
  *fault = DescriptorFault::no_method;
  const Ref method(PyObject_GetAttrString(object, "tma_desc_cpu_ptr"));
  if (!method) return false;
  *fault = DescriptorFault::method_raised;
  const Ref result(PyObject_CallNoArgs(method.get()));
  if (!result) return false;
  *fault = DescriptorFault::not_an_int;
  if (PyLong_Check(result.get()) == 0) return false;
  const std::uint64_t address = PyLong_AsUnsignedLongLong(result.get());
  *fault = address == 0 ? DescriptorFault::null_address : DescriptorFault::unaligned_address;
  if (PyErr_Occurred() != nullptr) PyErr_Clear();  // no address: ~0 is unaligned
  if (address == 0 || address % kHostAlignment != 0) return false;
  std::memcpy(slot, reinterpret_cast<const void*>(address), kMapBytes);
  return true;
}

bool take_tdm(PyObject* object, const PyTypeObject* triton_type, std::uint32_t bytes,
              std::byte* slot, DescriptorFault* fault) noexcept {
  *fault = DescriptorFault::wrong_type;
  if (Py_TYPE(object) != triton_type) return false;
  std::memcpy(slot, reinterpret_cast<const std::byte*>(object) + kTdmOffset, bytes);
  return true;
}

}  // namespace

bool add_tensor_map(PyObject* module) noexcept {
  PyObject* type = PyType_FromSpec(&map_spec);
  if (type == nullptr) return false;
  tensor_map_type = reinterpret_cast<PyTypeObject*>(type);
  return PyModule_AddObjectRef(module, "TensorMap", type) == 0;
}

PyTypeObject* find_descriptor_type(const Dialect& dialect) noexcept {
  const DescriptorRules& rules = dialect.descriptors;
  if (rules.by_value == Type::tdm_desc) {
    return find_type("triton.backends.amd.driver", "PyTDMDescriptor", kTdmOffset + rules.bytes);
  }
  if (rules.by_value != Type::nv_tma_desc || rules.by_address) return nullptr;
  return find_type("triton.backends.nvidia.driver", "PyCUtensorMap", kTritonMapOffset + kMapBytes);
}

bool take_descriptor(const Launcher& self, const Step& step, PyObject* value, std::byte* slot) {
  const auto* type = reinterpret_cast<const PyTypeObject*>(self.descriptor_type.get());
  DescriptorFault fault{};
  bool taken = false;
  if (step.op == Op::nv_tma_desc) {
    taken = take_map(value, type, slot, &fault);
  } else if (step.op == Op::map_address) {
    taken = take_map_at_address(value, slot, &fault);
  } else {
    taken = take_tdm(value, type, self.dialect->descriptors.bytes, slot, &fault);
  }
  return taken || fail_descriptor(self, step, value, fault);
}

}  // namespace relaunch
