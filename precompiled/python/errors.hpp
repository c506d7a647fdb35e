#pragma once
// The failing paths of a launch: the only place that words an error, never inlined.
//
// One row for each kind of failure: the exception, and who sets it.
//
// clang-format off
// stage                 kind of failure                     exception       set by
// arguments             their number, keywords              TypeError       fail_count, fail_keywords
// context (CUDA)        a driver call                       RuntimeError    fail_context
// grid, stream,         no int                              TypeError       fail_field
//   function            beyond the range                    OverflowError   fail_field
// scalars               no number                           TypeError       fail_scalar
//                       beyond the type's range             OverflowError   fail_scalar
//                       __index__, __float__ raised         as raised       (unchanged)
// tuples                no sequence, other length, no item  TypeError       fail_sequence
//                       from 3.7 on: iterating raised       as raised       (unchanged)
// kernel_metadata       CUDA to 3.6: anything               TypeError       fail_metadata
//                       HIP to 3.6: no tuple                SystemError     fail_metadata
//                       3.7 on: no sequence                 TypeError       fail_metadata
//                       else: its length                    TypeError       fail_metadata
//                       else: its elements                  as for grid     fail_field
// grid                  out of range                        ValueError      fail_grid
// hooks, scratch calls  raised                              as raised       (unchanged)
// pointers              no address, data_ptr() gave no int  TypeError       fail_pointer
//                       an int beyond 64 bits or negative   OverflowError   fail_pointer
//                       not the device's                    ValueError      fail_pointer
//                       the driver failed                   RuntimeError    fail_pointer
//                       data_ptr() raised                   as raised       (unchanged)
// descriptors           another type                        TypeError       fail_descriptor
//                       unaligned                           ValueError      fail_descriptor
//   by address          no method, it gave no int           TypeError       fail_descriptor
//                       0, or no multiple of 64             ValueError      fail_descriptor
//                       the method raised: the cause        SystemError     fail_descriptor
// descriptor objects    see expand_objects.hpp                              fail_object, fail_encoding
// fp16                  beyond its range                    OverflowError   fail_half
// launch                the driver refused                  RuntimeError    fail_launch
// clang-format on
//
// Every function gives Failed, which a caller returns as its own null or false. What was done
// before stays done, except that held references are dropped; nothing is launched after a failure.

#include <Python.h>

#include <new>
#include <string>

#include "precompiled/python/descriptor.hpp"
#include "precompiled/python/launcher.hpp"
#include "precompiled/python/pointer.hpp"

namespace relaunch {

/// What a failing function returns: false, or no object.
struct Failed {
  operator bool() const { return false; }         // NOLINT(google-explicit-constructor)
  operator PyObject*() const { return nullptr; }  // NOLINT(google-explicit-constructor)
};

/// Wording an error can run out of memory; nothing else here throws.
template <typename Entry>
[[gnu::always_inline]] inline PyObject* guarded(Entry entry) noexcept {
  try {
    return entry();
  } catch (const std::bad_alloc&) {
    return PyErr_NoMemory();
  }
}

#define RELAUNCH_COLD [[gnu::noinline, gnu::cold]]

RELAUNCH_COLD Failed fail_keywords(const Launcher& self);
/// `given` and `fixed` count all positional arguments and those in front of the kernel's.
RELAUNCH_COLD Failed fail_count(const Launcher& self, Py_ssize_t given, Py_ssize_t fixed);
/// A number beside the kernel's arguments; a pending `mismatch()` is worded.
RELAUNCH_COLD Failed fail_field(const Launcher& self, const char* field, PyObject* value);
RELAUNCH_COLD Failed fail_scalar(const Launcher& self, const Step& step, PyObject* value);
RELAUNCH_COLD Failed fail_sequence(const Launcher& self, const Step& step, PyObject* value);
RELAUNCH_COLD Failed fail_metadata(const Launcher& self, PyObject* value);
RELAUNCH_COLD Failed fail_grid(const Launcher& self, GridCheck check, const LaunchRequest& request,
                               const Configuration& configuration);
RELAUNCH_COLD Failed fail_pointer(const Launcher& self, const Step& step, PyObject* value,
                                  const PointerFailure& failure);
RELAUNCH_COLD Failed fail_descriptor(const Launcher& self, const Step& step, PyObject* value,
                                     DescriptorFault fault);
/// An object that is to be made into descriptor `index` of the plan; `got` is shown where given.
RELAUNCH_COLD Failed fail_object(const Launcher& self, std::size_t index, PyObject* type,
                                 std::string text, PyObject* got = nullptr);
RELAUNCH_COLD Failed fail_encoding(const Launcher& self, std::size_t index, const Status& status,
                                   const TensorMapFields& fields);
RELAUNCH_COLD Failed fail_half(const Launcher& self, const Step& step, PyObject* value);
RELAUNCH_COLD Failed fail_context(const Launcher& self, const Status& status);
/// Says what was asked for, attributes included: a driver's own words rarely do.
RELAUNCH_COLD Failed fail_launch(const Launcher& self, const Status& status, const LaunchCall& call,
                                 const Geometry& geometry);
/// A launcher that was built without a function has no hot call.
RELAUNCH_COLD Failed fail_no_function(const Launcher& self);

}  // namespace relaunch
