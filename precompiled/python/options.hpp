#pragma once
// The constructor's arguments, read one by one. Everything here throws: PythonError with an
// exception set, or BindError.

#include <Python.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "precompiled/core/launch.hpp"
#include "precompiled/python/guards.hpp"

namespace relaunch {

/// An exception is set.
struct PythonError {};

/// The values of Launcher(tree, *, ...), borrowed; defaults stand where nothing is given.
struct ConstructorArguments {
  PyObject* tree = nullptr;
  PyObject* dialect = Py_None;
  PyObject* function = Py_None;
  PyObject* name = nullptr;
  PyObject* num_warps = nullptr;
  PyObject* num_ctas = nullptr;
  PyObject* shared = nullptr;
  int cooperative = 0;
  int pdl = 0;
  PyObject* warp_size = Py_None;
  PyObject* tensordesc_meta = Py_None;
  PyObject* global_scratch = Py_None;
  PyObject* profile_scratch = Py_None;
  PyObject* driver = Py_None;
  int strict = 0;
  int round_bf16 = 0;
  PyObject* cluster = Py_None;
  PyObject* preferred_cluster = Py_None;
  PyObject* scheduling = Py_None;
  int non_portable_cluster = 0;
  PyObject* constants = Py_None;
  PyObject* binary = Py_None;
};

extern const char* const kConstructorText;  // docstring, the text signature first

ConstructorArguments read_arguments(PyObject* args, PyObject* kwargs);

/// UTF-8 text of a str; TypeError naming the option for anything else.
std::string text_option(PyObject* value, const char* option);

/// A file system path or a name: str, bytes or os.PathLike.
std::string path_option(PyObject* value);

/// An int in the range of i32; the default where none is given.
std::int32_t int_option(PyObject* value, const char* option, std::int32_t otherwise);

/// A handle: an int from 0 to 2^64-1.
std::uint64_t handle_option(PyObject* value, const char* option);

/// Three ints, None giving none.
std::optional<Dims> dims_option(PyObject* value, const char* option);

/// "spread", "load_balancing" or "default".
std::optional<Scheduling> scheduling_option(PyObject* value);

/// An int in the range of u32.
std::uint32_t number_option(PyObject* value, const char* option);

/// The items of a sequence as a tuple of its own; none for None.
Ref items_option(PyObject* value, const char* option, const char* expected);

/// Ints from 0 to `most`.
std::vector<std::uint64_t> numbers_option(PyObject* value, const char* option, std::uint64_t most);

/// Indices from 0: any iterable of ints (the keys of a dict), None giving none.
std::vector<std::size_t> indices_option(PyObject* value, const char* option);

/// The tree itself, or that of a text: a Tree object.
Ref tree_option(PyObject* value);

const Dialect& dialect_option(PyObject* value);

extern PyObject* bind_error;  // the BindError class

/// Sets the exception being handled as Python's: PythonError is set already.
void set_current_exception() noexcept;

}  // namespace relaunch
