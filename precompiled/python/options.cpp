#include "precompiled/python/options.hpp"

#include <pybind11/pybind11.h>

#include <limits>
#include <new>
#include <string_view>
#include <utility>

#include "precompiled/core/plan.hpp"
#include "precompiled/core/tree.hpp"
#include "precompiled/driver/driver.hpp"
#include "precompiled/python/convert.hpp"
#include "precompiled/python/guards.hpp"

namespace relaunch {

PyObject* bind_error = nullptr;

namespace {

[[noreturn]] void wrong_type(const char* option, const char* expected, PyObject* value) {
  PyErr_Format(PyExc_TypeError, "%s: expected %s, got %s", option, expected,
               Py_TYPE(value)->tp_name);
  throw PythonError();
}

/// Rethrows a pending exception of the object's own code; else the option has a wrong type.
[[noreturn]] void not_converted(const char* option, const char* expected, PyObject* value) {
  if (PyErr_ExceptionMatches(PyExc_OverflowError) != 0) {
    PyErr_Clear();
    throw BindError(std::string(option) + ": expected " + expected + ", got an int out of range");
  }
  if (PyErr_ExceptionMatches(PyExc_TypeError) == 0) throw PythonError();
  PyErr_Clear();
  wrong_type(option, expected, value);
}

}  // namespace

const char* const kConstructorText =
    "Launcher(tree, *, dialect, function=None, name='kernel', num_warps=4, num_ctas=1, shared=0, "
    "cooperative=False, pdl=False, warp_size=None, tensordesc_meta=None, global_scratch=None, "
    "profile_scratch=None, driver=None, strict=False, round_bf16=False, cluster=None, "
    "preferred_cluster=None, scheduling=None, non_portable_cluster=False, constants=None, "
    "binary=None)\n--\n\n"
    "One kernel bound to one signature: launcher(grid_x, grid_y, grid_z, stream, *args).\n\n"
    "Raises BindError (a ValueError) for a signature or option that cannot be launched, naming it.";

ConstructorArguments read_arguments(PyObject* args, PyObject* kwargs) {
  static const char* names[] = {"tree",
                                "dialect",
                                "function",
                                "name",
                                "num_warps",
                                "num_ctas",
                                "shared",
                                "cooperative",
                                "pdl",
                                "warp_size",
                                "tensordesc_meta",
                                "global_scratch",
                                "profile_scratch",
                                "driver",
                                "strict",
                                "round_bf16",
                                "cluster",
                                "preferred_cluster",
                                "scheduling",
                                "non_portable_cluster",
                                "constants",
                                "binary",
                                nullptr};
  ConstructorArguments a;
  const int read = PyArg_ParseTupleAndKeywords(
      args, kwargs, "O|$OOOOOOppOOOOOppOOOpOO:Launcher", const_cast<char**>(names), &a.tree,
      &a.dialect, &a.function, &a.name, &a.num_warps, &a.num_ctas, &a.shared, &a.cooperative,
      &a.pdl, &a.warp_size, &a.tensordesc_meta, &a.global_scratch, &a.profile_scratch, &a.driver,
      &a.strict, &a.round_bf16, &a.cluster, &a.preferred_cluster, &a.scheduling,
      &a.non_portable_cluster, &a.constants, &a.binary);
  if (read == 0) throw PythonError();
  if (a.dialect == Py_None) {
    PyErr_SetString(PyExc_TypeError, "Launcher() needs dialect=, such as 'triton-3.6-cuda'");
    throw PythonError();
  }
  return a;
}

std::string text_option(PyObject* value, const char* option) {
  if (PyUnicode_Check(value) == 0) wrong_type(option, "a str", value);
  Py_ssize_t size = 0;
  const char* text = PyUnicode_AsUTF8AndSize(value, &size);
  if (text == nullptr) throw PythonError();
  return {text, static_cast<std::size_t>(size)};
}

std::string path_option(PyObject* value) {
  PyObject* bytes = nullptr;
  if (PyUnicode_FSConverter(value, &bytes) == 0) throw PythonError();
  const Ref owned(bytes);
  if (PyBytes_GET_SIZE(bytes) == 0) throw BindError("driver is empty: expected a path or a name");
  return PyBytes_AS_STRING(bytes);
}

std::int32_t int_option(PyObject* value, const char* option, std::int32_t otherwise) {
  if (value == nullptr || value == Py_None) return otherwise;
  std::int32_t number = 0;
  if (!convert_signed_range<Type::i32>(value, reinterpret_cast<std::byte*>(&number))) {
    not_converted(option, "an int of 32 bits", value);
  }
  return number;
}

std::uint64_t handle_option(PyObject* value, const char* option) {
  std::uint64_t number = 0;
  if (!uint64_of(value, Beside::as_format, &number)) {
    not_converted(option, "a handle, an int from 0 to 2**64 - 1", value);
  }
  return number;
}

std::optional<Dims> dims_option(PyObject* value, const char* option) {
  if (value == Py_None) return std::nullopt;
  constexpr const char* kExpected = "three ints (x, y, z)";
  const Ref items(PySequence_Fast(value, kExpected));
  if (!items) not_converted(option, kExpected, value);
  if (PySequence_Fast_GET_SIZE(items.get()) != 3) {
    throw BindError(std::string(option) + ": expected " + kExpected + ", got " +
                    std::to_string(PySequence_Fast_GET_SIZE(items.get())) + " items");
  }
  // An item's __index__ may change a list: what is read next is held by a tuple of our own.
  const Ref own(PySequence_Tuple(items.get()));
  if (!own) throw PythonError();
  if (PyTuple_GET_SIZE(own.get()) != 3) wrong_type(option, kExpected, value);
  Dims dims{};
  for (std::size_t i = 0; i < 3; ++i) {
    PyObject* item = PyTuple_GET_ITEM(own.get(), static_cast<Py_ssize_t>(i));
    const std::int32_t number = int_option(item, option, 0);
    if (number < 1) {
      throw BindError(std::string(option) + ": every dimension must be positive, got " +
                      std::to_string(number));
    }
    dims[i] = static_cast<std::uint32_t>(number);
  }
  return dims;
}

std::optional<Scheduling> scheduling_option(PyObject* value) {
  if (value == Py_None) return std::nullopt;
  const std::string name = text_option(value, "scheduling");
  constexpr std::pair<std::string_view, Scheduling> kNames[] = {
      {"default", Scheduling::driver_default},
      {"spread", Scheduling::spread},
      {"load_balancing", Scheduling::load_balancing},
  };
  for (const auto& [known, scheduling] : kNames) {
    if (name == known) return scheduling;
  }
  throw BindError("scheduling: expected 'default', 'spread' or 'load_balancing', got '" + name +
                  "'");
}

std::uint32_t number_option(PyObject* value, const char* option) {
  constexpr const char* kExpected = "an int from 0 to 2**32 - 1";
  std::uint64_t number = 0;
  if (!uint64_of(value, Beside::none, &number)) not_converted(option, kExpected, value);
  if (number > std::numeric_limits<std::uint32_t>::max()) {
    throw BindError(std::string(option) + ": expected " + kExpected + ", got " +
                    std::to_string(number));
  }
  return static_cast<std::uint32_t>(number);
}

Ref items_option(PyObject* value, const char* option, const char* expected) {
  if (value == Py_None) return Ref();
  if (PySequence_Check(value) == 0) wrong_type(option, expected, value);
  Ref items(PySequence_Tuple(value));
  if (!items) throw PythonError();
  return items;
}

std::vector<std::uint64_t> numbers_option(PyObject* value, const char* option, std::uint64_t most) {
  constexpr const char* kExpected = "a sequence of ints";
  if (value == Py_None) wrong_type(option, kExpected, value);
  const Ref items = items_option(value, option, kExpected);
  std::vector<std::uint64_t> numbers;
  for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(items.get()); ++i) {
    PyObject* item = PyTuple_GET_ITEM(items.get(), i);
    std::uint64_t number = 0;
    if (!uint64_of(item, Beside::none, &number)) not_converted(option, kExpected, item);
    if (number > most) {
      throw BindError(std::string(option) + ": expected ints from 0 to " + std::to_string(most) +
                      ", got " + std::to_string(number));
    }
    numbers.push_back(number);
  }
  return numbers;
}

std::vector<std::size_t> indices_option(PyObject* value, const char* option) {
  std::vector<std::size_t> indices;
  if (value == Py_None) return indices;
  constexpr const char* kExpected = "an iterable of entry indices";
  const Ref items(PySequence_Tuple(value));
  if (!items) not_converted(option, kExpected, value);
  for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(items.get()); ++i) {
    PyObject* item = PyTuple_GET_ITEM(items.get(), i);
    const std::int32_t index = int_option(item, option, -1);
    if (index < 0) {
      throw BindError(std::string(option) + ": expected " + kExpected + " from 0, got " +
                      (item == Py_None ? "None" : std::to_string(index)));
    }
    indices.push_back(static_cast<std::size_t>(index));
  }
  return indices;
}

Ref tree_option(PyObject* value) {
  if (pybind11::isinstance<Tree>(value)) return Ref::borrow(value);
  if (PyUnicode_Check(value) == 0) {
    PyErr_Format(PyExc_TypeError, "tree: expected a Tree or a str, got %s",
                 Py_TYPE(value)->tp_name);
    throw PythonError();
  }
  const Ref module(PyImport_ImportModule("relaunch._core"));
  Ref tree(module ? PyObject_CallMethod(module.get(), "parse", "O", value) : nullptr);
  if (!tree) throw PythonError();
  return tree;
}

const Dialect& dialect_option(PyObject* value) {
  const std::string name = text_option(value, "dialect");
  if (const Dialect* dialect = find_dialect(name)) return *dialect;
  throw BindError(unknown_dialect(name));
}

void set_current_exception() noexcept {
  try {
    throw;
  } catch (const PythonError&) {
    return;  // is set
  } catch (const pybind11::error_already_set& error) {
    pybind11::error_already_set(error).restore();
  } catch (const MetaCountError& error) {
    PyErr_SetString(PyExc_AssertionError, error.what());
  } catch (const BindError& error) {
    PyErr_SetString(bind_error, error.what());
  } catch (const DriverError& error) {
    PyErr_SetString(bind_error, error.what());
  } catch (const std::bad_alloc&) {
    PyErr_NoMemory();
  } catch (const std::exception& error) {
    PyErr_SetString(PyExc_RuntimeError, error.what());
  }
}

}  // namespace relaunch
