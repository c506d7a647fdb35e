#pragma once
// relaunch.TensorMap: a CUDA tensor map, made by the driver or from bytes.

#include <Python.h>

#include <cstddef>

#include "precompiled/python/guards.hpp"

namespace relaunch {

/// The type: kTensorMapBytes at an address aligned to kTensorMapAlignment.
extern PyTypeObject* tensor_map_type;

/// Makes the type and adds it to the module. False with an exception set.
bool add_tensor_map(PyObject* module) noexcept;

/// A map of zeros. None with an exception set.
Ref make_tensor_map() noexcept;

/// The bytes of an object of exactly that type.
std::byte* bytes_of_map(PyObject* map) noexcept;

}  // namespace relaunch
