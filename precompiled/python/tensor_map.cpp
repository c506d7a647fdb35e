#include "precompiled/python/tensor_map.hpp"

#include <cstring>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "precompiled/core/dialect.hpp"
#include "precompiled/core/plan.hpp"
#include "precompiled/driver/driver.hpp"
#include "precompiled/python/options.hpp"

namespace relaunch {

PyTypeObject* tensor_map_type = nullptr;

namespace {

struct TensorMapObject {
  PyObject base;
  std::byte room[kTensorMapBytes + kTensorMapAlignment - 1];
};

PyObject* new_tensor_map(PyTypeObject* type, PyObject* args, PyObject* kwargs) noexcept {
  static const char* names[] = {"source", nullptr};
  PyObject* source = Py_None;
  if (PyArg_ParseTupleAndKeywords(args, kwargs, "|O:TensorMap", const_cast<char**>(names),
                                  &source) == 0) {
    return nullptr;
  }
  Ref self(type->tp_alloc(type, 0));
  if (!self) return nullptr;
  std::memset(bytes_of_map(self.get()), 0, kTensorMapBytes);
  if (source == Py_None) return self.release();
  Py_buffer view{};
  if (PyObject_GetBuffer(source, &view, PyBUF_SIMPLE) != 0) return nullptr;
  const bool fits = view.len == static_cast<Py_ssize_t>(kTensorMapBytes);
  if (fits) {
    std::memcpy(bytes_of_map(self.get()), view.buf, kTensorMapBytes);
  } else {
    PyErr_Format(PyExc_ValueError, "a tensor map has %zu bytes, got %zd", kTensorMapBytes,
                 view.len);
  }
  PyBuffer_Release(&view);
  return fits ? self.release() : nullptr;
}

/// What encode() is given, borrowed.
struct EncodeArguments {
  PyObject* data_type = nullptr;
  PyObject* address = nullptr;
  PyObject* dims = nullptr;
  PyObject* strides = nullptr;
  PyObject* box = nullptr;
  PyObject* element_strides = Py_None;
  PyObject* interleave = Py_None;
  PyObject* swizzle = Py_None;
  PyObject* l2_promotion = Py_None;
  PyObject* oob_fill = Py_None;
  PyObject* driver = Py_None;
};

EncodeArguments read_encode_arguments(PyObject* args, PyObject* kwargs) {
  static const char* names[] = {"data_type",    "address",         "dims",       "strides",
                                "box",          "element_strides", "interleave", "swizzle",
                                "l2_promotion", "oob_fill",        "driver",     nullptr};
  EncodeArguments a;
  // What has no default must be given: the format knows no required keyword-only arguments.
  if (PyArg_ParseTupleAndKeywords(args, kwargs, "|$OOOOOOOOOOO:encode", const_cast<char**>(names),
                                  &a.data_type, &a.address, &a.dims, &a.strides, &a.box,
                                  &a.element_strides, &a.interleave, &a.swizzle, &a.l2_promotion,
                                  &a.oob_fill, &a.driver) == 0) {
    throw PythonError();
  }
  PyObject* const required[] = {a.data_type, a.address, a.dims, a.strides, a.box};
  for (std::size_t i = 0; i < std::size(required); ++i) {
    if (required[i] != nullptr) continue;
    PyErr_Format(PyExc_TypeError, "TensorMap.encode() needs %s=", names[i]);
    throw PythonError();
  }
  return a;
}

/// Numbers into the first entries of `out`; how many there were.
template <typename Number>
std::size_t read_list(PyObject* value, const char* option, std::span<Number> out) {
  const std::vector<std::uint64_t> numbers =
      numbers_option(value, option, std::numeric_limits<Number>::max());
  if (numbers.size() > out.size()) {
    throw BindError(std::string(option) + ": expected at most " + std::to_string(out.size()) +
                    " numbers, got " + std::to_string(numbers.size()));
  }
  for (std::size_t i = 0; i < numbers.size(); ++i) out[i] = static_cast<Number>(numbers[i]);
  return numbers.size();
}

void expect_count(const char* option, std::size_t count, std::size_t expected) {
  if (count == expected) return;
  throw BindError(std::string(option) + ": expected " + std::to_string(expected) +
                  " numbers, got " + std::to_string(count));
}

TensorMapFields read_fields(const EncodeArguments& a) {
  TensorMapFields fields;
  const auto number = [](PyObject* value, const char* option) {
    return value == Py_None ? 0 : number_option(value, option);
  };
  fields.data_type = number(a.data_type, "data_type");
  fields.address = handle_option(a.address, "address");
  const std::size_t rank = read_list<std::uint64_t>(a.dims, "dims", fields.dims);
  if (rank == 0) throw BindError("dims: expected 1 to 5 numbers, got 0");
  fields.rank = static_cast<std::uint32_t>(rank);
  expect_count("strides", read_list<std::uint64_t>(a.strides, "strides", fields.strides), rank - 1);
  expect_count("box", read_list<std::uint32_t>(a.box, "box", fields.box), rank);
  for (std::size_t i = 0; i < rank; ++i) fields.element_strides[i] = 1;
  if (a.element_strides != Py_None) {
    const std::size_t count =
        read_list<std::uint32_t>(a.element_strides, "element_strides", fields.element_strides);
    expect_count("element_strides", count, rank);
  }
  fields.interleave = number(a.interleave, "interleave");
  fields.swizzle = number(a.swizzle, "swizzle");
  fields.l2_promotion = number(a.l2_promotion, "l2_promotion");
  fields.oob_fill = number(a.oob_fill, "oob_fill");
  return fields;
}

PyObject* encode_map(PyObject* /*type*/, PyObject* args, PyObject* kwargs) noexcept {
  try {
    const EncodeArguments arguments = read_encode_arguments(args, kwargs);
    const TensorMapFields fields = read_fields(arguments);
    std::optional<std::string> path;
    if (arguments.driver != Py_None) path = path_option(arguments.driver);
    const Driver& driver = Driver::open(*find_dialect("triton-3.6-cuda"), path);
    Ref map = make_tensor_map();
    if (!map) return nullptr;
    const Status status = driver.encode_tensor_map(fields, bytes_of_map(map.get()));
    if (status) return map.release();
    const std::string text = "the driver makes no such tensor map: " + driver.explain(status) +
                             " (" + std::to_string(status.code) + " from " + status.function + ")";
    PyErr_SetString(PyExc_RuntimeError, text.c_str());
  } catch (...) {
    set_current_exception();
  }
  return nullptr;
}

int map_buffer(PyObject* self, Py_buffer* view, int flags) noexcept {
  return PyBuffer_FillInfo(view, self, bytes_of_map(self), kTensorMapBytes, 0, flags);
}

PyObject* map_address(PyObject* self, void* /*closure*/) noexcept {
  return PyLong_FromUnsignedLongLong(reinterpret_cast<std::uintptr_t>(bytes_of_map(self)));
}

PyObject* map_host_address(PyObject* self, PyObject* /*none*/) noexcept {
  return map_address(self, nullptr);
}

void delete_tensor_map(PyObject* self) noexcept {
  PyTypeObject* type = Py_TYPE(self);
  type->tp_free(self);
  Py_DECREF(type);
}

PyMethodDef map_methods[] = {
    {"encode", reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(encode_map)),
     METH_VARARGS | METH_KEYWORDS | METH_CLASS,
     "encode($type, *, data_type, address, dims, strides, box, element_strides=None, interleave=0, "
     "swizzle=0, l2_promotion=0, oob_fill=0, driver=None)\n--\n\n"
     "What cuTensorMapEncodeTiled makes of these, in its own order: the innermost dimension first, "
     "sizes in elements, strides in bytes and one less than dims. element_strides are ones where "
     "none are given. driver: a library's path or name.\n\n"
     "RuntimeError where the driver refuses."},
    {"tma_desc_cpu_ptr", map_host_address, METH_NOARGS,
     "tma_desc_cpu_ptr($self, /)\n--\n\nThe address, as Triton 3.2 to 3.4 asks for it."},
    {nullptr, nullptr, 0, nullptr},
};

PyGetSetDef map_properties[] = {
    {"address", map_address, nullptr,
     "Host address of the 128 bytes, a multiple of 128: where an encode call may write.", nullptr},
    {nullptr, nullptr, nullptr, nullptr, nullptr},
};

PyType_Slot map_slots[] = {
    {Py_tp_doc,
     const_cast<char*>(
         "TensorMap(source=None)\n--\n\nA CUDA tensor map: 128 bytes at a 128-byte-aligned "
         "address, zero or a copy of `source`. A writable buffer.")},
    {Py_tp_new, reinterpret_cast<void*>(new_tensor_map)},
    {Py_tp_dealloc, reinterpret_cast<void*>(delete_tensor_map)},
    {Py_tp_methods, map_methods},
    {Py_tp_getset, map_properties},
    {Py_bf_getbuffer, reinterpret_cast<void*>(map_buffer)},
    {0, nullptr},
};

PyType_Spec map_spec = {"relaunch.TensorMap", sizeof(TensorMapObject), 0, Py_TPFLAGS_DEFAULT,
                        map_slots};

}  // namespace

std::byte* bytes_of_map(PyObject* map) noexcept {
  // The allocator aligns objects to 16 bytes, so the map floats in its room.
  const auto room = reinterpret_cast<std::uintptr_t>(reinterpret_cast<TensorMapObject*>(map)->room);
  return reinterpret_cast<std::byte*>((room + kTensorMapAlignment - 1) &
                                      ~(kTensorMapAlignment - 1));
}

Ref make_tensor_map() noexcept {
  Ref map(tensor_map_type->tp_alloc(tensor_map_type, 0));
  if (map) std::memset(bytes_of_map(map.get()), 0, kTensorMapBytes);
  return map;
}

bool add_tensor_map(PyObject* module) noexcept {
  PyObject* type = PyType_FromSpec(&map_spec);
  if (type == nullptr) return false;
  tensor_map_type = reinterpret_cast<PyTypeObject*>(type);
  return PyModule_AddObjectRef(module, "TensorMap", type) == 0;
}

}  // namespace relaunch
