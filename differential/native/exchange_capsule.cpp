#include "differential/native/exchange_capsule.hpp"

#include <cstdint>
#include <string>

namespace relaunch::differential {
namespace {

// Laid out as in dlpack.h 1.3: DLTensor and DLPackExchangeAPI, with what is not offered left null.
struct Tensor {
  void* data;
  std::int32_t device_type;
  std::int32_t device_id;
  std::int32_t ndim;
  std::uint8_t dtype_code;
  std::uint8_t dtype_bits;
  std::uint16_t dtype_lanes;
  std::int64_t* shape;
  std::int64_t* strides;
  std::uint64_t byte_offset;
};
static_assert(sizeof(Tensor) == 48 && offsetof(Tensor, byte_offset) == 40);

struct ExchangeTable {
  std::uint32_t major_version;
  std::uint32_t minor_version;
  void* previous;
  void* managed_tensor_allocator;
  void* managed_tensor_from_object;
  void* managed_tensor_to_object;
  int (*tensor_from_object)(void* object, Tensor* out);
  void* current_work_stream;
};
static_assert(sizeof(ExchangeTable) == 56 && offsetof(ExchangeTable, tensor_from_object) == 40);

constexpr std::int32_t kCudaDevice = 2;
constexpr std::int32_t kRocmDevice = 10;

template <std::int32_t device>
int tensor_from_object(void* object, Tensor* out) {
  PyObject* answer = PyObject_GetAttrString(static_cast<PyObject*>(object), "answer");
  if (answer == nullptr) return -1;
  void* const address = PyLong_AsVoidPtr(answer);
  Py_DECREF(answer);
  if (address == nullptr && PyErr_Occurred() != nullptr) return -1;
  *out = {};
  out->data = address;
  out->device_type = device;
  return 0;
}

template <std::int32_t device>
constexpr ExchangeTable kTable = {
    1, 3, nullptr, nullptr, nullptr, nullptr, tensor_from_object<device>, nullptr};

}  // namespace

pybind11::capsule exchange_capsule(const std::string& backend) {
  if (backend != "cuda" && backend != "hip") {
    throw pybind11::value_error("no backend '" + backend + "'");
  }
  const ExchangeTable* table = backend == "cuda" ? &kTable<kCudaDevice> : &kTable<kRocmDevice>;
  return pybind11::capsule(table, "dlpack_exchange_api");
}

}  // namespace relaunch::differential
