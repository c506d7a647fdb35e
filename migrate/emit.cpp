#include "migrate/emit.hpp"

#include <string_view>
#include <vector>

#include "migrate/number.hpp"

namespace relaunch::migrate {
namespace {

void append_node(std::string& out, const PyKernelArg& node);

void append_nodes(std::string& out, const std::vector<PyKernelArg>& nodes) {
  out += '[';
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    if (i > 0) out += ", ";
    append_node(out, nodes[i]);
  }
  out += ']';
}

void append_node(std::string& out, const PyKernelArg& node) {
  out += R"({"name": )";
  if (node.name.empty()) {
    out += "null";
  } else {
    append_json_string(out, node.name);
  }
  switch (node.type) {
    case ArgKind::ARG_CONSTEXPR: out += R"(, "kind": "ARG_CONSTEXPR")"; break;
    case ArgKind::ARG_KERNEL:
      out += R"(, "kind": "ARG_KERNEL", "type": )";
      append_json_string(out, node.dtype);
      break;
    case ArgKind::ARG_TUPLE:
      out += R"(, "kind": "ARG_TUPLE", "items": )";
      append_nodes(out, node.nested_tuple);
      break;
  }
  if (!node.value.empty()) out += R"(, "value": )" + node.value;
  if (!node.hint.empty()) {
    out += R"(, "hint": )";
    append_json_string(out, node.hint);
  }
  out += '}';
}

void append_diagnostic(std::string& out, const Diagnostic& diagnostic) {
  out += R"({"code": )";
  append_json_string(out, diagnostic.code);
  out += R"(, "severity": )";
  out += diagnostic.severity == Severity::error ? R"("error")" : R"("warning")";
  out += R"(, "message": )";
  append_json_string(out, diagnostic.message);
  out += R"(, "span": [)" + std::to_string(diagnostic.span.begin) + ", " +
         std::to_string(diagnostic.span.end) + "]}";
}

void append_call(std::string& out, const PyKernelArg& node) {
  out += "PyKernelArg(nested_tuple=";
  if (node.type == ArgKind::ARG_TUPLE) {
    out += '(';
    for (std::size_t i = 0; i < node.nested_tuple.size(); ++i) {
      if (i > 0) out += ' ';
      append_call(out, node.nested_tuple[i]);
      if (i + 1 < node.nested_tuple.size() || i == 0) out += ',';
    }
    out += ')';
  } else {
    out += "None";
  }
  constexpr std::string_view kKinds[] = {"ARG_CONSTEXPR", "ARG_KERNEL", "ARG_TUPLE"};
  out += ", type=";
  out += kKinds[static_cast<std::size_t>(node.type)];
  out += ')';
}

void append_types(std::string& out, const std::vector<PyKernelArg>& nodes, bool& first) {
  for (const PyKernelArg& node : nodes) {
    append_types(out, node.nested_tuple, first);
    if (node.type != ArgKind::ARG_KERNEL) continue;
    if (!first) out += ", ";
    first = false;
    append_json_string(out, node.dtype);
  }
}

}  // namespace

std::string to_json(const Signature& signature) {
  const Parsed& parsed = signature.parsed;
  std::string out = R"({"source": )";
  append_json_string(out, signature.source());
  out += R"(, "form": )";
  append_json_string(out, form_name(parsed.form));
  out += R"(, "text": )";
  append_json_string(out, parsed.tree.text);
  out += R"(, "parameters": )";
  append_nodes(out, parsed.tree.parameters);
  out += R"(, "constants": {)";
  for (std::size_t i = 0; i < parsed.constants.size(); ++i) {
    if (i > 0) out += ", ";
    append_json_string(out, parsed.constants[i].name);
    out += ": " + parsed.constants[i].value;
  }
  out += R"(}, "diagnostics": [)";
  for (std::size_t i = 0; i < parsed.diagnostics.size(); ++i) {
    if (i > 0) out += ", ";
    append_diagnostic(out, parsed.diagnostics[i]);
  }
  return out + "]}";
}

std::string to_python(const Signature& signature) {
  const std::vector<PyKernelArg>& parameters = signature.parsed.tree.parameters;
  std::string out = "# " + printable(signature.source()) + ": " + to_csv(signature);
  out += "\narg_annotations = [\n";
  for (const PyKernelArg& node : parameters) {
    out += "    ";
    append_call(out, node);
    out += ",\n";
  }
  out += "]\nflat_signature = [";
  bool first = true;
  std::string types;
  append_types(types, parameters, first);
  out += types + "]\n";
  if (types.find("\"tensordesc<") != std::string::npos ||
      types.find("\"tensordesc_") != std::string::npos) {
    out += "# Expand tensordesc entries first, as the driver's expand_signature() does.\n";
  }
  return out;
}

std::string to_csv(const Signature& signature) { return dump(signature.parsed.tree); }

}  // namespace relaunch::migrate
