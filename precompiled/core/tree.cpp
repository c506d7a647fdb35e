#include "precompiled/core/tree.hpp"

namespace relaunch {
namespace {

void append(std::string& out, const PyKernelArg& node);

void append_entries(std::string& out, const std::vector<PyKernelArg>& entries) {
  bool first = true;
  for (const PyKernelArg& entry : entries) {
    if (!first) out += ", ";
    first = false;
    append(out, entry);
  }
}

void append(std::string& out, const PyKernelArg& node) {
  if (!node.name.empty()) out += node.name + ": ";
  switch (node.type) {
    case ArgKind::ARG_CONSTEXPR: out += "constexpr"; break;
    case ArgKind::ARG_KERNEL: out += node.dtype; break;
    case ArgKind::ARG_TUPLE:
      out += '(';
      append_entries(out, node.nested_tuple);
      if (node.nested_tuple.size() == 1) out += ',';
      out += ')';
      break;
  }
  if (!node.hint.empty()) out += ":" + node.hint;
  if (!node.value.empty()) out += "=" + node.value;
}

}  // namespace

std::string dump(const PyKernelArg& node) {
  std::string out;
  append(out, node);
  return out;
}

std::string dump(const Tree& tree) {
  if (tree.parameters.empty()) return "{}";  // an empty line would be read as no signature at all
  std::string out;
  append_entries(out, tree.parameters);
  return out;
}

}  // namespace relaunch
