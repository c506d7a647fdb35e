#pragma once
// The constants of a signature: `{"BLOCK": 128}`, `{6: 16}`, `{(4,): 256}`, `BLOCK=256`.

#include <string_view>
#include <vector>

#include "migrate/diagnostic.hpp"
#include "migrate/parse.hpp"
#include "migrate/signature_literal.hpp"

namespace relaunch::migrate {

/// Reads the constants in `text`. One that belongs to a parameter becomes its `value`; the others
/// are returned. Integer keys mean the integer keys of the signature where it has them, positions
/// otherwise; a path of integers leads into tuples. What is no literal (`{"dtype": dtype}`) is
/// passed over with a warning, and so is a text that is no constants at all: a signature is not
/// lost for its constants. Spans of the warnings: the parameter, or the end of `signature`.
std::vector<Constant> read_constants(std::string_view text, std::string_view signature,
                                     Entries& entries, Diagnostics& diagnostics);

}  // namespace relaunch::migrate
