#pragma once
// Signatures that are read, and launch, and still do what their author may not expect.

#include "migrate/diagnostic.hpp"
#include "precompiled/core/tree.hpp"

namespace relaunch::migrate {

/// A warning for each kind of surprise in the tree, at the first place of each: types that no
/// launcher passes by value, widths and ranges that differ between releases, descriptors in tuples.
void warn_of_surprises(const Tree& tree, Diagnostics& diagnostics);

}  // namespace relaunch::migrate
