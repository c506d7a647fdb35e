#include "precompiled/python/descriptor.hpp"

#include <cstring>

#include "precompiled/python/errors.hpp"
#include "precompiled/python/guards.hpp"
#include "precompiled/python/launcher.hpp"
#include "precompiled/python/tensor_map.hpp"

namespace relaunch {

namespace {

constexpr std::size_t kTritonMapOffset =
    128;  // PyCUtensorMap: the map lies behind its own alignment
constexpr std::uint64_t kHostAlignment = 64;  // of what tma_desc_cpu_ptr() gives
constexpr std::size_t kTdmOffset = 16;        // PyTDMDescriptor: right behind the object header
static_assert(sizeof(PyObject) == kTdmOffset);

PyObject* map_method_name = nullptr;

/// `module.name` where the module is loaded and the name is a type of at least `bytes` bytes. Null
/// where not, and with an exception set where there is no memory to tell.
PyTypeObject* find_type(const char* module_name, const char* name, std::size_t bytes) noexcept {
  PyObject* modules = PyImport_GetModuleDict();  // borrowed
  if (modules == nullptr) return nullptr;
  const Ref key(PyUnicode_FromString(module_name));
  const Ref module = Ref::borrow(key ? PyDict_GetItemWithError(modules, key.get()) : nullptr);
  if (!module) return nullptr;
  const Ref attribute(PyUnicode_InternFromString(name));
  Ref found(attribute ? PyObject_GetAttr(module.get(), attribute.get()) : nullptr);
  if (!found && !is_out_of_memory()) PyErr_Clear();
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
    map = bytes_of_map(object);
  } else {
    *fault = DescriptorFault::wrong_type;
    return false;
  }
  if (reinterpret_cast<std::uintptr_t>(map) % kTensorMapAlignment != 0) {
    *fault = DescriptorFault::unaligned;
    return false;
  }
  std::memcpy(slot, map, kTensorMapBytes);
  return true;
}

/// The address that tma_desc_cpu_ptr() gives is trusted like that of data_ptr(): 128 bytes are read
/// there. An exception is pending only where the fault says that something raised.
bool take_map_at_address(PyObject* object, std::byte* slot, DescriptorFault* fault) noexcept {
  if (Py_TYPE(object) == tensor_map_type) {
    std::memcpy(slot, bytes_of_map(object), kTensorMapBytes);
    return true;
  }
  *fault = DescriptorFault::no_method;
  const Ref method(PyObject_GetAttr(object, map_method_name));
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
  std::memcpy(slot, reinterpret_cast<const void*>(address), kTensorMapBytes);
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

bool prepare_descriptors() noexcept {
  map_method_name = PyUnicode_InternFromString("tma_desc_cpu_ptr");
  return map_method_name != nullptr;
}

PyTypeObject* find_descriptor_type(const Dialect& dialect) noexcept {
  const DescriptorRules& rules = dialect.descriptors;
  if (rules.by_value == Type::tdm_desc) {
    return find_type("triton.backends.amd.driver", "PyTDMDescriptor", kTdmOffset + rules.bytes);
  }
  if (rules.by_value != Type::nv_tma_desc || rules.by_address) return nullptr;
  return find_type("triton.backends.nvidia.driver", "PyCUtensorMap",
                   kTritonMapOffset + kTensorMapBytes);
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
