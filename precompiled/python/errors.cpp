#include "precompiled/python/errors.hpp"

#include <string>
#include <string_view>

#include "precompiled/python/convert.hpp"
#include "precompiled/python/guards.hpp"
#include "precompiled/python/words.hpp"

namespace relaunch {
namespace {

/// Drops the pending exception if its text is still to be written; gives its type, borrowed from
/// the interpreter's own exceptions. Null leaves the exception as it is.
PyObject* take_mismatch() {
  PyObject* kind = nullptr;
  if (PyErr_ExceptionMatches(PyExc_OverflowError) != 0) kind = PyExc_OverflowError;
  if (PyErr_ExceptionMatches(PyExc_TypeError) != 0) kind = PyExc_TypeError;
  if (kind == nullptr) return nullptr;
  PyObject* type = nullptr;
  PyObject* value = nullptr;
  PyObject* traceback = nullptr;
  PyErr_Fetch(&type, &value, &traceback);
  PyErr_NormalizeException(&type, &value, &traceback);
  const Ref arguments(value != nullptr ? PyObject_GetAttrString(value, "args") : nullptr);
  if (!arguments && is_out_of_memory()) {
    Py_XDECREF(type);
    Py_XDECREF(value);
    Py_XDECREF(traceback);
    return nullptr;
  }
  const bool marked = arguments && PyTuple_Check(arguments.get()) != 0 &&
                      PyTuple_GET_SIZE(arguments.get()) == 1 &&
                      PyTuple_GET_ITEM(arguments.get(), 0) == mismatch();
  if (!marked) {
    PyErr_Restore(type, value, traceback);
    return nullptr;
  }
  Py_XDECREF(type);
  Py_XDECREF(value);
  Py_XDECREF(traceback);
  return kind;
}

bool is_float(Op op) {
  switch (conversion(op).type) {
    case Type::fp16:
    case Type::bf16:
    case Type::fp32:
    case Type::fp64: return true;
    default: return false;
  }
}

/// What a scalar step expects, for values beyond the range.
std::string range_of(Op op, const std::string& type) {
  switch (op) {
    case Op::i1: return "an int from 0 to 255 for i1";
    case Op::wide_i1: return "an int of 32 bits for i1";
    case Op::long_i1: return "an int of 64 bits for i1";
    case Op::long_u1:
    case Op::long_u8:
    case Op::long_u16:
    case Op::long_u32: return "an int from 0 to 2**64 - 1 for " + type;
    default: break;
  }
  return (is_float(op) ? "a number that fits " : "an int that fits ") + type;
}

std::string kind_of(Op op, const std::string& type) {
  return (is_float(op) ? "a real number for " : "an int for ") + type;
}

std::string dims_of(const Dims& dims) {
  return "(" + std::to_string(dims[0]) + ", " + std::to_string(dims[1]) + ", " +
         std::to_string(dims[2]) + ")";
}

std::string attribute_of(const Attribute& attribute) {
  switch (attribute.kind) {
    case AttributeKind::programmatic_serialization: return ", pdl";
    case AttributeKind::cooperative:
    case AttributeKind::cooperative_flag: return "";  // said once, by the option
    case AttributeKind::cluster_dimension: return ", cluster " + dims_of(attribute.value);
    case AttributeKind::cluster_scheduling: return "";
    case AttributeKind::preferred_cluster: return ", preferred cluster " + dims_of(attribute.value);
    case AttributeKind::oversize_shared: return "";  // the launch's shared bytes say it
  }
  return "";
}

/// "; grid_x 3 is no multiple of the cluster's 2" for each dimension that is none.
std::string not_a_multiple(const Dims& grid, const Attribute& attribute) {
  std::string text;
  if (attribute.kind != AttributeKind::cluster_dimension) return text;
  for (std::size_t axis = 0; axis < grid.size(); ++axis) {
    const std::uint32_t size = attribute.value[axis];
    if (size == 0 || grid[axis] % size == 0) continue;
    text += std::string("; grid_") + "xyz"[axis] + " " + std::to_string(grid[axis]) +
            " is no multiple of the cluster's " + std::to_string(size);
  }
  return text;
}

/// Where a tensor says it is, "it is on cuda:1", or a guess. Nothing that it raises matters: there
/// is an error already. Without memory for the answer std::bad_alloc is thrown.
std::string where_of(PyObject* tensor) {
  constexpr std::size_t kShown = 80;
  constexpr const char* kGuess = "is it in CPU memory?";
  const Ref device(PyObject_GetAttrString(tensor, "device"));
  // A number alone may be of anything.
  if (!device || device.get() == Py_None || PyLong_Check(device.get()) != 0) {
    clear_error();
    return kGuess;
  }
  const Ref name(PyObject_Str(device.get()));
  const char* text = name ? PyUnicode_AsUTF8(name.get()) : nullptr;
  if (text == nullptr || std::string_view(text).size() > kShown) {
    clear_error();
    return kGuess;
  }
  return std::string("it is on ") + text;
}

}  // namespace

Failed fail_keywords(const Launcher& self) {
  return raise(PyExc_TypeError, call_of(self) + " takes no keyword arguments");
}

Failed fail_count(const Launcher& self, Py_ssize_t given, Py_ssize_t fixed) {
  const char* front = fixed == 4 ? "the grid and the stream" : "the exit hook";
  std::string text = call_of(self) + " takes " + std::to_string(self.plan.arguments) +
                     " arguments behind " + front;
  const std::size_t declared = self.declared->parameters.size();
  if (declared != self.plan.arguments) {
    text += " (" + std::to_string(declared) + " with descriptor objects)";
  }
  text += ", ";
  if (given < fixed) {
    return raise(PyExc_TypeError, text + "got only " + std::to_string(given) + " of the " +
                                      std::to_string(fixed) + " in front");
  }
  return raise(PyExc_TypeError, text + "got " + std::to_string(given - fixed));
}

Failed fail_field(const Launcher& self, const char* field, PyObject* value) {
  PyObject* kind = take_mismatch();
  if (kind == nullptr) return {};
  const std::string text = std::string(field) + " of " + call_of(self) + ": expected ";
  if (kind == PyExc_TypeError) return raise(kind, text + "an int, got " + type_of(value));
  return raise(kind, text + "an int that fits i32, got " + value_of(value));
}

Failed fail_scalar(const Launcher& self, const Step& step, PyObject* value) {
  PyObject* kind = take_mismatch();
  if (kind == nullptr) return {};
  const std::string& type = self.plan.leaves[step.extra].type;
  const std::string text = place(self, step) + "expected ";
  if (kind == PyExc_TypeError) {
    return raise(kind, text + kind_of(step.op, type) + ", got " + type_of(value));
  }
  return raise(kind, text + range_of(step.op, type) + ", got " + value_of(value));
}

Failed fail_sequence(const Launcher& self, const Step& step, PyObject* value) {
  if (PyErr_Occurred() != nullptr) return {};  // its __len__ raised
  if (step.op == Op::item) {
    return raise(PyExc_TypeError, "item " + std::to_string(step.extra + 1) + " of the " +
                                      type_of(value) + " for a tuple of " + call_of(self) +
                                      " cannot be retrieved");
  }
  std::string got = type_of(value);
  if (PySequence_Check(value) != 0 && PyBytes_Check(value) == 0) {
    const Py_ssize_t size = PySequence_Size(value);
    if (size < 0) {
      PyErr_Clear();  // it raises this time
    } else {
      got = "one of " + std::to_string(size);
    }
  }
  return raise(PyExc_TypeError, place(self, step.target) + "expected a sequence of " +
                                    std::to_string(step.extra) + " items, got " + got);
}

Failed fail_metadata(const Launcher& self, PyObject* value) {
  const Dialect& dialect = *self.dialect;
  const bool has_clusters = dialect.metadata == MetadataForm::warps_ctas_shared_clusters;
  const bool any_sequence = dialect.metadata_errors == MetadataErrors::any_sequence;
  const std::string text =
      "kernel_metadata of " + call_of(self) + ": expected a " +
      (any_sequence ? "sequence of " : "tuple of ") +
      (has_clusters ? "six ints (num_warps, num_ctas, shared, cluster_x, cluster_y, cluster_z)"
                    : "three ints (num_warps, num_ctas, shared)") +
      ", got ";
  if (PyTuple_Check(value) == 0) {
    const bool is_system_error = dialect.metadata_errors == MetadataErrors::as_found;
    return raise(is_system_error ? PyExc_SystemError : PyExc_TypeError, text + type_of(value));
  }
  const Py_ssize_t size = PyTuple_GET_SIZE(value);
  if (size != (has_clusters ? 6 : 3)) {
    return raise(PyExc_TypeError, text + std::to_string(size) + " items");
  }
  std::string items;
  for (Py_ssize_t i = 0; i < size; ++i) {
    if (i != 0) items += ", ";
    items += value_of(PyTuple_GET_ITEM(value, i));
  }
  return raise(PyExc_TypeError, text + items);
}

Failed fail_grid(const Launcher& self, GridCheck check, const LaunchRequest& request,
                 const Configuration& configuration) {
  const auto axis =
      static_cast<std::size_t>(check) - static_cast<std::size_t>(GridCheck::x_out_of_range);
  const std::int32_t value = request.grid[axis];
  const std::int32_t factor = configuration.scale.factors[axis];
  std::string text = std::string("grid_") + "xyz"[axis] + " of " + call_of(self) + ": ";
  if (value < 0) {
    return raise(PyExc_ValueError,
                 text + "expected 0 or more blocks, got " + std::to_string(value));
  }
  text +=
      factor < 0 ? "expected 0 or more blocks, got " : "expected at most 2147483647 blocks, got ";
  return raise(PyExc_ValueError,
               text + std::to_string(value) + " times " + std::to_string(factor) + " CTAs");
}

Failed fail_pointer(const Launcher& self, const Step& step, PyObject* value,
                    const PointerFailure& failure) {
  if (failure.fault == PointerFault::raised) return {};
  const std::string text = place(self, step);
  switch (failure.fault) {
    case PointerFault::raised: break;
    case PointerFault::no_address:
      return raise(
          PyExc_TypeError,
          text + "expected None, an int or an object with data_ptr(), got " + type_of(value));
    case PointerFault::not_an_int:
      return raise(PyExc_TypeError,
                   text + "expected data_ptr() of " + type_of(value) + " to return an int");
    case PointerFault::int_range:
      return raise(PyExc_OverflowError,
                   text + "expected an address of 64 bits, got " + value_of(value));
    case PointerFault::result_range:
      return raise(PyExc_OverflowError, text + "expected data_ptr() of " + type_of(value) +
                                            " to return an address of 64 bits");
    case PointerFault::inaccessible:
      return raise(PyExc_ValueError, text + "address " + hex(failure.address) + " of " +
                                         type_of(value) + " cannot be accessed from the device (" +
                                         where_of(value) + ")");
    case PointerFault::wrong_device:
      return raise(PyExc_ValueError, text + type_of(value) + " is on DLPack device type " +
                                         std::to_string(failure.device) +
                                         ", which the device cannot access");
    case PointerFault::driver:
      return raise(PyExc_RuntimeError, driver_error(self, failure.status) + ": " + text +
                                           "address " + hex(failure.address));
  }
  return {};
}

Failed fail_half(const Launcher& self, const Step& step, PyObject* value) {
  return raise(PyExc_OverflowError, place(self, step.extra) +
                                        "expected a number that fits fp16, got " + value_of(value));
}

Failed fail_context(const Launcher& self, const Status& status) {
  return raise(PyExc_RuntimeError,
               driver_error(self, status) + ": " + call_of(self) + " has no context to launch in");
}

Failed fail_launch(const Launcher& self, const Status& status, const LaunchCall& call,
                   const Geometry& geometry) {
  std::string text = driver_error(self, status) + ": " + call_of(self) + ", grid " +
                     dims_of(call.grid) + ", block " + std::to_string(call.block) + ", shared " +
                     std::to_string(call.shared);
  const AttributeList list = make_attributes(*self.dialect, self.options, geometry);
  for (std::uint32_t i = 0; i < list.count; ++i) text += attribute_of(list.items[i]);
  if (call.attributes->cooperative) text += ", cooperative";
  text += self.driver->beyond_limits(call);
  for (std::uint32_t i = 0; i < list.count; ++i) text += not_a_multiple(call.grid, list.items[i]);
  return raise(PyExc_RuntimeError, text);
}

Failed fail_no_function(const Launcher& self) {
  return raise(PyExc_TypeError,
               call_of(self) + " was bound without a function: give function=, or call launch()");
}

}  // namespace relaunch
