#pragma once
// Descriptors passed by value: CUDA's 128-byte tensor maps and the TDM descriptors of HIP.

#include <Python.h>

#include <cstddef>
#include <cstdint>

#include "precompiled/core/plan.hpp"

namespace relaunch {

struct Launcher;

/// Triton's own type of the dialect's descriptors, where its driver module is loaded (PyCUtensorMap
/// or PyTDMDescriptor); else null. An owned reference, looked up once, when a launcher is built.
/// Null with an exception set where there is no memory for the look-up.
PyTypeObject* find_descriptor_type(const Dialect& dialect) noexcept;

/// Interns the name that is looked up. False with an exception set.
bool prepare_descriptors() noexcept;

enum class DescriptorFault : std::uint8_t {
  wrong_type,
  unaligned,  // a tensor map whose address is no multiple of 128
  // Of tma_desc_cpu_ptr(): what it raised is the cause of the error.
  no_method,
  method_raised,
  not_an_int,
  null_address,
  unaligned_address,  // no multiple of 64
};

/// Copies the bytes of a whole descriptor for the step, which is nv_tma_desc, map_address or
/// tdm_desc. False with an exception set, worded by fail_descriptor.
bool take_descriptor(const Launcher& self, const Step& step, PyObject* value, std::byte* slot);

}  // namespace relaunch
