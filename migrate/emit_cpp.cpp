#include "migrate/emit_cpp.hpp"

#include <string_view>
#include <vector>

namespace relaunch::migrate {
namespace {

/// A string literal of C++; bytes that are not printable ASCII in octal.
std::string quoted(std::string_view text) {
  std::string out = "\"";
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\' || c == '?') {
      out += '\\';
      out += c;
    } else if (byte < 0x20 || byte > 0x7E) {
      out += '\\';
      out += static_cast<char>('0' + (byte >> 6U));
      out += static_cast<char>('0' + (byte >> 3U & 7U));
      out += static_cast<char>('0' + (byte & 7U));
    } else {
      out += c;
    }
  }
  return out + "\"";
}

void append_parameters(std::string& out, const std::vector<PyKernelArg>& nodes,
                       std::size_t& count) {
  for (const PyKernelArg& node : nodes) {
    append_parameters(out, node.nested_tuple, count);
    if (node.type != ArgKind::ARG_KERNEL) continue;
    ++count;
    out += "    {" + quoted(node.name) + ", " + quoted(node.dtype) + ", " +
           (node.hint.empty() ? "0" : node.hint) + "},\n";
  }
}

/// The tree without values, which no launch needs and whose texts may be long.
std::vector<PyKernelArg> without_values(std::vector<PyKernelArg> nodes) {
  for (PyKernelArg& node : nodes) {
    node.value.clear();
    node.nested_tuple = without_values(std::move(node.nested_tuple));
  }
  return nodes;
}

}  // namespace

std::string cpp_begin() {
  return R"(// Signatures, written by `relaunch migrate --emit cpp`.
//
//   relaunch::launcher add(relaunch::signatures::signature_1.text, {.dialect = "triton-3.6-cuda"});
#pragma once

#include <cstddef>
#include <span>
#include <string_view>

namespace relaunch::signatures {

struct parameter {
  std::string_view name;  // empty where the source gives none
  std::string_view type;
  int hint;  // 16, 1, or 0 for none
};

struct signature {
  std::string_view source;  // path:line:column
  std::string_view text;    // for relaunch::launcher
  std::span<const parameter> parameters;  // in order, tuples flattened, constexpr dropped
};
)";
}

std::string to_cpp(const Signature& signature, std::size_t number) {
  const std::string name = "signature_" + std::to_string(number);
  std::string table;
  std::size_t count = 0;
  append_parameters(table, signature.parsed.tree.parameters, count);
  std::string out = "\n";
  if (count > 0) {
    out += "inline constexpr parameter " + name + "_parameters[] = {\n" + table + "};\n";
  }
  const Tree tree{{}, without_values(signature.parsed.tree.parameters)};
  out += "inline constexpr signature " + name + " = {\n    " + quoted(signature.source()) +
         ",\n    " + quoted(dump(tree)) + ",\n    " + (count > 0 ? name + "_parameters" : "{}") +
         "};\n";
  return out;
}

std::string cpp_end(std::size_t count) {
  std::string out;
  if (count > 0) {
    out += "\ninline constexpr signature all[] = {\n";
    for (std::size_t i = 1; i <= count; ++i) out += "    signature_" + std::to_string(i) + ",\n";
    out += "};\n";
  }
  return out + "\n}  // namespace relaunch::signatures\n";
}

}  // namespace relaunch::migrate
