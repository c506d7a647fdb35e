#pragma once
// What is used of DLPack's C exchange interface (dlpack.h 1.2 and 1.3, major version 1): a type may
// have the attribute `__dlpack_c_exchange_api__`, a capsule named "dlpack_exchange_api" with a
// table that lives as long as the process.

#include <Python.h>

#include <cstddef>
#include <cstdint>

namespace relaunch::dlpack {

struct Version {
  std::uint32_t major;
  std::uint32_t minor;
};

struct ExchangeHeader {
  Version version;
  const ExchangeHeader* previous;  // the table of an older major version, or null
};

struct Device {
  std::int32_t type;
  std::int32_t id;
};

struct Tensor {
  void* address;
  Device device;
  std::int32_t ndim;
  std::uint8_t type_code;
  std::uint8_t type_bits;
  std::uint16_t type_lanes;
  std::int64_t* shape;
  std::int64_t* strides;
  std::uint64_t byte_offset;
};
static_assert(sizeof(Tensor) == 48);
static_assert(offsetof(Tensor, byte_offset) == 40);

/// Fills a view that owns nothing and does not synchronise; 0, or -1 with a Python error set.
using TensorFromObject = int (*)(void* object, Tensor* out);

struct ExchangeTable {
  ExchangeHeader header;
  void* managed_tensor_allocator;
  void* managed_tensor_from_object;
  void* managed_tensor_to_object;
  TensorFromObject tensor_from_object;  // may be null
  void* current_work_stream;
};
static_assert(offsetof(ExchangeTable, tensor_from_object) == 40);
static_assert(sizeof(ExchangeTable) == 56);

inline constexpr std::int32_t kCuda = 2;
inline constexpr std::int32_t kCudaManaged = 13;
inline constexpr std::int32_t kRocm = 10;

/// The exchange function of a type, or null: where it has none, and where a class in front of the
/// one with the table defines data_ptr. Makes sure that the type has a version tag, if it can have
/// one. No exception is set.
TensorFromObject find_exchange(PyTypeObject* type) noexcept;

/// Interns the names that are looked up, once: a launch that has no memory for one would not know
/// the exchange. False with an exception set.
bool prepare() noexcept;

}  // namespace relaunch::dlpack
