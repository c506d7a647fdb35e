// Parameter tables of compiled kernels as Python sees them: read_kernels, KernelParameters,
// verify_kernel, Verification, BinaryError.

#include <pybind11/pybind11.h>

#include <new>
#include <string>
#include <utility>
#include <vector>

#include "precompiled/binary/read.hpp"
#include "precompiled/binary/verify.hpp"
#include "precompiled/core/tree.hpp"
#include "precompiled/python/bindings.hpp"
#include "precompiled/python/buffer_view.hpp"
#include "precompiled/python/describe.hpp"
#include "precompiled/python/descriptor_meta.hpp"
#include "precompiled/python/options.hpp"

namespace py = pybind11;

namespace relaunch {

using binary::BinaryError;
using binary::KernelParameter;
using binary::KernelParameters;
using binary::PlannedParameter;
using binary::Verification;

namespace {

constexpr const char* kErrorText =
    "A binary whose kernels cannot be read. `fault` is a stable word, `offset` is in bytes, `line` "
    "from 1 in\n"
    "text and None elsewhere, `expected` and `found` are in words, `kernel` is None where it is "
    "not known.";

struct VerifiedKernel {
  Verification verification;
  const Dialect* dialect;
  std::string message;  // empty where it fits
};

/// Bytes of a binary need be no UTF-8: what is none is shown by a replacement character.
py::object text(const std::string& bytes) {
  PyObject* made = text_of(bytes);
  if (made == nullptr) throw py::error_already_set();
  return py::reinterpret_steal<py::object>(made);
}

py::object text_or_none(const std::string& bytes) {
  return bytes.empty() ? py::object(py::none()) : text(bytes);
}

py::dict describe_found(const KernelParameter& parameter) {
  py::dict out;
  out["name"] = text_or_none(parameter.name);
  out["kind"] = text_or_none(parameter.kind);
  out["offset"] = parameter.offset;
  out["size"] = parameter.size;
  out["alignment"] =
      parameter.alignment == 0 ? py::object(py::none()) : py::int_(parameter.alignment);
  out["hidden"] = parameter.hidden;
  return out;
}

py::dict describe_planned(const PlannedParameter& parameter) {
  py::dict out;
  out["name"] = text_or_none(parameter.name);
  out["type"] = text(parameter.type);
  out["offset"] = parameter.offset;
  out["size"] = parameter.size;
  out["hidden"] = parameter.hidden;
  return out;
}

template <typename Items, typename Describe>
py::tuple tuple_of(const Items& items, Describe describe) {
  py::tuple out(items.size());
  for (std::size_t i = 0; i < items.size(); ++i) out[i] = describe(items[i]);
  return out;
}

PyObject* binary_error = nullptr;  // the BinaryError class

[[noreturn]] void raise(const BinaryError& error) {
  const auto instance = py::handle(binary_error)(text(error.what()));
  instance.attr("fault") = py::str(fault_name(error.fault()));
  instance.attr("offset") = error.where().offset;
  instance.attr("line") =
      error.where().line == 0 ? py::object(py::none()) : py::int_(error.where().line);
  instance.attr("expected") = text(error.expected());
  instance.attr("found") = text(error.found());
  instance.attr("kernel") = text_or_none(error.kernel());
  PyErr_SetObject(binary_error, instance.ptr());
  throw py::error_already_set();
}

py::list read_kernels(const py::object& content) {
  const BufferView view(content);
  py::list out;
  try {
    for (KernelParameters& kernel : binary::read_kernels(view.bytes())) {
      out.append(py::cast(std::move(kernel)));
    }
  } catch (const BinaryError& error) {
    raise(error);
  }
  return out;
}

KernelParameters find_kernel(const py::list& kernels, const py::str& name) {
  std::vector<KernelParameters> given;
  for (const py::handle kernel : kernels) given.push_back(kernel.cast<const KernelParameters&>());
  try {
    return binary::find_kernel(given, std::string(name));
  } catch (const BinaryError& error) {
    raise(error);
  }
}

VerifiedKernel verify_kernel(const KernelParameters& kernel, const py::object& tree,
                             const py::object& dialect, const py::object& constants,
                             const py::object& tensordesc_meta) {
  try {
    const Dialect& known = dialect_option(dialect.ptr());
    const py::object own = py::reinterpret_steal<py::object>(tree_option(tree.ptr()).release());
    binary::VerifyOptions options;
    options.constants = indices_option(constants.ptr(), "constants");
    if (!tensordesc_meta.is_none()) {
      options.descriptors = given_metas(read_metas(tensordesc_meta.ptr(), known));
    }
    Verification found = binary::verify(*own.cast<const Tree*>(), known, kernel, options);
    std::string message = binary::describe(found, known, kernel);
    return {std::move(found), &known, std::move(message)};
  } catch (...) {
    set_current_exception();
    throw py::error_already_set();
  }
}

py::object difference_of(const VerifiedKernel& self) {
  if (self.verification.comparison.fits()) return py::none();
  return py::int_(self.verification.comparison.difference);
}

void bind_kernel(py::module_& module) {
  py::class_<KernelParameters> parameters(module, "KernelParameters", py::is_final());
  parameters
      .def_property_readonly("kernel",
                             [](const KernelParameters& self) { return text(self.kernel); })
      .def_property_readonly(
          "format", [](const KernelParameters& self) { return py::str(format_name(self.format)); })
      .def_property_readonly("bytes", [](const KernelParameters& self) { return self.bytes; })
      .def_property_readonly("base", [](const KernelParameters& self) { return self.base; })
      .def_property_readonly(
          "parameters",
          [](const KernelParameters& self) { return tuple_of(self.parameters, describe_found); })
      .def("__repr__", [](const KernelParameters& self) {
        return text("<KernelParameters of " + binary::quoted(self.kernel) + ": " +
                    std::to_string(self.parameters.size()) + " in " + std::to_string(self.bytes) +
                    " bytes>");
      });
  refuse_unfinished(parameters);
}

void bind_verification(py::module_& module) {
  py::class_<VerifiedKernel> verification(module, "Verification", py::is_final());
  verification
      .def_property_readonly("fits",
                             [](const VerifiedKernel& self) { return self.verification.fits(); })
      .def_property_readonly("dialect",
                             [](const VerifiedKernel& self) { return py::str(self.dialect->name); })
      .def_property_readonly(
          "call", [](const VerifiedKernel& self) { return text(self.verification.call); })
      .def_property_readonly("message",
                             [](const VerifiedKernel& self) { return text(self.message); })
      .def_property_readonly("difference", &difference_of)
      .def_property_readonly("layouts",
                             [](const VerifiedKernel& self) {
                               return text(describe_layouts(self.verification.comparison));
                             })
      .def_property_readonly("planned",
                             [](const VerifiedKernel& self) {
                               return tuple_of(self.verification.comparison.planned,
                                               describe_planned);
                             })
      .def_property_readonly("found",
                             [](const VerifiedKernel& self) {
                               return tuple_of(self.verification.comparison.found, describe_found);
                             })
      .def_property_readonly("descriptors_by_value", [](const VerifiedKernel& self) {
        return tuple_of(self.verification.descriptors, [](bool each) { return py::bool_(each); });
      });
  refuse_unfinished(verification);
}

}  // namespace

void bind_binary(py::module_& module) {
  const auto error = py::reinterpret_steal<py::object>(
      PyErr_NewExceptionWithDoc("relaunch.BinaryError", kErrorText, PyExc_ValueError, nullptr));
  if (!error) throw py::error_already_set();
  binary_error = error.ptr();  // the module keeps it
  module.attr("BinaryError") = error;
  bind_kernel(module);
  bind_verification(module);
  module.def("read_kernels", &read_kernels, py::arg("content"));
  module.def("find_kernel", &find_kernel, py::arg("kernels"), py::arg("name") = "");
  module.def("verify_kernel", &verify_kernel, py::arg("kernel"), py::arg("tree"), py::kw_only(),
             py::arg("dialect"), py::arg("constants") = py::none(),
             py::arg("tensordesc_meta") = py::none());
}

}  // namespace relaunch
