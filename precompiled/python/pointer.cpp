#include "precompiled/python/pointer.hpp"

#include "precompiled/python/dlpack.hpp"
#include "precompiled/python/guards.hpp"
#include "precompiled/python/torch_tensor.hpp"

namespace relaunch {
namespace {

PyObject* data_ptr_name = nullptr;

/// How the objects of a type give their address. The version tag is unique to a type and its state,
/// so none needs a reference to the type: neither a change nor a new type at the old address goes
/// unseen. Read and written under the GIL only. Whenever Python code runs, one may become another
/// type's, so that what it is read for is copied before.
struct alignas(64) Intake {
  using Read = bool(PyObject* object, const Driver& driver, std::uint64_t* address,
                    PointerFailure* failure, Intake& intake) noexcept;
  PyTypeObject* type = nullptr;
  unsigned int version = 0;
  torch_tensor::Layout layout;  // read_torch
  Read* read = nullptr;
  dlpack::TensorFromObject exchange = nullptr;  // all but read_data_ptr
};
constexpr std::size_t kIntakes = 64;
Intake intakes[kIntakes];

/// 0 where the type has no valid tag.
unsigned int version_of(PyTypeObject* type) noexcept {
#if PY_VERSION_HEX < 0x030C0000
  if ((type->tp_flags & Py_TPFLAGS_VALID_VERSION_TAG) == 0) return 0;
#endif
  return type->tp_version_tag;
}

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
  if (is_out_of_memory()) {
    error.drop();
    return fail(failure, PointerFault::raised);
  }
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
  if (raised && (PyErr_ExceptionMatches(PyExc_Exception) == 0 || is_out_of_memory())) {
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

/// Whether the backend's kernels reach memory of that kind of device, in DLPack's numbers.
bool reaches(Backend backend, std::int32_t device) noexcept {
  return backend == Backend::cuda ? device == dlpack::kCuda || device == dlpack::kCudaManaged
                                  : device == dlpack::kRocm;
}

[[gnu::always_inline]] inline bool take_view(PyObject* object, dlpack::TensorFromObject exchange,
                                             const Driver& driver, dlpack::Tensor* view,
                                             std::uint64_t* address,
                                             PointerFailure* failure) noexcept {
  const bool taken = exchange(object, view) == 0;
  if (!taken || !reaches(driver.backend, view->device.type)) [[unlikely]] {
    return try_data_ptr(object, driver, taken ? view->device.type : 0, address, failure);
  }
  *address = reinterpret_cast<std::uint64_t>(view->address) + view->byte_offset;
  return true;
}

bool read_exchange(PyObject* object, const Driver& driver, std::uint64_t* address,
                   PointerFailure* failure, Intake& intake) noexcept {
  dlpack::Tensor view{};
  return take_view(object, intake.exchange, driver, &view, address, failure);
}

bool read_torch(PyObject* object, const Driver& driver, std::uint64_t* address,
                PointerFailure* failure, Intake& intake) noexcept {
  const dlpack::TensorFromObject exchange = intake.exchange;
  if (reaches(driver.backend, intake.layout.device) &&
      torch_tensor::read_address(object, intake.layout, address)) [[likely]] {
    return true;
  }
  dlpack::Tensor view{};
  return take_view(object, exchange, driver, &view, address, failure);
}

/// By the exchange, until a tensor that the device reaches shows whether torch's functions can do
/// it.
bool read_first(PyObject* object, const Driver& driver, std::uint64_t* address,
                PointerFailure* failure, Intake& intake) noexcept {
  PyTypeObject* type = Py_TYPE(object);
  const unsigned int version = version_of(type);
  dlpack::Tensor view{};
  const bool taken = take_view(object, intake.exchange, driver, &view, address, failure);
  if (!taken || !reaches(driver.backend, view.device.type)) return taken;
  const auto layout = torch_tensor::learn(object, view);
  if (intake.type == type && intake.version == version) {
    intake.read = layout ? read_torch : read_exchange;
    intake.layout = layout.value_or(torch_tensor::Layout{});
  }
  return true;
}

bool read_data_ptr(PyObject* object, const Driver& driver, std::uint64_t* address,
                   PointerFailure* failure, Intake& /*intake*/) noexcept {
  return call_data_ptr(object, driver, address, failure);
}

/// Looks up how the object's type is read, and reads it. Without a version tag the answer holds
/// only now, and no type is ever found in it.
[[gnu::noinline, gnu::cold]] bool look_up(PyObject* object, const Driver& driver,
                                          std::uint64_t* address, PointerFailure* failure,
                                          Intake& intake) noexcept {
  PyTypeObject* type = Py_TYPE(object);
  const dlpack::TensorFromObject exchange = dlpack::find_exchange(type);
  const unsigned int version = version_of(type);
  intake = {};
  intake.type = version != 0 ? type : nullptr;
  intake.version = version;
  intake.read = exchange != nullptr ? read_first : read_data_ptr;
  intake.exchange = exchange;
  return intake.read(object, driver, address, failure, intake);
}

[[gnu::noinline]] bool read_int(PyObject* number, std::uint64_t* address,
                                PointerFailure* failure) noexcept {
  return address_of(number, address) || fail(failure, PointerFault::int_range);
}

}  // namespace

bool prepare_pointers() noexcept {
  data_ptr_name = PyUnicode_InternFromString("data_ptr");
  return data_ptr_name != nullptr && dlpack::prepare();
}

/// Only calls at its end: it needs no frame.
bool convert_object_pointer(PyObject* object, const Driver& driver, std::uint64_t* address,
                            PointerFailure* failure) noexcept {
  if (PyLong_Check(object)) return read_int(object, address, failure);
  PyTypeObject* type = Py_TYPE(object);
  Intake& intake = intakes[(reinterpret_cast<std::uintptr_t>(type) >> 5) % kIntakes];
  if (intake.type != type || intake.version != version_of(type)) [[unlikely]]
    return look_up(object, driver, address, failure, intake);
  return intake.read(object, driver, address, failure, intake);
}

}  // namespace relaunch
