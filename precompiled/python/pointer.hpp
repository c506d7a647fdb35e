#pragma once
// From a Python object to the device address that a kernel gets.

#include <Python.h>

#include <cstdint>

#include "precompiled/driver/driver.hpp"
#include "precompiled/python/convert.hpp"

namespace relaunch {

/// Why an object gave no address. Only with `raised` is an exception set; errors.hpp words the
/// rest.
enum class PointerFault : std::uint8_t {
  raised,        // the object's own code raised
  no_address,    // neither an int nor None, and without data_ptr
  not_an_int,    // data_ptr() returned something else
  int_range,     // an int that is no 64-bit address
  result_range,  // data_ptr() returned one, and the driver took the address ~0 that stands for it
  inaccessible,  // the driver says that the device cannot reach the address
  wrong_device,  // DLPack says that it lies on another kind of device, and there is no data_ptr
  driver,        // another failure of the driver
};

struct PointerFailure {
  PointerFault fault;
  Status status;              // `driver`
  std::uint64_t address = 0;  // `inaccessible`: what was asked for
  std::int32_t device = 0;    // `wrong_device`: DLPack's device type
};

/// In order: an int is the address; None is 0; a type with the DLPack C exchange says the address
/// itself, and only the type of its device is checked; else data_ptr() is called and the driver is
/// asked for the device's address of the result (0 is not asked for). The caller keeps the object
/// alive. False: `*failure` is filled and `*address` is not.
bool convert_object_pointer(PyObject* object, const Driver& driver, std::uint64_t* address,
                            PointerFailure* failure) noexcept;

/// The same, with the cheapest objects looked at in line.
inline bool convert_pointer(PyObject* object, const Driver& driver, std::uint64_t* address,
                            PointerFailure* failure) noexcept {
  if (object == Py_None) {
    *address = 0;
    return true;
  }
  if (PyLong_CheckExact(object)) {
    if (const auto common = two_digit_int(object)) {
      *address = *common;
      return true;
    }
  }
  return convert_object_pointer(object, driver, address, failure);
}

/// Interns the names that are looked up. False with an exception set.
bool prepare_pointers() noexcept;

}  // namespace relaunch
