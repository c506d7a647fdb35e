// relaunch.Plan: where a dialect puts every parameter of a signature. No driver is opened.

#include <pybind11/pybind11.h>

#include <string>
#include <utility>

#include "precompiled/core/plan.hpp"
#include "precompiled/core/tree.hpp"
#include "precompiled/python/bindings.hpp"
#include "precompiled/python/describe.hpp"
#include "precompiled/python/descriptor_meta.hpp"
#include "precompiled/python/guards.hpp"
#include "precompiled/python/options.hpp"

namespace py = pybind11;

namespace relaunch {
namespace {

struct BoundPlan {
  const Dialect* dialect;
  py::object tree;
  Plan plan;
};

BoundPlan make_bound(const py::object& tree, const py::object& dialect, const py::object& constants,
                     const py::object& tensordesc_meta) {
  try {
    const Dialect& known = dialect_option(dialect.ptr());
    py::object own = py::reinterpret_steal<py::object>(tree_option(tree.ptr()).release());
    Plan plan =
        make_plan(*own.cast<const Tree*>(), known,
                  {.descriptor_metas = given_metas(read_metas(tensordesc_meta.ptr(), known)),
                   .constants = indices_option(constants.ptr(), "constants")});
    return {&known, std::move(own), std::move(plan)};
  } catch (...) {
    set_current_exception();
    throw py::error_already_set();
  }
}

/// Takes a new reference; null has an exception set.
py::object owned(PyObject* object) {
  if (object == nullptr) throw py::error_already_set();
  return py::reinterpret_steal<py::object>(object);
}

py::tuple dialect_names() {
  const auto dialects = all_dialects();
  py::tuple names(dialects.size());
  for (std::size_t i = 0; i < dialects.size(); ++i) names[i] = py::str(dialects[i].name);
  return names;
}

}  // namespace

void bind_plan(py::module_& module) {
  module.attr("DIALECTS") = dialect_names();
  py::class_<BoundPlan> bound(module, "Plan", py::is_final());
  bound
      .def(py::init(&make_bound), py::arg("tree"), py::kw_only(), py::arg("dialect"),
           py::arg("constants") = py::none(), py::arg("tensordesc_meta") = py::none())
      .def_property_readonly("dialect",
                             [](const BoundPlan& self) { return py::str(self.dialect->name); })
      .def_property_readonly("tree", [](const BoundPlan& self) { return self.tree; })
      .def_property_readonly(
          "signature", [](const BoundPlan& self) { return owned(text_of(self.plan.signature)); })
      .def_property_readonly("arguments", [](const BoundPlan& self) { return self.plan.arguments; })
      .def_property_readonly("parameters",
                             [](const BoundPlan& self) { return owned(parameters_of(self.plan)); })
      .def_property_readonly("slots",
                             [](const BoundPlan& self) { return owned(slots_of(self.plan)); })
      .def_property_readonly("parameter_bytes",
                             [](const BoundPlan& self) { return self.plan.parameter_bytes; })
      .def_property_readonly("hidden_version",
                             [](const BoundPlan& self) { return self.dialect->hidden.version; })
      .def("__repr__", [](const BoundPlan& self) {
        return "<Plan (" + self.plan.signature + ") for " + std::string(self.dialect->name) + ">";
      });
  refuse_unfinished(bound);
}

}  // namespace relaunch
