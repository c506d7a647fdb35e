#pragma once
// The address of a torch tensor, read through torch's stable C functions. DLPack's exchange gives
// the same answer, for about eight times as long: it takes a reference to the tensor and fills in
// shapes, strides and types that a launch has no use for.
//
// These functions take the C++ tensor inside a Python one. Where that lies is not part of torch's
// interface, so it is never assumed: `learn` finds it by asking torch itself, and believes it only
// if the answers then equal the exchange's.

#include <Python.h>

#include <cstddef>
#include <cstdint>
#include <optional>

#include "precompiled/python/dlpack.hpp"

namespace relaunch::torch_tensor {

/// Of torch/csrc/inductor/aoti_torch/c/shim.h (torch 2.2 and later): 0 is success. C++ exceptions
/// of torch end in them.
struct Functions {
  std::int32_t (*device_type)(void* tensor, std::int32_t* type) = nullptr;
  std::int32_t (*data_ptr)(void* tensor, void** address) = nullptr;
};
extern Functions functions;

/// How the objects of one type are read.
struct Layout {
  std::uint16_t tensor_at = 0;    // where the C++ tensor lies in the object, bytes
  std::int32_t torch_device = 0;  // the device type of the type's first tensor, in torch's numbers
  std::int32_t device = 0;        // the same in DLPack's
};

/// Nothing where `object` is no torch tensor, or torch does not agree with `view`, its exchange.
/// May run torch's code. No exception is set.
std::optional<Layout> learn(PyObject* object, const dlpack::Tensor& view) noexcept;

/// False where the address cannot be had, or where the tensor lies on another kind of device than
/// the type's first one: the exchange then decides. No exception is set.
inline bool read_address(PyObject* object, const Layout& layout, std::uint64_t* address) noexcept {
  void* tensor = reinterpret_cast<std::byte*>(object) + layout.tensor_at;
  std::int32_t device = 0;
  void* found = nullptr;
  if (functions.device_type(tensor, &device) != 0 || device != layout.torch_device ||
      functions.data_ptr(tensor, &found) != 0) [[unlikely]] {
    if (PyErr_Occurred() != nullptr) PyErr_Clear();  // a subclass may answer in Python
    return false;
  }
  *address = reinterpret_cast<std::uint64_t>(found);
  return true;
}

}  // namespace relaunch::torch_tensor
