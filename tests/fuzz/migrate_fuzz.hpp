#pragma once
// What every fuzz target of readers does: read, and hold what came of it to its promises.

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "migrate/emit.hpp"
#include "migrate/emit_forms.hpp"
#include "migrate/session.hpp"
#include "migrate/source.hpp"

namespace relaunch::migrate {

inline void require(bool holds) {
  if (!holds) std::abort();
}

inline void check_spans(const std::vector<PyKernelArg>& nodes, std::size_t size) {
  for (const PyKernelArg& node : nodes) {
    require(node.span.begin <= node.span.end && node.span.end <= size);
    check_spans(node.nested_tuple, size);
  }
}

/// Spans lie in the text, and one of all that can be made of a signature is made.
inline void use(const Signature& one, std::size_t turn) {
  static const std::vector<Form> forms = written_forms();
  const Parsed& parsed = one.parsed;
  require(one.places.size() == parsed.diagnostics.size());
  check_spans(parsed.tree.parameters, parsed.tree.text.size());
  for (const Diagnostic& found : parsed.diagnostics) {
    require(found.span.begin <= found.span.end && found.span.end <= parsed.tree.text.size());
  }
  const std::size_t choice = turn % (forms.size() + 4);
  if (choice == 0) {
    findings(one);
  } else if (choice == 1) {
    require(to_json(one).find('\n') == std::string::npos);
  } else if (!parsed.ok()) {
    return;
  } else if (choice == 2) {
    to_python(one);
  } else if (choice == 3) {
    const std::string line = dump(parsed.tree);
    const Parsed back = parse(line, Form::tree);
    require(back.ok() && dump(back.tree) == line);
  } else {
    write_as(one, forms[choice - 4]);  // reads what it wrote
  }
}

/// One input, read as a file of the given form. What is made of its signatures begins with a choice
/// by its bytes, so an input that failed fails again: to make all of it each time would leave time
/// for a fraction of the inputs.
inline int fuzz(const std::uint8_t* data, std::size_t size, Form form) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  std::size_t turn = std::hash<std::string_view>()(text);
  SignatureReader reader(text, "f", form);
  while (const auto one = reader.next()) use(*one, turn++);
  return 0;
}

}  // namespace relaunch::migrate
