#pragma once
// What plans say about themselves, as Python objects. All give a new reference, or null with an
// exception set.

#include <Python.h>

#include <string>

#include "precompiled/core/plan.hpp"

namespace relaunch {

PyObject* text_of(const std::string& text);

/// Host bytes of every kernel parameter, hidden ones last: a tuple.
PyObject* slots_of(const Plan& plan);

/// One dict per kernel parameter, hidden ones last: name, type, hidden, and in bytes slot_offset
/// and slot_size (host), size, alignment and offset (kernel).
PyObject* parameters_of(const Plan& plan);

}  // namespace relaunch
