#pragma once
// Signatures written out again: JSON lines, Python for Triton's variadic launchers, comma text.

#include <string>

#include "migrate/fix.hpp"
#include "migrate/source.hpp"

namespace relaunch::migrate {

/// One JSON object on one line, without the newline:
/// `{"source", "form", "text", "parameters", "constants", "diagnostics"}`.
std::string to_json(const Signature& signature);

/// The same of a signature before it was mended. Each finding has a `fix`, `{"span", "text"}`, or
/// says why `not_fixed`; where any was, `fixed` has text, parameters, constants and diagnostics
/// after it.
std::string to_json(const Pair& pair);

/// Assignments to `arg_annotations` (PyKernelArg calls with the keywords of Triton 3.7) and
/// `flat_signature` (what its build_signature_metadata takes: tuples flattened, constexpr dropped).
/// Ends in a newline. Only for a signature without errors.
std::string to_python(const Signature& signature);

/// The canonical line. Only for a signature without errors.
std::string to_csv(const Signature& signature);

}  // namespace relaunch::migrate
