#pragma once
// Whatever must be put back: references, the GIL, a pending error. None of these can be copied.

#include <Python.h>

#include <cstddef>
#include <utility>

namespace relaunch {

/// Whether what is pending says that memory was refused: that is never put in other words.
inline bool is_out_of_memory() noexcept { return PyErr_ExceptionMatches(PyExc_MemoryError) != 0; }

/// One owned reference, or none.
class Ref {
 public:
  Ref() = default;
  explicit Ref(PyObject* owned) noexcept : object_(owned) {}
  Ref(const Ref&) = delete;
  Ref& operator=(const Ref&) = delete;
  Ref(Ref&& other) noexcept : object_(std::exchange(other.object_, nullptr)) {}
  Ref& operator=(Ref&& other) noexcept {
    if (this != &other) {
      PyObject* old = std::exchange(object_, std::exchange(other.object_, nullptr));
      Py_XDECREF(old);
    }
    return *this;
  }
  ~Ref() { Py_XDECREF(object_); }

  static Ref borrow(PyObject* object) noexcept {
    Py_XINCREF(object);
    return Ref(object);
  }
  PyObject* get() const noexcept { return object_; }
  PyObject* release() noexcept { return std::exchange(object_, nullptr); }
  explicit operator bool() const noexcept { return object_ != nullptr; }

 private:
  PyObject* object_ = nullptr;
};

/// Takes the pending error away and puts it back at the end, unless it is dropped.
class PendingError {
 public:
  PendingError() noexcept { PyErr_Fetch(&type_, &value_, &traceback_); }
  PendingError(const PendingError&) = delete;
  PendingError& operator=(const PendingError&) = delete;
  ~PendingError() {
    if (kept_) PyErr_Restore(type_, value_, traceback_);
  }
  void drop() noexcept {
    kept_ = false;
    Py_XDECREF(type_);
    Py_XDECREF(value_);
    Py_XDECREF(traceback_);
  }

 private:
  PyObject* type_ = nullptr;
  PyObject* value_ = nullptr;
  PyObject* traceback_ = nullptr;
  bool kept_ = true;
};

/// The GIL is released from here to the end of the scope.
class GilRelease {
 public:
  GilRelease() noexcept : state_(PyEval_SaveThread()) {}
  GilRelease(const GilRelease&) = delete;
  GilRelease& operator=(const GilRelease&) = delete;
  ~GilRelease() { PyEval_RestoreThread(state_); }

 private:
  PyThreadState* state_;
};

/// Owned references kept in room that the caller provides, dropped at the end of the scope with a
/// pending error untouched. Without room it holds nothing.
class HeldItems {
 public:
  explicit HeldItems(PyObject** room) noexcept : room_(room) {}
  HeldItems(const HeldItems&) = delete;
  HeldItems& operator=(const HeldItems&) = delete;
  ~HeldItems() {
    if (count_ != 0) drop();
  }
  void hold(PyObject* owned) noexcept { room_[count_++] = owned; }

 private:
  [[gnu::noinline]] void drop() noexcept {
    const PendingError error;
    while (count_ != 0) Py_DECREF(room_[--count_]);
  }

  PyObject** room_;
  std::size_t count_ = 0;
};

}  // namespace relaunch
