#pragma once
// From a Python object to the host bytes of one scalar: the converters of core/conversions.def.
//
// The contract of every converter, `bool convert_x<type, bytes>(PyObject* object, std::byte* slot)
// noexcept`:
//   true   the value is in the `bytes` bytes at `slot`: those behind the type's own have its sign,
//   or
//          are zero;
//   false  an exception is set. A value that does not fit, or an object that is no number, sets
//          OverflowError or TypeError with `mismatch()` as its only argument: the caller knows the
//          place and words the message (errors.hpp). What an object's own __index__ or __float__
//          raises is set as it is.
// The object may run Python code (__index__, __float__): the caller keeps it alive.
//
// What is accepted is what the format character of the legacy launchers, or the C function of the
// later ones, accepts: __index__ for integers, int alone where a converter says so, __float__ and
// __index__ for floats; a bool is an int.

#include <Python.h>
#if PY_VERSION_HEX < 0x030B0000
#include <longintrepr.h>
#endif

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <optional>
#include <type_traits>

#include "precompiled/core/pack.hpp"
#include "precompiled/core/types.hpp"

namespace relaunch {

/// The argument that marks an exception whose text is still to be written. Borrowed.
PyObject* mismatch() noexcept;

/// Makes it, once. False with an exception set.
bool prepare_conversions() noexcept;

/// Sets `type(mismatch())` and gives false.
bool raise_mismatch(PyObject* type) noexcept;

/// The value of an exact int of one digit, the common case; no other object has one.
inline std::optional<std::int64_t> small_int(PyObject* object) noexcept {
  if (!PyLong_CheckExact(object)) return std::nullopt;
  auto* number = reinterpret_cast<PyLongObject*>(object);
#if PY_VERSION_HEX >= 0x030C0000
  if (!PyUnstable_Long_IsCompact(number)) return std::nullopt;
  return PyUnstable_Long_CompactValue(number);
#else
  const Py_ssize_t size = Py_SIZE(object);
  if (static_cast<std::size_t>(size + 1) > 2) return std::nullopt;
  return size * static_cast<std::int64_t>(number->ob_digit[0]);
#endif
}

/// The value of an int of two digits, positive: most addresses. Reading the digits costs a tenth of
/// PyLong_AsUnsignedLongLong. None for other ints, whatever their value.
inline std::optional<std::uint64_t> two_digit_int(PyObject* number) noexcept {
#if PY_VERSION_HEX >= 0x030F0000
  (void)number;  // the layout of ints is known up to Python 3.14
  return std::nullopt;
#else
  const auto* digits = reinterpret_cast<PyLongObject*>(number);
#if PY_VERSION_HEX >= 0x030C0000
  // Two digits, sign bits 0; bit 2 is the reserved one.
  if ((digits->long_value.lv_tag & ~std::uintptr_t{4}) != (2 << 3)) return std::nullopt;
  const digit* value = digits->long_value.ob_digit;
#else
  if (Py_SIZE(number) != 2) return std::nullopt;
  const digit* value = digits->ob_digit;
#endif
  return static_cast<std::uint64_t>(value[1]) << PyLong_SHIFT | value[0];
#endif
}

/// Any int or __index__ in the range of 64 bits; false with an exception set as above.
bool int64_of(PyObject* object, std::int64_t* value) noexcept;

/// Objects that an unsigned integer is taken from, beside int: those with __index__; those that the
/// format character K takes (none, since Python 3.14 those with __index__); none.
enum class Beside : std::uint8_t { index, as_format, none };

/// Any int or what goes beside it, masked to 64 bits.
bool masked_of(PyObject* object, Beside beside, std::uint64_t* value) noexcept;

/// Any int or what goes beside it, in the unsigned range of 64 bits.
bool uint64_of(PyObject* object, Beside beside, std::uint64_t* value) noexcept;

/// Anything that is a real number.
bool double_of(PyObject* object, double* value) noexcept;

/// Python 3.14 packs a NaN's payload; here as the running Python does it.
std::uint16_t pack_half_nan(double value) noexcept;

template <typename Number>
inline void store(std::byte* slot, Number number) noexcept {
  std::memcpy(slot, &number, sizeof(number));
}

template <std::uint32_t size>
using Unsigned = std::conditional_t<
    size == 1, std::uint8_t,
    std::conditional_t<size == 2, std::uint16_t,
                       std::conditional_t<size == 4, std::uint32_t, std::uint64_t>>>;

constexpr std::uint32_t size_of(Type type) {
  return kTypes[static_cast<std::size_t>(type) - 1].size;
}

template <Type type>
using UnsignedOf = Unsigned<size_of(type)>;

/// Signed integers: range-checked, by the slot (legacy launchers refuse every negative i8; ours
/// does not).
template <Type type, std::uint32_t bytes = size_of(type)>
[[gnu::always_inline]] inline bool convert_signed_range(PyObject* object,
                                                        std::byte* slot) noexcept {
  using Number = std::make_signed_t<Unsigned<bytes>>;
  std::int64_t value = 0;
  if (const auto small = small_int(object)) {
    value = *small;
    if constexpr (sizeof(Number) * 8 > PyLong_SHIFT) {  // one digit always fits
      store(slot, static_cast<Number>(value));
      return true;
    }
  } else if (!int64_of(object, &value)) {
    return false;
  }
  const bool fits =
      value >= std::numeric_limits<Number>::min() && value <= std::numeric_limits<Number>::max();
  if (!fits) [[unlikely]]
    return raise_mismatch(PyExc_OverflowError);
  store(slot, static_cast<Number>(value));
  return true;
}

/// 0 to 255 in one byte.
template <Type type, std::uint32_t bytes>
[[gnu::always_inline]] inline bool convert_unsigned_byte(PyObject* object,
                                                         std::byte* slot) noexcept {
  static_assert(bytes == 1);
  std::int64_t value = 0;
  if (const auto small = small_int(object)) {
    value = *small;
  } else if (!int64_of(object, &value)) {
    return false;
  }
  if (static_cast<std::uint64_t>(value) > 255) [[unlikely]] {
    return raise_mismatch(PyExc_OverflowError);
  }
  store(slot, static_cast<std::uint8_t>(value));
  return true;
}

/// Unsigned integers: taken modulo the slot's range.
template <Type type, std::uint32_t bytes, Beside beside = Beside::index>
[[gnu::always_inline]] inline bool convert_masked(PyObject* object, std::byte* slot) noexcept {
  std::uint64_t value = 0;
  if (const auto small = small_int(object)) {
    value = static_cast<std::uint64_t>(*small);
  } else if (!masked_of(object, beside, &value)) {
    return false;
  }
  store(slot, static_cast<Unsigned<bytes>>(value));
  return true;
}

/// As above, for the format character K.
template <Type type, std::uint32_t bytes = size_of(type)>
[[gnu::always_inline]] inline bool convert_masked_as_format(PyObject* object,
                                                            std::byte* slot) noexcept {
  return convert_masked<type, bytes, Beside::as_format>(object, slot);
}

/// Unsigned integers under strict=True: range-checked, by the type.
template <Type type, std::uint32_t bytes, Beside beside = Beside::index>
inline bool convert_checked(PyObject* object, std::byte* slot) noexcept {
  std::uint64_t value = 0;
  if (!uint64_of(object, beside, &value)) return false;
  if (value > std::numeric_limits<UnsignedOf<type>>::max()) [[unlikely]] {
    return raise_mismatch(PyExc_OverflowError);
  }
  store(slot, static_cast<Unsigned<bytes>>(value));
  return true;
}

/// As above, from what the format character K takes.
template <Type type, std::uint32_t bytes>
inline bool convert_checked_as_format(PyObject* object, std::byte* slot) noexcept {
  return convert_checked<type, bytes, Beside::as_format>(object, slot);
}

/// As above, from ints alone.
template <Type type, std::uint32_t bytes>
inline bool convert_checked_int_only(PyObject* object, std::byte* slot) noexcept {
  return convert_checked<type, bytes, Beside::none>(object, slot);
}

/// Whatever fits a C long, cut to the slot.
template <Type type, std::uint32_t bytes>
inline bool convert_truncated(PyObject* object, std::byte* slot) noexcept {
  std::int64_t value = 0;
  if (const auto small = small_int(object)) {
    value = *small;
  } else if (!int64_of(object, &value)) {
    return false;
  }
  store(slot, static_cast<Unsigned<bytes>>(value));
  return true;
}

/// An int that fits a C unsigned long, cut to the slot.
template <Type type, std::uint32_t bytes>
inline bool convert_truncated_unsigned(PyObject* object, std::byte* slot) noexcept {
  std::uint64_t value = 0;
  const auto small = small_int(object);
  if (small && *small >= 0) {
    value = static_cast<std::uint64_t>(*small);
  } else if (!uint64_of(object, Beside::none, &value)) {
    return false;
  }
  store(slot, static_cast<Unsigned<bytes>>(value));
  return true;
}

/// Where converters leave a note, behind the widest slot of an fp16, that the value overflowed.
inline constexpr std::size_t kHalfNote = 4;

inline std::uint16_t half_of(double value, bool* overflowed) noexcept {
  const PackedHalf half = pack_half(value);
  *overflowed = half.overflowed;
  return value == value ? half.bits : pack_half_nan(value);
}

/// Floats in every width. An fp16 that overflows succeeds here and leaves 1 in the two bytes at
/// kHalfNote: what else is wrong with a launch is reported first.
template <Type type, std::uint32_t bytes>
[[gnu::always_inline]] inline bool convert_floating(PyObject* object, std::byte* slot) noexcept {
  double value = 0;
  if (PyFloat_CheckExact(object)) {
    value = PyFloat_AS_DOUBLE(object);
  } else if (!double_of(object, &value)) {
    return false;
  }
  if constexpr (type == Type::fp64) {
    store(slot, value);
  } else if constexpr (type == Type::fp32) {
    store(slot, static_cast<float>(value));
  } else if constexpr (type == Type::bf16) {
    store(slot, Unsigned<bytes>{truncate_bf16(value)});
  } else {
    static_assert(type == Type::fp16 && bytes <= kHalfNote);
    bool overflowed = false;
    store(slot, Unsigned<bytes>{half_of(value, &overflowed)});
    store(slot + kHalfNote, static_cast<std::uint16_t>(overflowed ? 1 : 0));
  }
  return true;
}

/// fp16 that must not overflow.
template <Type type, std::uint32_t bytes>
inline bool convert_ranged_half(PyObject* object, std::byte* slot) noexcept {
  static_assert(type == Type::fp16 && bytes == 2);
  double value = 0;
  if (!double_of(object, &value)) return false;
  bool overflowed = false;
  store(slot, half_of(value, &overflowed));
  return !overflowed || raise_mismatch(PyExc_OverflowError);
}

/// bf16 under round_bf16=True.
template <Type type, std::uint32_t bytes>
inline bool convert_rounded(PyObject* object, std::byte* slot) noexcept {
  static_assert(type == Type::bf16);
  double value = 0;
  if (!double_of(object, &value)) return false;
  store(slot, Unsigned<bytes>{round_bf16(value)});
  return true;
}

}  // namespace relaunch
