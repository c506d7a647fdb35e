// The classes of the objects that arguments are built as.
#ifndef RELAUNCH_DIFFERENTIAL_NATIVE_OBJECT_TYPES_HPP
#define RELAUNCH_DIFFERENTIAL_NATIVE_OBJECT_TYPES_HPP

#include "differential/native/objects.hpp"

namespace relaunch::differential {

/// An object with one method, which gives `answer` or raises it. A launcher sees nothing else.
struct Answering {
  PyObject head;
  PyObject* answer;
  Note note;
};

/// An object whose `tma_desc_cpu_ptr()` gives an address inside itself.
struct Addressed {
  static constexpr std::size_t kBytes = 128;
  static constexpr std::size_t kAlignment = 64;
  PyObject head;
  std::size_t offset;  // of the address from a multiple of kAlignment
  std::byte room[kBytes + 2 * kAlignment];

  std::byte* address();
};

struct Hook {
  PyObject head;
  Note note;
  const char* event;
  const char* failure;
};

/// Ready classes, one set per process.
struct ObjectTypes {
  PyTypeObject tensor;         // data_ptr()
  PyTypeObject raising;        // data_ptr() raises
  PyTypeObject exchange_cuda;  // data_ptr(), and DLPack's exchange table
  PyTypeObject exchange_hip;
  PyTypeObject index;
  PyTypeObject intlike;
  PyTypeObject floatlike;
  PyTypeObject index_raises;
  PyTypeObject float_raises;
  PyTypeObject descriptor;  // tma_desc_cpu_ptr()
  PyTypeObject descriptor_raises;
  PyTypeObject addressed;
  PyTypeObject hook;
};

/// Throws pybind11::error_already_set where Python refuses one.
ObjectTypes& object_types();

}  // namespace relaunch::differential

#endif
