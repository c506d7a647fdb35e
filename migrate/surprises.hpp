#pragma once
// Signatures that are read, and launch, and still do what their author may not expect.

#include <string_view>

#include "migrate/diagnostic.hpp"
#include "migrate/parse.hpp"
#include "precompiled/core/tree.hpp"

namespace relaunch::migrate {

/// A warning for each kind of surprise in the tree, at the first place of each: types that no
/// launcher passes by value, widths and ranges that differ between releases, descriptors in tuples,
/// types spelled as Triton does not. `form` says what the tree was read from.
void warn_of_surprises(const Tree& tree, Form form, Diagnostics& diagnostics);

/// Whether the text a node spans spells its type otherwise than Triton does: `float32`, `* half`.
bool is_alias(std::string_view text, const PyKernelArg& node);

}  // namespace relaunch::migrate
