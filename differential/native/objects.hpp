// Arguments: from the JSON of a case to the Python objects that a launcher is given.
#ifndef RELAUNCH_DIFFERENTIAL_NATIVE_OBJECTS_HPP
#define RELAUNCH_DIFFERENTIAL_NATIVE_OBJECTS_HPP

#define PY_SSIZE_T_CLEAN
#include <pybind11/pybind11.h>

#include <cstdint>
#include <string>

namespace relaunch::differential {

/// Appends a JSON object to the recording driver's events; null: nothing is noted.
using Note = void (*)(const char* event);

/// Builds the objects of one dialect; those with a `data_ptr()` note each call.
///
/// Every object with a method is an instance of a class named `Object`, with the method on the
/// class, because error texts show the class's name and launchers look methods up on it.
class Objects {
 public:
  /// `tensor_map`: makes the descriptor object of 128 bytes or fewer; None: an object whose
  /// `tma_desc_cpu_ptr()` gives the address of its bytes.
  Objects(const std::string& backend, std::uint64_t note, pybind11::object tensor_map,
          pybind11::object named_tuple);

  /// A new object, or an int, bool or None as it is.
  pybind11::object build(pybind11::handle argument) const;
  /// A hook that notes `event` and raises RuntimeError with `failure` unless that is empty. Both
  /// must outlive it.
  pybind11::object hook(const char* event, const char* failure) const;

 private:
  pybind11::object build_items(pybind11::handle items, bool as_list) const;
  pybind11::object instance(PyTypeObject& type, pybind11::object answer) const;

  bool cuda_;
  Note note_;
  pybind11::object tensor_map_;
  pybind11::object named_tuple_;
};

}  // namespace relaunch::differential

#endif
