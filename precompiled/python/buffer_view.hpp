#pragma once
// Bytes lent by a Python object.

#include <pybind11/pybind11.h>

#include "precompiled/binary/bytes.hpp"

namespace relaunch {

/// The bytes of a bytes-like object for as long as this lives. Throws error_already_set
/// (TypeError).
class BufferView {
 public:
  explicit BufferView(const pybind11::handle& object) {
    if (PyObject_GetBuffer(object.ptr(), &view_, PyBUF_SIMPLE) != 0) {
      throw pybind11::error_already_set();
    }
  }
  BufferView(const BufferView&) = delete;
  BufferView& operator=(const BufferView&) = delete;
  ~BufferView() { PyBuffer_Release(&view_); }

  binary::Bytes bytes() const {
    return {static_cast<const std::byte*>(view_.buf), static_cast<std::size_t>(view_.len)};
  }

 private:
  Py_buffer view_{};
};

}  // namespace relaunch
