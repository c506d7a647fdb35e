#include "precompiled/python/pointer.hpp"

#include "precompiled/python/dlpack.hpp"
#include "precompiled/python/guards.hpp"

namespace relaunch {
namespace {

PyObject* data_ptr_name = nullptr;

constexpr std::uint64_t kNoAddress = ~std::uint64_t{0};

[[gnu::noinline, gnu::cold]] bool fail(PointerFailure* failure, PointerFault fault) noexcept {
  *failure = {fault, {}, 0, 0};
  return false;
}

/// An int of any size as an address; false, with no exception set, where it is none.
bool address_of(PyObject* number, std::uint64_t* address) noexcept {
  if (const auto common = two_digit_int(number)) {
    *address = *common;
    return true;
  }
  const auto small = small_int(number);
  if (small && *small >= 0) {
    *address = static_cast<std::uint64_t>(*small);
    return true;
  }
  *address = PyLong_AsUnsignedLongLong(number);
  if (*address != kNoAddress || PyErr_Occurred() == nullptr) return true;
  PyErr_Clear();
  return false;
}

/// data_ptr() failed: an object that has none is a fault of ours, anything else is its own.
[[gnu::noinline, gnu::cold]] bool no_result(PyObject* object, PointerFailure* failure) noexcept {
  if (PyErr_ExceptionMatches(PyExc_AttributeError) == 0) return fail(failure, PointerFault::raised);
  PendingError error;
  const Ref method(PyObject_GetAttr(object, data_ptr_name));
  if (method) return fail(failure, PointerFault::raised);  // raised inside the call: put back
  const bool missing = PyErr_ExceptionMatches(PyExc_AttributeError) != 0;
  PyErr_Clear();
  if (!missing) return fail(failure, PointerFault::raised);
  error.drop();
  return fail(failure, PointerFault::no_address);
}

[[gnu::noinline, gnu::cold]] bool refused(const Status& status, std::uint64_t asked,
                                          PointerFailure* failure) noexcept {
  PointerFault fault = PointerFault::driver;
  if (status.code == kInvalidValue) fault = PointerFault::inaccessible;
  if (status) fault = PointerFault::result_range;
  *failure = {fault, status, asked, 0};
  return false;
}

bool call_data_ptr(PyObject* object, const Driver& driver, std::uint64_t* address,
                   PointerFailure* failure) noexcept {
  const Ref result(PyObject_VectorcallMethod(data_ptr_name, &object,
                                             1 | PY_VECTORCALL_ARGUMENTS_OFFSET, nullptr));
  if (!result) return no_result(object, failure);
  if (!PyLong_Check(result.get())) return fail(failure, PointerFault::not_an_int);
  std::uint64_t asked = 0;
  // What is no address stands as ~0: legacy launchers ask the driver for that one.
  const bool in_range = address_of(result.get(), &asked);
  if (asked == 0) {
    *address = 0;
    return true;
  }
  const Status status = driver.device_pointer(asked, address);
  if (!status || !in_range) [[unlikely]]
    return refused(status, asked, failure);
  return true;
}

/// The exchange function refused the object, or it lies on another kind of device: data_ptr() may
/// still give an address that the device can reach (pinned host memory does).
[[gnu::noinline, gnu::cold]] bool try_data_ptr(PyObject* object, const Driver& driver,
                                               std::int32_t device, std::uint64_t* address,
                                               PointerFailure* failure) noexcept {
  const bool raised = PyErr_Occurred() != nullptr;
  if (raised && PyErr_ExceptionMatches(PyExc_Exception) == 0) {
    return fail(failure, PointerFault::raised);
  }
  PendingError error;
  const bool taken = call_data_ptr(object, driver, address, failure);
  if (taken || failure->fault != PointerFault::no_address) {
    error.drop();
    return taken;
  }
  if (raised) return fail(failure, PointerFault::raised);  // the exchange function's: put back
  error.drop();
  if (device == 0) return false;  // a failure without an exception: as if there were no table
  *failure = {PointerFault::wrong_device, {}, 0, device};
  return false;
}

bool exchange_pointer(PyObject* object, dlpack::TensorFromObject exchange, const Driver& driver,
                      std::uint64_t* address, PointerFailure* failure) noexcept {
  dlpack::Tensor tensor{};
  const bool taken = exchange(object, &tensor) == 0;
  const std::int32_t type = tensor.device.type;
  const bool reachable = driver.backend == Backend::cuda
                             ? type == dlpack::kCuda || type == dlpack::kCudaManaged
                             : type == dlpack::kRocm;
  if (!taken || !reachable) [[unlikely]] {
    return try_data_ptr(object, driver, taken ? type : 0, address, failure);
  }
  *address = reinterpret_cast<std::uint64_t>(tensor.address) + tensor.byte_offset;
  return true;
}

}  // namespace

bool prepare_pointers() noexcept {
  data_ptr_name = PyUnicode_InternFromString("data_ptr");
  return data_ptr_name != nullptr;
}

bool convert_object_pointer(PyObject* object, const Driver& driver, std::uint64_t* address,
                            PointerFailure* failure) noexcept {
  if (PyLong_Check(object)) {
    return address_of(object, address) || fail(failure, PointerFault::int_range);
  }
  if (const dlpack::TensorFromObject exchange = dlpack::exchange_of(Py_TYPE(object))) {
    return exchange_pointer(object, exchange, driver, address, failure);
  }
  return call_data_ptr(object, driver, address, failure);
}

}  // namespace relaunch
