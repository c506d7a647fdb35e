#pragma once
// What `migrate --fix` does about one finding: a rewrite that is safe, or why there is none.
//
// Safe means: what a warning is about is written another way and gives the same tree; what an
// error is about has one meaning only, which Remedy::probe lets the caller check.

#include <string>
#include <string_view>
#include <vector>

#include "migrate/diagnostic.hpp"
#include "migrate/parse.hpp"

namespace relaunch::migrate {

/// Bytes to be replaced; no newline is among them.
struct Edit {
  Span span;
  std::string text;
};

struct Remedy {
  std::vector<Edit> edits = {};  // of tree.text, in order; empty where there is none
  std::string_view reason = {};  // why, where there is none

  /// For an error: another way to make the text readable, whose tree tells what the edits must
  /// give. A type that is replaced is `i32` in it.
  std::vector<Edit> probe = {};
  bool probe_adds = false;       // it has one more parameter at its end
  bool probe_is_python = false;  // it is read as Python, which allows what JSON does not
};

/// What to do about one of the findings of a signature. `continues`: the next line of the file may
/// be meant to go on with it.
Remedy remedy_of(const Parsed& parsed, const Diagnostic& finding, bool continues);

}  // namespace relaunch::migrate
