#include "precompiled/python/torch_tensor.hpp"

#include <dlfcn.h>

#include "precompiled/python/guards.hpp"

namespace relaunch::torch_tensor {

Functions functions;

namespace {

/// `torch._C`, if it was imported, and what is used of it.
struct Torch {
  Ref tensor_base;  // the C type that all tensors have in common
  Ref make_handle;  // tensor -> capsule of a new C++ tensor
  Ref take_handle;  // back, which frees it
};

Ref attribute(const Ref& object, const char* name) noexcept {
  return Ref(object ? PyObject_GetAttrString(object.get(), name) : nullptr);
}

/// Nothing where torch was not imported, or has none of this. An exception may be set.
bool find_torch(Torch* found) noexcept {
  const Ref name(PyUnicode_FromString("torch._C"));
  const Ref module(name ? PyImport_GetModule(name.get()) : nullptr);
  const Ref handles = attribute(module, "_aoti");
  found->tensor_base = attribute(module, "TensorBase");
  found->make_handle = attribute(handles, "unsafe_alloc_void_ptr_from_tensor");
  found->take_handle = attribute(handles, "alloc_tensor_by_stealing_from_void_ptr");
  return found->tensor_base && PyType_Check(found->tensor_base.get()) != 0 && found->make_handle &&
         found->take_handle;
}

/// The functions of the torch that is loaded already; none is loaded for them.
bool find_functions() noexcept {
  if (functions.data_ptr != nullptr) return true;
  void* library = dlopen("libtorch_cpu.so", RTLD_LAZY | RTLD_NOLOAD);
  if (library == nullptr) return false;
  Functions found;
  found.device_type =
      reinterpret_cast<decltype(found.device_type)>(dlsym(library, "aoti_torch_get_device_type"));
  found.data_ptr =
      reinterpret_cast<decltype(found.data_ptr)>(dlsym(library, "aoti_torch_get_data_ptr"));
  if (found.device_type == nullptr || found.data_ptr == nullptr) return false;
  functions = found;
  return true;
}

/// Where in `object` a pointer to `tensor` lies; 0 where that is not exactly one place.
std::uint16_t find_pointer(PyObject* object, Py_ssize_t size, const void* tensor) noexcept {
  std::uint16_t found = 0;
  for (auto at = static_cast<Py_ssize_t>(sizeof(PyObject));
       at + static_cast<Py_ssize_t>(sizeof(void*)) <= size;
       at += static_cast<Py_ssize_t>(sizeof(void*))) {
    if (*reinterpret_cast<void**>(reinterpret_cast<std::byte*>(object) + at) != tensor) continue;
    if (found != 0) return 0;
    found = static_cast<std::uint16_t>(at);
  }
  return found;
}

/// Where the C++ tensor, which is a single pointer, lies in `object`: a handle of it, which torch
/// makes, points to the same. 0 where that is not found.
std::uint16_t find_tensor(const Torch& torch, PyObject* object) noexcept {
  const Ref handle(PyObject_CallOneArg(torch.make_handle.get(), object));
  if (!handle || PyCapsule_CheckExact(handle.get()) == 0) return 0;
  void* const* tensor = static_cast<void* const*>(
      PyCapsule_GetPointer(handle.get(), PyCapsule_GetName(handle.get())));
  if (tensor == nullptr || *tensor == nullptr) return 0;
  const auto* base = reinterpret_cast<PyTypeObject*>(torch.tensor_base.get());
  const std::uint16_t found = find_pointer(object, base->tp_basicsize, *tensor);
  const Ref freed(PyObject_CallOneArg(torch.take_handle.get(), handle.get()));
  return freed ? found : std::uint16_t{0};
}

std::optional<Layout> try_to_learn(PyObject* object, const dlpack::Tensor& view) noexcept {
  Torch torch;
  if (!find_torch(&torch) || !find_functions()) return std::nullopt;
  auto* base = reinterpret_cast<PyTypeObject*>(torch.tensor_base.get());
  if (PyType_IsSubtype(Py_TYPE(object), base) == 0) return std::nullopt;
  Layout layout;
  layout.tensor_at = find_tensor(torch, object);
  layout.device = view.device.type;
  if (layout.tensor_at == 0) return std::nullopt;
  void* tensor = reinterpret_cast<std::byte*>(object) + layout.tensor_at;
  std::uint64_t address = 0;
  const bool agrees = functions.device_type(tensor, &layout.torch_device) == 0 &&
                      read_address(object, layout, &address) &&
                      address == reinterpret_cast<std::uint64_t>(view.address) + view.byte_offset;
  return agrees ? std::optional(layout) : std::nullopt;
}

}  // namespace

std::optional<Layout> learn(PyObject* object, const dlpack::Tensor& view) noexcept {
  const std::optional<Layout> learned = try_to_learn(object, view);
  if (PyErr_Occurred() != nullptr) PyErr_Clear();
  return learned;
}

}  // namespace relaunch::torch_tensor
