// The readers of signatures as Python sees them: parse, read_signatures, Signature, SignatureError.

#include <pybind11/stl.h>

#include <algorithm>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "migrate/emit.hpp"
#include "migrate/parse.hpp"
#include "migrate/session.hpp"
#include "migrate/source.hpp"
#include "precompiled/core/tree.hpp"
#include "precompiled/python/bindings.hpp"

namespace py = pybind11;

namespace relaunch {
namespace {

using migrate::Diagnostic;
using migrate::Form;
using migrate::Parsed;
using migrate::Signature;

constexpr const char* kErrorText =
    "A signature that cannot be read. `code` is stable, `message` says what was expected, `span` "
    "are\n"
    "the bytes of `text` (encoded as UTF-8) that it is about; str() shows them with a caret.";

Form form_named(const std::string& name) {
  if (const auto form = migrate::find_form(name)) return *form;
  std::string known;
  for (const std::string_view form : migrate::form_names()) {
    known += (known.empty() ? "" : ", ") + std::string(form);
  }
  throw py::value_error("no reader for the form '" + name + "': the forms read are " + known);
}

/// A str as UTF-8. Half surrogates, which a str may hold, stay bytes that are not UTF-8.
std::string utf8_of(const py::str& text) {
  return py::bytes(text.attr("encode")("utf-8", "surrogatepass"));
}

[[noreturn]] void raise(const py::handle& error_type, const Parsed& parsed) {
  const Diagnostic& error = parsed.error();
  py::object instance = error_type(migrate::render("", parsed.tree.text, error));
  instance.attr("code") = error.code;
  instance.attr("message") = error.message;
  instance.attr("span") = std::pair(error.span.begin, error.span.end);
  instance.attr("text") = parsed.tree.text;
  PyErr_SetObject(error_type.ptr(), instance.ptr());
  throw py::error_already_set();
}

py::list diagnostics_of(const Signature& signature) {
  py::list out;
  for (std::size_t i = 0; i < signature.parsed.diagnostics.size(); ++i) {
    const Diagnostic& found = signature.parsed.diagnostics[i];
    const migrate::Place& place = signature.places[i];
    py::dict entry;
    entry["code"] = found.code;
    entry["severity"] = found.severity == migrate::Severity::error ? "error" : "warning";
    entry["message"] = found.message;
    entry["span"] = std::pair(found.span.begin, found.span.end);
    entry["line"] = place.line;
    entry["column"] = place.column;
    entry["caret"] = migrate::caret(signature.parsed.tree.text, found.span);
    out.append(entry);
  }
  return out;
}

/// A signature's text in another form, by one of the emitters.
template <std::string (*emit)(const Signature&)>
std::string written(const Signature& signature) {
  if (!signature.parsed.ok()) {
    throw py::value_error("this signature has errors: it has no tree to write");
  }
  return emit(signature);
}

void bind_signature(py::module_& module) {
  py::class_<Signature> bound(module, "Signature", py::is_final());
  bound.def_property_readonly("source", &Signature::source)
      .def_property_readonly("form",
                             [](const Signature& s) { return migrate::form_name(s.parsed.form); })
      .def_property_readonly("text", [](const Signature& s) { return s.parsed.tree.text; })
      .def_property_readonly("ok", [](const Signature& s) { return s.parsed.ok(); })
      .def_property_readonly("tree", [](const Signature& s) { return s.parsed.tree; })
      .def_property_readonly("diagnostics", &diagnostics_of)
      .def("to_json", [](const Signature& s) { return migrate::to_json(s); })
      .def("to_python", &written<migrate::to_python>)
      .def("to_csv", &written<migrate::to_csv>);
  refuse_unfinished(bound);
}

/// Hands text to a stream of Python's, or bytes to what lies under it.
migrate::Streams streams_of(const py::object& out, const py::object& error) {
  const auto text = [](const py::object& stream) {
    return [stream](std::string_view piece) {
      stream.attr("write")(py::str(piece.data(), piece.size()));
    };
  };
  const auto raw = [](const py::object& stream) {
    return [stream](std::string_view piece) {
      stream.attr("flush")();  // what was written as text comes first
      stream.attr("buffer").attr("write")(py::bytes(piece.data(), piece.size()));
    };
  };
  const auto flush = [out, error] {
    try {
      out.attr("flush")();
      error.attr("flush")();
      return true;
    } catch (const py::error_already_set& failure) {
      if (!failure.matches(PyExc_OSError)) throw;
      return false;
    }
  };
  return {text(out), text(error), raw(out), raw(error), flush};
}

migrate::Fixing fixing_named(const std::string& name) {
  if (name.empty()) return migrate::Fixing::none;
  if (name == "show") return migrate::Fixing::show;
  if (name == "apply") return migrate::Fixing::apply;
  throw py::value_error("fixing is '', 'show' or 'apply', got '" + name + "'");
}

/// Bytes of a file by its `read`.
migrate::ReadBytes bytes_of(const py::function& read) {
  return [read](char* into, std::size_t most) {
    constexpr std::size_t kMost = std::size_t{1} << 20U;  // held twice
    most = std::min(most, kMost);
    const auto piece = py::bytes(read(most));
    const std::string_view bytes = piece;
    if (bytes.size() > most) throw py::value_error("read() gives more bytes than it was asked for");
    std::copy(bytes.begin(), bytes.end(), into);
    return bytes.size();
  };
}

void bind_session(py::module_& module) {
  using migrate::Session;
  py::list emitted;
  for (const std::string_view name : migrate::emitted_names()) emitted.append(py::str(name));
  module.attr("EMITTED") = py::tuple(emitted);
  py::class_<Session> bound(module, "MigrateSession", py::is_final());
  refuse_unfinished(bound);
  bound
      .def(py::init([](const std::string& form, std::string emit, const py::object& out,
                       const py::object& error, const std::string& fixing) {
             return Session(form_named(form), std::move(emit), streams_of(out, error),
                            fixing_named(fixing));
           }),
           py::arg("form"), py::arg("emit"), py::arg("out"), py::arg("error"),
           py::arg("fixing") = "")
      .def(
          "read",
          [](Session& session, const py::function& read, const std::string& path) {
            session.read(bytes_of(read), path);
          },
          py::arg("read"), py::arg("path"))
      .def(
          "fix_file",
          [](Session& session, const py::bytes& name) {
            session.fix_file(std::string(std::string_view(name)));
          },
          py::arg("name"))
      .def(
          "fix_input",
          [](Session& session, const py::bytes& content) {
            session.fix_input(std::string_view(content));
          },
          py::arg("content"))
      .def("unreadable", &Session::unreadable, py::arg("path"), py::arg("reason"))
      .def("finish", &Session::finish);
}

}  // namespace

void bind_migrate(py::module_& module) {
  const auto error = py::reinterpret_steal<py::object>(
      PyErr_NewExceptionWithDoc("relaunch.SignatureError", kErrorText, PyExc_ValueError, nullptr));
  module.attr("SignatureError") = error;
  // The module keeps the type alive for as long as parse can be called.
  const py::handle error_type = error;
  py::list forms;
  for (const std::string_view name : migrate::form_names()) forms.append(py::str(name));
  module.attr("FORMS") = py::tuple(forms);
  bind_signature(module);
  bind_session(module);
  module.def(
      "parse",
      [error_type](const py::str& text, const std::string& form) {
        Parsed parsed = migrate::parse(utf8_of(text), form_named(form));
        if (!parsed.ok()) raise(error_type, parsed);
        return std::move(parsed.tree);
      },
      py::arg("text"), py::arg("form") = "auto");
  module.def(
      "render_finding",
      [](const py::str& text, std::string code, std::string message,
         std::pair<std::size_t, std::size_t> span) {
        return migrate::render("", utf8_of(text),
                               {std::move(code),
                                migrate::Severity::error,
                                std::move(message),
                                {span.first, span.second}});
      },
      py::arg("text"), py::arg("code"), py::arg("message"), py::arg("span"));
  module.def(
      "read_signatures",
      [](const py::bytes& content, std::string path, const std::string& form) {
        return migrate::read_signatures(std::string_view(content), std::move(path),
                                        form_named(form));
      },
      py::arg("content"), py::arg("path"), py::arg("form") = "auto");
}

}  // namespace relaunch
