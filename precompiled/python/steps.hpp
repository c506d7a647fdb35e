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

/// When arguments are converted: scalars before the enter hook and the rest after it, stage by
/// stage, or all after it in flat order.
enum class Order : std::uint8_t { staged, flat };

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

/// Item `index`, held where the sequence need not keep it. Null where it cannot be had,
/// with an exception set where there is no memory for it.
inline PyObject* item_of(PyObject* sequence, std::uint32_t index, HeldItems& held) noexcept {
  const auto position = static_cast<Py_ssize_t>(index);
  if (is_plain_tuple(sequence) && position < PyTuple_GET_SIZE(sequence)) {
    return PyTuple_GET_ITEM(sequence, position);
  }
  PyObject* item = PySequence_GetItem(sequence, position);
  if (item == nullptr) {
    // As PyArg_ParseTuple does: the item "is not retrievable".
    if (!is_out_of_memory()) PyErr_Clear();
  } else {
    held.hold(item);
  }
  return item;
}

/// Replaces the value, any iterable, by a tuple of its items, held where the caller does not hold
/// it: no code of the iterable is run afterwards. False with an exception set, one that is worded,
/// where there are not `step.extra` items.
bool open_iterable(const Launcher& self, const Step& step, PyObject** values, HeldItems& held);

/// Whether a converter left its note that the fp16 in this slot overflowed.
inline bool is_overflowed(const std::byte* slot) noexcept {
  std::uint16_t note = 0;
  std::memcpy(&note, slot + kHalfNote, sizeof(note));
  return note != 0;
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

#define RELAUNCH_CONVERSION_CASE(op, type, bytes, converter)                         \
  case Op::op:                                                                       \
    done = convert_run<convert_##converter<Type::type, bytes>>(step, values, slots); \
    break;

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
#define RELAUNCH_CONVERSION RELAUNCH_CONVERSION_CASE
#include "precompiled/core/conversions.def"
#undef RELAUNCH_CONVERSION
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
      case Op::check_half:
        done = !is_overflowed(slots + step->target);
        if (!done) return fail_half(self, *step, values[step->source]);
        ++step;
        break;
      case Op::end: return true;
      default: __builtin_unreachable();
    }
    if (!done) [[unlikely]]
      return fail_scalar(self, *step, values[step->source]);
  }
}

/// An address in its slot.
[[gnu::always_inline]] inline bool take_pointer(const Launcher& self, const Step& step,
                                                PyObject* value, std::byte* slot,
                                                PointerFailure* failure) {
  std::uint64_t address = 0;
  if (!convert_pointer(value, *self.driver, &address, failure)) [[unlikely]] {
    return fail_pointer(self, step, value, *failure);
  }
  store(slot, address);
  return true;
}

/// After the enter hook, in the dialect's order: addresses, descriptors, fp16 overflows.
template <Shape shape>
[[gnu::always_inline]] inline bool take_in(const Launcher& self, PyObject* const* values,
                                           std::byte* slots) {
  PointerFailure failure;
  for (const Step* step = self.plan.intake.data();; ++step) {
    std::byte* slot = slots + step->target;
    switch (step->op) {
      case Op::pointer:
        if (!take_pointer(self, *step, values[step->source], slot, &failure)) return false;
        break;
      case Op::hidden: {
        PyObject* value = shape == Shape::flat ? self.scratch[step->extra].get()
                                               : values[self.plan.values + step->extra];
        if (!take_pointer(self, *step, value, slot, &failure)) return false;
        break;
      }
      case Op::null: store(slot, std::uint64_t{0}); break;
      case Op::nv_tma_desc:
      case Op::map_address:
      case Op::tdm_desc:
        if (!take_descriptor(self, *step, values[step->source], slot)) return false;
        break;
      case Op::check_half:
        if (is_overflowed(slot)) return fail_half(self, *step, values[step->source]);
        break;
      case Op::end: return true;
      default: __builtin_unreachable();
    }
  }
}

/// All of it after the enter hook, for launchers that convert in flat order: every tuple is opened
/// before the first argument is converted.
template <Shape shape>
[[gnu::always_inline]] inline bool take_in_flat_order(const Launcher& self, PyObject** own_values,
                                                      PyObject* const* arguments, std::byte* slots,
                                                      HeldItems& held) {
  PyObject* const* values = shape == Shape::flat ? arguments : own_values;
  PointerFailure failure;
  const Step* step = self.plan.intake.data();
  for (;;) {
    bool done = false;
    switch (step->op) {
#define RELAUNCH_CONVERSION RELAUNCH_CONVERSION_CASE
#include "precompiled/core/conversions.def"
#undef RELAUNCH_CONVERSION
      case Op::open:
        if (!open_iterable(self, *step, own_values, held)) return false;
        ++step;
        continue;
      case Op::item:
        own_values[step->target] = PyTuple_GET_ITEM(own_values[step->source], step->extra);
        ++step;
        continue;
      case Op::pointer:
        done = take_pointer(self, *step, values[step->source], slots + step->target, &failure);
        if (!done) return false;
        ++step;
        continue;
      case Op::hidden: {
        PyObject* value = shape == Shape::flat ? self.scratch[step->extra].get()
                                               : values[self.plan.values + step->extra];
        if (!take_pointer(self, *step, value, slots + step->target, &failure)) return false;
        ++step;
        continue;
      }
      case Op::null:
        store(slots + step->target, std::uint64_t{0});
        ++step;
        continue;
      case Op::nv_tma_desc:
      case Op::map_address:
      case Op::tdm_desc:
        if (!take_descriptor(self, *step, values[step->source], slots + step->target)) return false;
        ++step;
        continue;
      case Op::check_half: __builtin_unreachable();
      case Op::end: return true;
    }
    if (!done) [[unlikely]]
      return fail_scalar(self, *step, values[step->source]);
  }
}

}  // namespace relaunch
