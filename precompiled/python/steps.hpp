#pragma once
// The steps of a plan, run over the arguments of one launch. Inlined into each launch entry.

#include <Python.h>

#include <cstdint>
#include <cstring>

#include "precompiled/core/plan.hpp"
#include "precompiled/python/convert.hpp"
#include "precompiled/python/descriptor.hpp"
#include "precompiled/python/errors.hpp"
#include "precompiled/python/guards.hpp"
#include "precompiled/python/launcher.hpp"
#include "precompiled/python/pointer.hpp"

namespace relaunch {

/// Flat launchers read the caller's arguments where they are. All others have tuples or callable
/// scratch: their values are copied, and items are held.
enum class Shape : std::uint8_t { flat, general };

/// A tuple whose length and items no Python code decides.
inline bool is_plain_tuple(PyObject* object) noexcept {
  if (PyTuple_CheckExact(object)) return true;
  if (!PyTuple_Check(object)) return false;
  const PySequenceMethods* own = Py_TYPE(object)->tp_as_sequence;
  const PySequenceMethods* plain = PyTuple_Type.tp_as_sequence;
  return own != nullptr && own->sq_item == plain->sq_item && own->sq_length == plain->sq_length;
}

/// Whether `object` is a sequence of `count` items, as PyArg_ParseTuple sees it: bytes are none.
/// False with an exception only if the object's own code raised.
inline bool is_sequence_of(PyObject* object, std::uint32_t count) noexcept {
  if (is_plain_tuple(object)) return PyTuple_GET_SIZE(object) == static_cast<Py_ssize_t>(count);
  if (PySequence_Check(object) == 0 || PyBytes_Check(object)) return false;
  return PySequence_Size(object) == static_cast<Py_ssize_t>(count);
}

/// Item `index`, held where the sequence need not keep it. Null where it cannot be had.
inline PyObject* item_of(PyObject* sequence, std::uint32_t index, HeldItems& held) noexcept {
  const auto position = static_cast<Py_ssize_t>(index);
  if (is_plain_tuple(sequence) && position < PyTuple_GET_SIZE(sequence)) {
    return PyTuple_GET_ITEM(sequence, position);
  }
  PyObject* item = PySequence_GetItem(sequence, position);
  if (item == nullptr) {
    PyErr_Clear();  // as PyArg_ParseTuple does: the item "is not retrievable"
  } else {
    held.hold(item);
  }
  return item;
}

/// Converts the scalars of one kind that follow each other; false at the first that cannot be,
/// `step` then being its own. A function of its own, so that neither the size nor the registers of
/// a launch's entry decide what an argument costs.
template <bool (*convert)(PyObject*, std::byte*) noexcept>
[[gnu::noinline]] bool convert_run(const Step*& first, PyObject* const* values,
                                   std::byte* slots) noexcept {
  const Step* step = first;
  const Op op = step->op;
  bool done = true;
  do {
    done = convert(values[step->source], slots + step->target);
  } while (done && (++step)->op == op);
  first = step;
  return done;
}

/// Left to right, before the enter hook: scalars are converted, tuples opened. Steps of one kind
/// that follow each other run without being looked at again.
template <Shape shape>
[[gnu::always_inline]] inline bool parse(const Launcher& self, PyObject** own_values,
                                         PyObject* const* arguments, std::byte* slots,
                                         HeldItems& held) {
  PyObject* const* values = shape == Shape::flat ? arguments : own_values;
  const Step* step = self.plan.parse.data();
  for (;;) {
    bool done = false;
    switch (step->op) {
#define RELAUNCH_SCALAR(id, converter) \
  case Op::id: done = convert_run<converter<Type::id>>(step, values, slots); break;
#define RELAUNCH_CASE_signed_range(id) RELAUNCH_SCALAR(id, convert_signed_range)
#define RELAUNCH_CASE_unsigned_byte(id) RELAUNCH_SCALAR(id, convert_unsigned_byte)
#define RELAUNCH_CASE_masked(id) RELAUNCH_SCALAR(id, convert_masked)
#define RELAUNCH_CASE_masked_int_only(id) RELAUNCH_SCALAR(id, convert_masked_int_only)
#define RELAUNCH_CASE_floating(id) RELAUNCH_SCALAR(id, convert_floating)
#define RELAUNCH_CASE_pointer(id)
#define RELAUNCH_CASE_tensor_map(id)
#define RELAUNCH_CASE_tdm_descriptor(id)
#define RELAUNCH_CASE_expanded(id)
#define RELAUNCH_CASE_skipped(id)
#define RELAUNCH_TYPE(code, id, name, aliases, size, alignment, converter) \
  RELAUNCH_CASE_##converter(id)
#define RELAUNCH_POINTEE(name, aliases)
#include "precompiled/core/types.def"
#undef RELAUNCH_TYPE
#undef RELAUNCH_POINTEE
#undef RELAUNCH_SCALAR
      case Op::checked_u1:
        done = convert_run<convert_checked<Type::u1>>(step, values, slots);
        break;
      case Op::checked_u8:
        done = convert_run<convert_checked<Type::u8>>(step, values, slots);
        break;
      case Op::checked_u16:
        done = convert_run<convert_checked<Type::u16>>(step, values, slots);
        break;
      case Op::checked_u32:
        done = convert_run<convert_checked<Type::u32>>(step, values, slots);
        break;
      case Op::checked_u64:
        done = convert_run<convert_checked<Type::u64>>(step, values, slots);
        break;
      case Op::rounded_bf16: done = convert_run<convert_rounded_bf16>(step, values, slots); break;
      case Op::open:
        done = is_sequence_of(values[step->source], step->extra);
        if (!done) return fail_sequence(self, *step, values[step->source]);
        ++step;
        break;
      case Op::item:
        own_values[step->target] = item_of(values[step->source], step->extra, held);
        done = own_values[step->target] != nullptr;
        if (!done) return fail_sequence(self, *step, values[step->source]);
        ++step;
        break;
      case Op::end: return true;
      default: __builtin_unreachable();
    }
    if (!done) [[unlikely]]
      return fail_scalar(self, *step, values[step->source]);
  }
}

/// After the enter hook, in the dialect's order: addresses, descriptors, fp16 overflows.
template <Shape shape>
[[gnu::always_inline]] inline bool take_in(const Launcher& self, PyObject* const* values,
                                           std::byte* slots) {
  PointerFailure failure;
  for (const Step* step = self.plan.intake.data();; ++step) {
    std::byte* slot = slots + step->target;
    switch (step->op) {
      case Op::pointer: {
        PyObject* value = values[step->source];
        std::uint64_t address = 0;
        if (!convert_pointer(value, *self.driver, &address, &failure)) [[unlikely]] {
          return fail_pointer(self, *step, value, failure);
        }
        store(slot, address);
        break;
      }
      case Op::hidden: {
        PyObject* value = shape == Shape::flat ? self.scratch[step->extra].get()
                                               : values[self.plan.values + step->extra];
        std::uint64_t address = 0;
        if (!convert_pointer(value, *self.driver, &address, &failure)) [[unlikely]] {
          return fail_pointer(self, *step, value, failure);
        }
        store(slot, address);
        break;
      }
      case Op::null: store(slot, std::uint64_t{0}); break;
      case Op::nv_tma_desc:
      case Op::map_address:
      case Op::tdm_desc:
        if (!take_descriptor(self, *step, values[step->source], slot)) return false;
        break;
      case Op::check_half: {
        std::uint16_t overflowed = 0;
        std::memcpy(&overflowed, slot + 2, sizeof(overflowed));
        if (overflowed != 0) return fail_half(self, *step, values[step->source]);
        break;
      }
      case Op::end: return true;
      default: __builtin_unreachable();
    }
  }
}

}  // namespace relaunch
