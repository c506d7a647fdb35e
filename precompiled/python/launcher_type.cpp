// relaunch.Launcher: how one is built, and its type. An object is complete or does not exist.

#include <pybind11/pybind11.h>
#include <structmember.h>

#include <memory>

#include "precompiled/core/tree.hpp"
#include "precompiled/python/bindings.hpp"
#include "precompiled/python/convert.hpp"
#include "precompiled/python/describe.hpp"
#include "precompiled/python/descriptor.hpp"
#include "precompiled/python/expand_objects.hpp"
#include "precompiled/python/hook_chain.hpp"
#include "precompiled/python/kernel_check.hpp"
#include "precompiled/python/launch_entry.hpp"
#include "precompiled/python/launcher.hpp"
#include "precompiled/python/options.hpp"
#include "precompiled/python/pointer.hpp"
#include "precompiled/python/tensor_map.hpp"

namespace relaunch {

namespace {

/// Refuses scratch that the dialect has no parameter for.
void check_scratch(const Dialect& dialect, HiddenKind kind, std::string_view name,
                   PyObject* given) {
  if (given == Py_None) return;
  for (const HiddenParameter& hidden : dialect.hidden.parameters) {
    if (hidden.kind == kind) return;
  }
  throw BindError(scratch_refusal(dialect, name));
}

/// Objects for the hidden parameters, and which of them are called at each launch.
void set_scratch(Launcher& launcher, const ConstructorArguments& arguments) {
  const Dialect& dialect = *launcher.dialect;
  check_scratch(dialect, HiddenKind::global_scratch, "global_scratch", arguments.global_scratch);
  check_scratch(dialect, HiddenKind::profile_scratch, "profile_scratch", arguments.profile_scratch);
  const auto hidden = dialect.hidden.parameters;
  for (std::size_t i = 0; i < kMaxHidden; ++i) {
    PyObject* scratch = Py_None;
    if (i < hidden.size() && hidden[i].kind == HiddenKind::global_scratch) {
      scratch = arguments.global_scratch;
    }
    if (i < hidden.size() && hidden[i].kind == HiddenKind::profile_scratch) {
      scratch = arguments.profile_scratch;
    }
    launcher.scratch[i] = Ref::borrow(scratch);
    if (scratch == Py_None || PyLong_Check(scratch) || PyCallable_Check(scratch) == 0) continue;
    launcher.scratch_is_called[i] = PyObject_HasAttrString(scratch, "data_ptr") == 0;
  }
}

/// Sets the options; gives the geometry.
Geometry set_launch_options(Launcher& launcher, const ConstructorArguments& arguments) {
  LaunchOptions& options = launcher.options;
  const Dialect& dialect = *launcher.dialect;
  options.cooperative = arguments.cooperative != 0;
  options.pdl = arguments.pdl != 0;
  const std::int32_t lanes =
      int_option(arguments.warp_size, "warp_size", static_cast<std::int32_t>(dialect.warp_size));
  if (lanes < 1) {
    throw BindError("warp_size: expected at least 1 lane, got " + std::to_string(lanes));
  }
  options.warp_size = static_cast<std::uint32_t>(lanes);
  options.cluster = dims_option(arguments.cluster, "cluster");
  options.preferred_cluster = dims_option(arguments.preferred_cluster, "preferred_cluster");
  options.scheduling = scheduling_option(arguments.scheduling);
  options.non_portable_cluster = arguments.non_portable_cluster != 0;
  const Geometry geometry = {.num_warps = int_option(arguments.num_warps, "num_warps", 4),
                             .num_ctas = int_option(arguments.num_ctas, "num_ctas", 1),
                             .shared = int_option(arguments.shared, "shared", 0)};
  check_options(dialect, options, geometry);
  return make_geometry(dialect, options, geometry);
}

/// A function is told once, here, that it may have more shared memory than all functions may.
void allow_shared(const Launcher& launcher) {
  const auto bytes = static_cast<std::uint32_t>(launcher.configuration.geometry.shared);
  if (bytes == 0) return;
  const Status status = launcher.driver->allow_shared(launcher.function, bytes);
  if (status) return;
  throw BindError("shared=" + std::to_string(bytes) + " of " + launcher.name +
                  " is refused by the driver: " + launcher.driver->explain(status) + " (" +
                  std::to_string(status.code) + " from " + status.function + ")");
}

std::unique_ptr<Launcher> build(const ConstructorArguments& arguments) {
  auto launcher = std::make_unique<Launcher>();
  launcher->dialect = &dialect_option(arguments.dialect);
  const Dialect& dialect = *launcher->dialect;
  launcher->tree = tree_option(arguments.tree);
  if (arguments.name == nullptr) {
    launcher->name = "kernel";
  } else {
    launcher->name = text_option(arguments.name, "name");
  }
  const Geometry geometry = set_launch_options(*launcher, arguments);
  set_scratch(*launcher, arguments);
  launcher->declared = pybind11::handle(launcher->tree.get()).cast<const Tree*>();
  launcher->metas = read_metas(arguments.tensordesc_meta, dialect);
  launcher->plan = make_plan(*launcher->declared, dialect,
                             {.strict = arguments.strict != 0,
                              .round_bf16 = arguments.round_bf16 != 0,
                              .descriptor_metas = given_metas(launcher->metas),
                              .global_scratch = arguments.global_scratch != Py_None,
                              .profile_scratch = arguments.profile_scratch != Py_None,
                              .constants = indices_option(arguments.constants, "constants")});
  check_metas(launcher->metas, launcher->plan);
  std::optional<std::string> path;
  if (arguments.driver != Py_None) path = path_option(arguments.driver);
  launcher->driver = &Driver::open(dialect, path);
  launcher->driver->check_parameter_bytes(launcher->plan.parameter_bytes,
                                          call_text(launcher->name, launcher->plan));
  launcher->configuration = configure(dialect, *launcher->driver, launcher->options, geometry);
  launcher->descriptor_type = Ref(reinterpret_cast<PyObject*>(find_descriptor_type(dialect)));
  if (PyErr_Occurred() != nullptr) throw PythonError();
  if (arguments.binary != Py_None) check_binary(*launcher, arguments.binary);
  const bool has_function = arguments.function != Py_None;
  if (has_function) {
    launcher->function = handle_option(arguments.function, "function");
    check_function(*launcher);
    allow_shared(*launcher);
  }
  choose_entries(*launcher, has_function);
  return launcher;
}

PyObject* launch_method(PyObject* self, PyObject* const* args, Py_ssize_t count) {
  return launcher_of(self).launch_entry(self, args, count);
}

int traverse(PyObject* self, visitproc visit, void* arg) {
  Py_VISIT(Py_TYPE(self));
  const Launcher* launcher = reinterpret_cast<LauncherObject*>(self)->launcher;
  if (launcher == nullptr) return 0;
  for (const Ref& scratch : launcher->scratch) Py_VISIT(scratch.get());
  Py_VISIT(launcher->descriptor_type.get());
  Py_VISIT(launcher->tree.get());
  return 0;
}

/// Breaks cycles, and leaves an object that a finalizer may still call: None is no scratch.
int clear(PyObject* self) {
  Launcher* launcher = reinterpret_cast<LauncherObject*>(self)->launcher;
  if (launcher == nullptr) return 0;
  for (Ref& scratch : launcher->scratch) scratch = Ref::borrow(Py_None);
  launcher->scratch_is_called = {};
  launcher->descriptor_type = Ref();
  return 0;
}

void deallocate(PyObject* self) {
  PyObject_GC_UnTrack(self);
  PyTypeObject* type = Py_TYPE(self);
  delete reinterpret_cast<LauncherObject*>(self)->launcher;
  type->tp_free(self);
  Py_DECREF(type);
}

PyObject* represent(PyObject* self) {
  const Launcher& launcher = launcher_of(self);
  const std::string call = call_text(launcher.name, launcher.plan);
  return PyUnicode_FromFormat("<Launcher %s for %s>", call.c_str(),
                              std::string(launcher.dialect->name).c_str());
}

PyObject* get_name(PyObject* self, void* /*closure*/) { return text_of(launcher_of(self).name); }

PyObject* get_dialect(PyObject* self, void* /*closure*/) {
  return text_of(std::string(launcher_of(self).dialect->name));
}

PyObject* get_signature(PyObject* self, void* /*closure*/) {
  return text_of(launcher_of(self).plan.signature);
}

PyObject* get_tree(PyObject* self, void* /*closure*/) {
  return Py_NewRef(launcher_of(self).tree.get());
}

PyObject* get_slots(PyObject* self, void* /*closure*/) { return slots_of(launcher_of(self).plan); }

PyObject* get_parameters(PyObject* self, void* /*closure*/) {
  return parameters_of(launcher_of(self).plan);
}

PyMethodDef methods[] = {
    {"launch", reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(launch_method)),
     METH_FASTCALL,
     "launch($self, grid_x, grid_y, grid_z, stream, function, kernel_metadata, launch_metadata, "
     "enter_hook, exit_hook, /, *args)\n--\n\n"
     "A launch as Triton's own launchers take it: `function` and `kernel_metadata` (num_warps, "
     "num_ctas, shared, and to 3.5 cluster_x, cluster_y, cluster_z) win over the constructor's."},
    {nullptr, nullptr, 0, nullptr},
};

PyGetSetDef properties[] = {
    {"name", get_name, nullptr, "The kernel's name, for messages.", nullptr},
    {"dialect", get_dialect, nullptr, "The dialect's name, without a patch number.", nullptr},
    {"signature", get_signature, nullptr, "The types, as messages show them.", nullptr},
    {"tree", get_tree, nullptr, "The tree it was built from.", nullptr},
    {"slots", get_slots, nullptr, "Host bytes of every kernel parameter, hidden ones last.",
     nullptr},
    {"parameters", get_parameters, nullptr,
     "One dict per kernel parameter, hidden ones last: name, type, hidden, and in bytes "
     "slot_offset "
     "and slot_size (host), size, alignment and offset (kernel).",
     nullptr},
    {nullptr, nullptr, nullptr, nullptr, nullptr},
};

PyMemberDef members[] = {
    {"__vectorcalloffset__", T_PYSSIZET, offsetof(LauncherObject, vectorcall), READONLY, nullptr},
    {nullptr, 0, 0, 0, nullptr},
};

PyType_Slot slots[] = {
    {Py_tp_doc, const_cast<char*>(kConstructorText)},
    {Py_tp_new, reinterpret_cast<void*>(new_launcher)},
    {Py_tp_dealloc, reinterpret_cast<void*>(deallocate)},
    {Py_tp_traverse, reinterpret_cast<void*>(traverse)},
    {Py_tp_clear, reinterpret_cast<void*>(clear)},
    {Py_tp_call, reinterpret_cast<void*>(PyVectorcall_Call)},
    {Py_tp_repr, reinterpret_cast<void*>(represent)},
    {Py_tp_methods, methods},
    {Py_tp_getset, properties},
    {Py_tp_members, members},
    {0, nullptr},
};

PyType_Spec spec = {
    "relaunch.Launcher", sizeof(LauncherObject), 0,
    Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_HAVE_VECTORCALL | Py_TPFLAGS_IMMUTABLETYPE,
    slots};

}  // namespace

PyObject* new_launcher(PyTypeObject* type, PyObject* args, PyObject* kwargs) noexcept {
  try {
    std::unique_ptr<Launcher> launcher = build(read_arguments(args, kwargs));
    PyObject* self = type->tp_alloc(type, 0);
    if (self == nullptr) return nullptr;
    auto* object = reinterpret_cast<LauncherObject*>(self);
    object->vectorcall = launcher->call_entry;
    object->launcher = launcher.release();
    return self;
  } catch (...) {
    set_current_exception();
    return nullptr;
  }
}

bool add_launcher(PyObject* module) noexcept {
  bind_error = PyErr_NewExceptionWithDoc(
      "relaunch.BindError", "A signature, option or driver library that cannot be bound.",
      PyExc_ValueError, nullptr);
  if (bind_error == nullptr || !prepare_conversions() || !prepare_pointers() ||
      !prepare_descriptors() || !prepare_objects()) {
    return false;
  }
  const Ref type(PyType_FromSpec(&spec));
  return type && PyModule_AddObjectRef(module, "BindError", bind_error) == 0 &&
         PyModule_AddObjectRef(module, "Launcher", type.get()) == 0;
}

void bind_launcher(pybind11::module_& module) {
  if (!add_launcher(module.ptr()) || !add_tensor_map(module.ptr()) ||
      !add_launch_entry(module.ptr()) || !add_hook_chain(module.ptr())) {
    throw pybind11::error_already_set();
  }
}

}  // namespace relaunch
