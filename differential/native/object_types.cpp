#include "differential/native/object_types.hpp"

#include <structmember.h>

#include <cstring>

#include "differential/native/exchange_capsule.hpp"

namespace relaunch::differential {
namespace {

constexpr const char* kRaised = "raised by the argument";
constexpr const char* kIntake = R"({"intake": "data_ptr"})";

Answering* answering(PyObject* self) { return reinterpret_cast<Answering*>(self); }

PyObject* answer(PyObject* self) {
  PyObject* const given = answering(self)->answer;
  Py_INCREF(given);
  return given;
}
PyObject* fail(PyObject* self) {
  PyErr_SetString(answering(self)->answer, kRaised);
  return nullptr;
}
PyObject* method_answer(PyObject* self, PyObject* /*none*/) { return answer(self); }
PyObject* method_fail(PyObject* self, PyObject* /*none*/) { return fail(self); }
PyObject* method_data_ptr(PyObject* self, PyObject* /*none*/) {
  if (answering(self)->note != nullptr) answering(self)->note(kIntake);
  return answer(self);
}
PyObject* method_address(PyObject* self, PyObject* /*none*/) {
  return PyLong_FromVoidPtr(reinterpret_cast<Addressed*>(self)->address());
}

void free_answering(PyObject* self) {
  Py_XDECREF(answering(self)->answer);
  PyObject_Free(self);
}

void free_plain(PyObject* self) { PyObject_Free(self); }

PyObject* call_hook(PyObject* self, PyObject* args, PyObject* kwargs) {
  const auto* hook = reinterpret_cast<Hook*>(self);
  if (PyTuple_GET_SIZE(args) != 1 || (kwargs != nullptr && PyDict_Size(kwargs) != 0)) {
    PyErr_SetString(PyExc_TypeError, "a hook takes one argument");
    return nullptr;
  }
  if (hook->note != nullptr) hook->note(hook->event);
  if (hook->failure != nullptr) {
    PyErr_SetString(PyExc_RuntimeError, hook->failure);
    return nullptr;
  }
  Py_RETURN_NONE;
}

PyMemberDef members[] = {{"answer", T_OBJECT, offsetof(Answering, answer), READONLY, nullptr}, {}};
PyMethodDef data_ptr[] = {{"data_ptr", method_data_ptr, METH_NOARGS, nullptr}, {}};
PyMethodDef data_ptr_fails[] = {{"data_ptr", method_fail, METH_NOARGS, nullptr}, {}};
PyMethodDef descriptor[] = {{"tma_desc_cpu_ptr", method_answer, METH_NOARGS, nullptr}, {}};
PyMethodDef descriptor_fails[] = {{"tma_desc_cpu_ptr", method_fail, METH_NOARGS, nullptr}, {}};
PyMethodDef address[] = {{"tma_desc_cpu_ptr", method_address, METH_NOARGS, nullptr}, {}};

PyNumberMethods numbers(unaryfunc index, unaryfunc as_int, unaryfunc as_float) {
  PyNumberMethods made{};
  made.nb_index = index;
  made.nb_int = as_int;
  made.nb_float = as_float;
  return made;
}
PyNumberMethods index_answers = numbers(answer, nullptr, nullptr);
PyNumberMethods int_answers = numbers(nullptr, answer, nullptr);
PyNumberMethods float_answers = numbers(nullptr, nullptr, answer);
PyNumberMethods index_fails = numbers(fail, nullptr, nullptr);
PyNumberMethods float_fails = numbers(nullptr, nullptr, fail);

PyTypeObject named(const char* name, std::size_t size, destructor free) {
  const PyVarObject head[] = {PyVarObject_HEAD_INIT(nullptr, 0)};
  PyTypeObject type{};
  type.ob_base = head[0];
  type.tp_name = name;
  type.tp_basicsize = static_cast<Py_ssize_t>(size);
  type.tp_flags = Py_TPFLAGS_DEFAULT;
  type.tp_dealloc = free;
  return type;
}

PyTypeObject object(PyMethodDef* methods, PyNumberMethods* number) {
  PyTypeObject type = named("Object", sizeof(Answering), free_answering);
  type.tp_methods = methods;
  type.tp_as_number = number;
  type.tp_members = members;
  return type;
}

void make_ready(PyTypeObject& type) {
  if (PyType_Ready(&type) != 0) throw pybind11::error_already_set();
}

void add_table(PyTypeObject& type, const char* backend) {
  const pybind11::capsule table = exchange_capsule(backend);
  pybind11::dict names;  // what the class's own dictionary begins with
  names["__dlpack_c_exchange_api__"] = table;
  type.tp_dict = names.release().ptr();
  make_ready(type);
}

}  // namespace

std::byte* Addressed::address() {
  const auto start = reinterpret_cast<std::uintptr_t>(room);
  const std::uintptr_t aligned = (start + kAlignment - 1) / kAlignment * kAlignment;
  return room + (aligned - start) + offset;
}

ObjectTypes& object_types() {
  static ObjectTypes types = {
      object(data_ptr, nullptr),
      object(data_ptr_fails, nullptr),
      object(data_ptr, nullptr),
      object(data_ptr, nullptr),
      object(nullptr, &index_answers),
      object(nullptr, &int_answers),
      object(nullptr, &float_answers),
      object(nullptr, &index_fails),
      object(nullptr, &float_fails),
      object(descriptor, nullptr),
      object(descriptor_fails, nullptr),
      named("Object", sizeof(Addressed), free_plain),
      named("Hook", sizeof(Hook), free_plain),
  };
  static const bool ready = [] {
    types.addressed.tp_methods = address;
    types.hook.tp_call = call_hook;
    for (PyTypeObject* type :
         {&types.tensor, &types.raising, &types.index, &types.intlike, &types.floatlike,
          &types.index_raises, &types.float_raises, &types.descriptor, &types.descriptor_raises,
          &types.addressed, &types.hook}) {
      make_ready(*type);
    }
    add_table(types.exchange_cuda, "cuda");
    add_table(types.exchange_hip, "hip");
    return true;
  }();
  (void)ready;
  return types;
}

}  // namespace relaunch::differential
