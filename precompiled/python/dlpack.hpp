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

/// One remembered type. The version tag is unique to a type and its state, so an entry needs no
/// reference to the type: neither a change nor a new type at the old address goes unseen.
/// Read and written under the GIL only; a launch depends on no entry.
struct Entry {
  PyTypeObject* type;
  unsigned int version;
  TensorFromObject function;
};
inline constexpr std::size_t kEntries = 64;
extern Entry entries[kEntries];

/// 0 where the type has no valid tag.
inline unsigned int version_of(PyTypeObject* type) noexcept {
#if PY_VERSION_HEX < 0x030C0000
  if ((type->tp_flags & Py_TPFLAGS_VALID_VERSION_TAG) == 0) return 0;
#endif
  return type->tp_version_tag;
}

/// Looks the type's answer up in its classes. No exception is set.
TensorFromObject find_exchange(PyTypeObject* type, Entry& entry) noexcept;

/// How an object of `type` gives its address: by this function, or, where null is returned, by its
/// data_ptr(). Null as well where a class in front of the one with the table defines data_ptr.
/// No exception is set. The answer is remembered until the type changes.
inline TensorFromObject exchange_of(PyTypeObject* type) noexcept {
  Entry& entry = entries[(reinterpret_cast<std::uintptr_t>(type) >> 5) % kEntries];
  if (entry.type == type && entry.version == version_of(type)) [[likely]]
    return entry.function;
  return find_exchange(type, entry);
}

}  // namespace relaunch::dlpack
