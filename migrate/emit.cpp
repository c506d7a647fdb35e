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

/// One edit that does what all of a remedy's do.
Edit merged(std::string_view text, const std::vector<Edit>& edits) {
  Edit out{{edits.front().span.begin, edits.back().span.end}, ""};
  std::size_t at = out.span.begin;
  for (const Edit& edit : edits) {
    out.text += text.substr(at, edit.span.begin - at);
    out.text += edit.text;
    at = edit.span.end;
  }
  return out;
}

void append_span(std::string& out, Span span) {
  out += "[" + std::to_string(span.begin) + ", " + std::to_string(span.end) + "]";
}

void append_remedy(std::string& out, std::string_view text, const Remedy& remedy) {
  if (remedy.edits.empty()) {
    out += R"(, "not_fixed": )";
    return append_json_string(out, remedy.reason);
  }
  const Edit edit = merged(text, remedy.edits);
  out += R"(, "fix": {"span": )";
  append_span(out, edit.span);
  out += R"(, "text": )";
  append_json_string(out, edit.text);
  out += '}';
}

/// `remedies`: of each diagnostic; null where none are told.
void append_diagnostics(std::string& out, const Parsed& parsed,
                        const std::vector<Remedy>* remedies) {
  out += R"("diagnostics": [)";
  for (std::size_t i = 0; i < parsed.diagnostics.size(); ++i) {
    const Diagnostic& diagnostic = parsed.diagnostics[i];
    if (i > 0) out += ", ";
    out += R"({"code": )";
    append_json_string(out, diagnostic.code);
    out += R"(, "severity": )";
    out += diagnostic.severity == Severity::error ? R"("error")" : R"("warning")";
    out += R"(, "message": )";
    append_json_string(out, diagnostic.message);
    out += R"(, "span": )";
    append_span(out, diagnostic.span);
    if (remedies != nullptr) append_remedy(out, parsed.tree.text, (*remedies)[i]);
    out += '}';
  }
  out += ']';
}

/// Text, parameters, constants and diagnostics.
void append_parsed(std::string& out, const Parsed& parsed, const std::vector<Remedy>* remedies) {
  out += R"("text": )";
  append_json_string(out, parsed.tree.text);
  out += R"(, "parameters": )";
  append_nodes(out, parsed.tree.parameters);
  out += R"(, "constants": {)";
  for (std::size_t i = 0; i < parsed.constants.size(); ++i) {
    if (i > 0) out += ", ";
    append_json_string(out, parsed.constants[i].name);
    out += ": " + parsed.constants[i].value;
  }
  out += "}, ";
  append_diagnostics(out, parsed, remedies);
}

void append_signature(std::string& out, const Signature& signature,
                      const std::vector<Remedy>* remedies) {
  out += R"({"source": )";
  append_json_string(out, signature.source());
  out += R"(, "form": )";
  append_json_string(out, form_name(signature.parsed.form));
  out += ", ";
  append_parsed(out, signature.parsed, remedies);
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
  std::string out;
  append_signature(out, signature, nullptr);
  return out + "}";
}

std::string to_json(const Pair& pair) {
  std::string out;
  append_signature(out, pair.before, &pair.promised.remedies);
  if (pair.promised.findings > 0) {
    out += R"(, "fixed": {)";
    append_parsed(out, pair.after.parsed, &pair.rest.remedies);
    out += '}';
  }
  return out + "}";
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
