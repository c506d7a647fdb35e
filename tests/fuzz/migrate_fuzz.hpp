#pragma once
// What every fuzz target of readers does: read, and hold what came of it to its promises.

#include <cstddef>
#include <cstdint>
#include <cstdlib>
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

/// Spans lie in the text, the canonical line gives the same tree again, and so does every form that
/// has a place for it.
inline void use(const Signature& one) {
  const Parsed& parsed = one.parsed;
  require(one.places.size() == parsed.diagnostics.size());
  check_spans(parsed.tree.parameters, parsed.tree.text.size());
  for (const Diagnostic& found : parsed.diagnostics) {
    require(found.span.begin <= found.span.end && found.span.end <= parsed.tree.text.size());
  }
  findings(one);
  require(to_json(one).find('\n') == std::string::npos);
  if (!parsed.ok()) return;
  to_python(one);
  const std::string line = dump(parsed.tree);
  const Parsed again = parse(line, Form::tree);
  require(again.ok() && dump(again.tree) == line);
  for (const Form form : written_forms()) {
    const Written written = write_as(one, form);
    if (!written.text) continue;
    const Parsed back = parse(*written.text, form);
    require(back.ok() && dump(back.tree) == line);
  }
}

/// One input, read as a file of the given form.
inline int fuzz(const std::uint8_t* data, std::size_t size, Form form) {
  SignatureReader reader({reinterpret_cast<const char*>(data), size}, "f", form);
  while (const auto one = reader.next()) use(*one);
  return 0;
}

}  // namespace relaunch::migrate
