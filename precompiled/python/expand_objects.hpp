#pragma once
// A call with one object for each descriptor, made into the call that the plan has: what released
// launchers do in Python, before they look at anything else.
//
// A descriptor object has base (with data_ptr()), shape, strides and, where the dialect asks for
// them, padding and round_f32_to_tf32. Each is read once, in this order; what reading raises is
// raised as it is. Beyond that:
//
// clang-format off
// kind of failure                                            exception
// shape or strides of another number of entries              TypeError
// by value: the last stride is not 1                         AssertionError
//   a size or stride is no int, data_ptr() gives none        TypeError
//   a size or stride beyond 64 bits                          OverflowError
//   the metadata lacks what encoding needs                   KeyError
//   im2col, or HIP's TDM descriptors                         NotImplementedError
//   the driver refuses                                       RuntimeError
// clang-format on

#include <Python.h>

#include <cstddef>
#include <vector>

#include "precompiled/python/guards.hpp"
#include "precompiled/python/launcher.hpp"

namespace relaunch {

/// The arguments of a call: those in front of the kernel's, then the kernel's as the plan has them.
struct ExpandedCall {
  std::vector<PyObject*> arguments;
  std::vector<Ref> held;  // those of them that were made here
};

/// Whether the arguments, `count` of them behind `fixed` in front, are one object for each
/// descriptor. Inside tuples that is seen by the length of a tuple or list.
bool gives_objects(const Launcher& self, PyObject* const* args, Py_ssize_t count,
                   Py_ssize_t fixed) noexcept;

/// Such a call's arguments. False with an exception set.
bool expand_objects(const Launcher& self, PyObject* const* args, Py_ssize_t fixed,
                    ExpandedCall* call);

/// Interns the names that are looked up. False with an exception set.
bool prepare_objects() noexcept;

}  // namespace relaunch
