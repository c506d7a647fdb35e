// PyKernelArg and Tree as Python sees them. Both are immutable; equality is that of the canonical
// line (kinds, types, nesting, names, hints and values), so spans and source text do not count.

#include <pybind11/stl.h>

#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "precompiled/core/tree.hpp"
#include "precompiled/core/types.hpp"
#include "precompiled/python/bindings.hpp"

namespace py = pybind11;

namespace relaunch {
namespace {

using SpanPair = std::optional<std::pair<std::size_t, std::size_t>>;
using Text = std::optional<std::string>;

/// JSON text to a Python value; `{"float": "nan"}` and its like become floats.
py::object value_from_json(const std::string& text) {
  if (text.empty()) return py::none();
  auto floats = py::cpp_function([](const py::dict& object) -> py::object {
    if (object.size() == 1 && object.contains("float")) return py::float_(object["float"]);
    return object;
  });
  return py::module_::import("json").attr("loads")(text, py::arg("object_hook") = floats);
}

/// nan and inf have no JSON spelling: they travel as `{"float": "nan"}`, `"inf"`, `"-inf"`.
py::object json_ready(const py::object& value) {
  if (py::isinstance<py::float_>(value)) {
    const std::string text = py::str(value);
    if (text == "nan" || text.ends_with("inf")) return py::dict(py::arg("float") = text);
  }
  if (py::isinstance<py::tuple>(value) || py::isinstance<py::list>(value)) {
    py::list out;
    for (const py::handle item : value)
      out.append(json_ready(py::reinterpret_borrow<py::object>(item)));
    return out;
  }
  return value;
}

std::string value_to_json(const py::object& value) {
  if (value.is_none()) return {};
  return py::str(py::module_::import("json").attr("dumps")(json_ready(value)));
}

std::size_t depth(const std::vector<PyKernelArg>& nodes) {
  std::size_t deepest = 0;
  for (const PyKernelArg& node : nodes) {
    if (node.type == ArgKind::ARG_TUPLE) {
      deepest = std::max(deepest, depth(node.nested_tuple) + 1);
    }
  }
  return deepest;
}

/// The nodes of an iterable. Every walk over a tree relies on the depth being bounded here.
std::vector<PyKernelArg> nodes_of(const py::object& iterable) {
  std::vector<PyKernelArg> nodes;
  for (const py::handle item : iterable) {
    if (!py::isinstance<PyKernelArg>(item)) {
      throw py::type_error(std::string("expected PyKernelArg entries, got ") +
                           Py_TYPE(item.ptr())->tp_name);
    }
    nodes.push_back(item.cast<const PyKernelArg&>());
  }
  return nodes;
}

void check_depth(std::size_t found) {
  if (found > kMaxTupleDepth) {
    throw py::value_error("tuples nested deeper than " + std::to_string(kMaxTupleDepth));
  }
}

PyKernelArg make_node(const py::object& nested_tuple, int type, const Text& dtype, const Text& name,
                      const SpanPair& span, const py::object& value, const Text& hint) {
  if (type < 0 || type > 2) {
    throw py::value_error("type must be ARG_CONSTEXPR, ARG_KERNEL or ARG_TUPLE, got " +
                          std::to_string(type));
  }
  PyKernelArg node;
  node.type = static_cast<ArgKind>(type);
  const bool is_tuple = node.type == ArgKind::ARG_TUPLE;
  if (is_tuple == nested_tuple.is_none()) {
    throw py::value_error("nested_tuple belongs to ARG_TUPLE and to nothing else");
  }
  if (dtype && node.type != ArgKind::ARG_KERNEL) {
    throw py::value_error("dtype belongs to ARG_KERNEL and to nothing else");
  }
  if (is_tuple) {
    node.nested_tuple = nodes_of(nested_tuple);
    check_depth(depth(node.nested_tuple) + 1);
  }
  // An unknown word is kept: whether it can be a parameter is the question of whoever binds it.
  if (dtype) node.dtype = canonical_type(*dtype).value_or(*dtype);
  node.name = name.value_or("");
  node.hint = hint.value_or("");
  node.value = value_to_json(value);
  if (span) node.span = {span->first, span->second};
  return node;
}

Tree make_tree(const py::object& parameters, std::string text) {
  Tree tree{std::move(text), nodes_of(parameters)};
  check_depth(depth(tree.parameters));
  return tree;
}

py::object text_or_none(const std::string& text) {
  return text.empty() ? py::object(py::none()) : py::object(py::str(text));
}

py::tuple as_tuple(const std::vector<PyKernelArg>& nodes) {
  py::tuple out(nodes.size());
  for (std::size_t i = 0; i < nodes.size(); ++i) out[i] = py::cast(nodes[i]);
  return out;
}

std::string repr(const PyKernelArg& node) { return "<PyKernelArg " + dump(node) + ">"; }

PyKernelArg item(const Tree& tree, py::ssize_t index) {
  const auto size = static_cast<py::ssize_t>(tree.parameters.size());
  if (index < 0) index += size;
  if (index < 0 || index >= size) throw py::index_error("tree index out of range");
  return tree.parameters[static_cast<std::size_t>(index)];
}

void bind_node(py::module_& module) {
  py::class_<PyKernelArg> bound(module, "PyKernelArg", py::is_final());
  bound
      .def(py::init(&make_node), py::arg("nested_tuple") = py::none(),
           py::arg("type") = static_cast<int>(ArgKind::ARG_KERNEL), py::arg("dtype") = py::none(),
           py::arg("name") = py::none(), py::arg("span") = py::none(),
           py::arg("value") = py::none(), py::arg("hint") = py::none())
      .def_property_readonly("type",
                             [](const PyKernelArg& node) { return static_cast<int>(node.type); })
      .def_property_readonly("nested_tuple",
                             [](const PyKernelArg& node) -> py::object {
                               if (node.type != ArgKind::ARG_TUPLE) return py::none();
                               return as_tuple(node.nested_tuple);
                             })
      .def_property_readonly("dtype",
                             [](const PyKernelArg& node) { return text_or_none(node.dtype); })
      .def_property_readonly("name",
                             [](const PyKernelArg& node) { return text_or_none(node.name); })
      .def_property_readonly("span",
                             [](const PyKernelArg& node) -> SpanPair {
                               if (node.span.end == 0) return std::nullopt;
                               return std::pair(node.span.begin, node.span.end);
                             })
      .def_property_readonly("value",
                             [](const PyKernelArg& node) { return value_from_json(node.value); })
      .def_property_readonly("hint",
                             [](const PyKernelArg& node) { return text_or_none(node.hint); })
      .def("dump", [](const PyKernelArg& node) { return dump(node); })
      .def("__repr__", &repr)
      .def("__hash__", [](const PyKernelArg& node) { return py::hash(py::str(dump(node))); })
      .def(
          "__eq__",
          [](const PyKernelArg& left, const PyKernelArg& right) {
            return dump(left) == dump(right);
          },
          py::is_operator());
  refuse_unfinished(bound);
}

}  // namespace

void bind_tree(py::module_& module) {
  module.attr("ARG_CONSTEXPR") = static_cast<int>(ArgKind::ARG_CONSTEXPR);
  module.attr("ARG_KERNEL") = static_cast<int>(ArgKind::ARG_KERNEL);
  module.attr("ARG_TUPLE") = static_cast<int>(ArgKind::ARG_TUPLE);
  bind_node(module);
  py::class_<Tree> bound(module, "Tree", py::is_final());
  bound.def(py::init(&make_tree), py::arg("parameters"), py::arg("text") = "")
      .def_property_readonly("text", [](const Tree& tree) { return py::str(tree.text); })
      .def("dump", [](const Tree& tree) { return dump(tree); })
      .def("__len__", [](const Tree& tree) { return tree.parameters.size(); })
      .def("__getitem__", &item, py::arg("index"))
      .def("__iter__", [](const Tree& tree) { return py::iter(as_tuple(tree.parameters)); })
      .def("__repr__", [](const Tree& tree) { return "<Tree " + dump(tree) + ">"; })
      .def("__hash__", [](const Tree& tree) { return py::hash(py::str(dump(tree))); })
      .def(
          "__eq__", [](const Tree& left, const Tree& right) { return dump(left) == dump(right); },
          py::is_operator());
  refuse_unfinished(bound);
}

}  // namespace relaunch
