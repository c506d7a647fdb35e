#pragma once
// What the texts of errors are put together from.

#include <Python.h>

#include <cstdint>
#include <string>

#include "precompiled/python/errors.hpp"

namespace relaunch {

/// Sets `type(text)`.
Failed raise(PyObject* type, const std::string& text);

/// Drops the pending exception. Throws std::bad_alloc where that was MemoryError.
void clear_error();

std::string type_of(PyObject* value);

/// The value of an int, float or bool; of anything else its type, so that no foreign code runs.
std::string value_of(PyObject* value);

/// `add(*fp32, i32)`
std::string call_of(const Launcher& self);

/// `argument 3 'n' of add(*fp32, *fp32, i32): `; counted from 1 over the flattened signature.
std::string place(const Launcher& self, std::uint32_t leaf);

/// As above, for a hidden parameter by its name.
std::string place(const Launcher& self, const Step& step);

/// `0x1f`
std::string hex(std::uint64_t number);

/// `Triton Error [CUDA]: ...`
std::string driver_error(const Launcher& self, const Status& status);

}  // namespace relaunch
