#pragma once
// Descriptors passed by value: CUDA's 128-byte tensor maps and the TDM descriptors of HIP.

#include <Python.h>

#include <cstddef>
#include <cstdint>

namespace relaunch {

/// relaunch.TensorMap: 128 bytes at a 128-byte-aligned address.
extern PyTypeObject* tensor_map_type;

/// Makes the type and adds it to the module. False with an exception set.
bool add_tensor_map(PyObject* module) noexcept;

/// Triton's own descriptor types, where its driver module is loaded; else null. Owned references.
/// They are looked up once, when a launcher is built.
PyTypeObject* find_triton_tensor_map() noexcept;      // PyCUtensorMap
PyTypeObject* find_triton_tdm_descriptor() noexcept;  // PyTDMDescriptor

enum class DescriptorFault : std::uint8_t {
  wrong_type,
  unaligned,  // a tensor map whose address is no multiple of 128
};

/// Copies the 128 bytes of a tensor map; its type must be `triton_type` or TensorMap exactly.
bool convert_tensor_map(PyObject* object, const PyTypeObject* triton_type, std::byte* slot,
                        DescriptorFault* fault) noexcept;

/// Copies the 48 bytes of a TDM descriptor; its type must be `triton_type` exactly.
bool convert_tdm_descriptor(PyObject* object, const PyTypeObject* triton_type, std::byte* slot,
                            DescriptorFault* fault) noexcept;

}  // namespace relaunch
