#include "differential/native/objects.hpp"

#include <cstring>
#include <string_view>
#include <utility>

#include "differential/native/object_types.hpp"

namespace relaunch::differential {
namespace py = pybind11;
namespace {

enum class Make : std::uint8_t {
  kFloat,
  kStr,
  kTuple,
  kList,
  kNamedTuple,
  kDict,
  kObject,
  kTensor,
  kDlpack,
  kTensorReturns,
  kTensorRaises,
  kIndex,
  kIntlike,
  kFloatlike,
  kIndexRaises,
  kFloatRaises,
  kTensorMap,
  kDescriptorReturns,
  kDescriptorRaises,
  kDescriptorUnaligned,
  kOther,
};

constexpr std::pair<const char*, Make> kNames[] = {
    {"float", Make::kFloat},
    {"str", Make::kStr},
    {"tuple", Make::kTuple},
    {"list", Make::kList},
    {"namedtuple", Make::kNamedTuple},
    {"dict", Make::kDict},
    {"object", Make::kObject},
    {"tensor", Make::kTensor},
    {"dlpack", Make::kDlpack},
    {"tensor_returns", Make::kTensorReturns},
    {"tensor_raises", Make::kTensorRaises},
    {"index", Make::kIndex},
    {"intlike", Make::kIntlike},
    {"floatlike", Make::kFloatlike},
    {"index_raises", Make::kIndexRaises},
    {"float_raises", Make::kFloatRaises},
    {"tensormap", Make::kTensorMap},
    {"descriptor_returns", Make::kDescriptorReturns},
    {"descriptor_raises", Make::kDescriptorRaises},
    {"descriptor_unaligned", Make::kDescriptorUnaligned},
};

py::object owned(PyObject* object) {
  if (object == nullptr) throw py::error_already_set();
  return py::reinterpret_steal<py::object>(object);
}

Make kind_of(PyObject* name) {
  static PyObject* const known = [] {
    py::dict names;
    for (const auto& [text, make] : kNames) names[text] = static_cast<int>(make);
    return names.release().ptr();
  }();
  PyObject* const found = PyDict_GetItemWithError(known, name);
  if (found == nullptr) {
    if (PyErr_Occurred() != nullptr) throw py::error_already_set();
    return Make::kOther;
  }
  return static_cast<Make>(PyLong_AsLong(found));
}

py::object real(PyObject* text) {
  static PyObject* const read =
      py::object(py::module_::import("builtins").attr("float").attr("fromhex")).release().ptr();
  return owned(PyObject_CallOneArg(read, text));
}

py::object address(PyObject* text) {
  const char* const digits = PyUnicode_AsUTF8(text);
  if (digits == nullptr) throw py::error_already_set();
  return owned(PyLong_FromString(digits, nullptr, 16));
}

py::object bytes(PyObject* text) {
  static PyObject* const read =
      py::object(py::module_::import("builtins").attr("bytes").attr("fromhex")).release().ptr();
  return owned(PyObject_CallOneArg(read, text));
}

py::object exception(PyObject* name) { return py::module_::import("builtins").attr(name); }

py::object addressed(std::string_view content, std::size_t offset) {
  PyTypeObject& type = object_types().addressed;
  auto* const made = PyObject_New(Addressed, &type);
  if (made == nullptr) throw py::error_already_set();
  std::memset(made->room, 0, sizeof made->room);
  made->offset = offset;
  content.copy(reinterpret_cast<char*>(made->address()), content.size());
  return py::reinterpret_steal<py::object>(reinterpret_cast<PyObject*>(made));
}

py::object filled_dict(PyObject* count) {
  py::dict made;
  for (long i = 0, n = PyLong_AsLong(count); i < n; ++i) made[py::int_(i)] = py::none();
  return made;
}

}  // namespace

Objects::Objects(const std::string& backend, std::uint64_t note, py::object tensor_map,
                 py::object named_tuple)
    : cuda_(backend == "cuda"),
      note_(reinterpret_cast<Note>(note)),
      tensor_map_(std::move(tensor_map)),
      named_tuple_(std::move(named_tuple)) {
  object_types();
}

py::object Objects::instance(PyTypeObject& type, py::object answer) const {
  auto* const made = PyObject_New(Answering, &type);
  if (made == nullptr) throw py::error_already_set();
  made->answer = answer.release().ptr();
  made->note = note_;
  return py::reinterpret_steal<py::object>(reinterpret_cast<PyObject*>(made));
}

py::object Objects::hook(const char* event, const char* failure) const {
  auto* const made = PyObject_New(Hook, &object_types().hook);
  if (made == nullptr) throw py::error_already_set();
  made->note = note_;
  made->event = event;
  made->failure = failure;
  return py::reinterpret_steal<py::object>(reinterpret_cast<PyObject*>(made));
}

py::object Objects::build_items(const py::handle items, bool as_list) const {
  const py::object fast = owned(PySequence_Fast(items.ptr(), "items must be a list"));
  const Py_ssize_t count = PySequence_Fast_GET_SIZE(fast.ptr());
  py::object made = owned(as_list ? PyList_New(count) : PyTuple_New(count));
  for (Py_ssize_t i = 0; i < count; ++i) {
    PyObject* const item = build(PySequence_Fast_GET_ITEM(fast.ptr(), i)).release().ptr();
    if (as_list) {
      PyList_SET_ITEM(made.ptr(), i, item);
    } else {
      PyTuple_SET_ITEM(made.ptr(), i, item);
    }
  }
  return made;
}

py::object Objects::build(const py::handle argument) const {
  if (PyDict_Check(argument.ptr()) == 0) return py::reinterpret_borrow<py::object>(argument);
  PyObject* name = nullptr;
  PyObject* value = nullptr;
  Py_ssize_t at = 0;
  if (PyDict_Next(argument.ptr(), &at, &name, &value) == 0) {
    throw py::value_error("an argument's object is empty");
  }
  ObjectTypes& types = object_types();
  auto given = py::reinterpret_borrow<py::object>(value);
  switch (kind_of(name)) {
    case Make::kFloat: return real(value);
    case Make::kStr: return given;
    case Make::kTuple: return build_items(given, false);
    case Make::kList: return build_items(given, true);
    case Make::kNamedTuple: {
      const py::object items = build_items(given, false);
      return named_tuple_(py::len(items))(*items);
    }
    case Make::kDict: return filled_dict(value);
    case Make::kObject:
      return owned(PyObject_CallNoArgs(reinterpret_cast<PyObject*>(&PyBaseObject_Type)));
    case Make::kTensor: return instance(types.tensor, address(value));
    case Make::kDlpack:
      return instance(cuda_ ? types.exchange_cuda : types.exchange_hip, address(value));
    case Make::kTensorReturns: return instance(types.tensor, build(given));
    case Make::kTensorRaises: return instance(types.raising, exception(value));
    case Make::kIndex: return instance(types.index, given);
    case Make::kIntlike: return instance(types.intlike, given);
    case Make::kFloatlike: return instance(types.floatlike, real(value));
    case Make::kIndexRaises: return instance(types.index_raises, exception(value));
    case Make::kFloatRaises: return instance(types.float_raises, exception(value));
    case Make::kTensorMap: {
      const py::object content = bytes(value);
      return tensor_map_.is_none() ? addressed(content.cast<std::string_view>(), 0)
                                   : tensor_map_(content);
    }
    case Make::kDescriptorReturns: return instance(types.descriptor, build(given));
    case Make::kDescriptorRaises: return instance(types.descriptor_raises, exception(value));
    case Make::kDescriptorUnaligned: return addressed({}, Addressed::kAlignment / 2);
    case Make::kOther: break;
  }
  throw py::value_error("unknown kind of argument '" + py::cast<std::string>(name) + "'");
}

}  // namespace relaunch::differential
