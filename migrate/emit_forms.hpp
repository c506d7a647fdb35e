#pragma once
// Trees written back to the textual forms, so that reading what was written gives the same tree.
//
// A form that has no place for a part of a tree (a tuple in ahead-of-time text, a constexpr in IR)
// does not write it. Generated C is the generator's (`relaunch generate`).

#include <optional>
#include <string>
#include <vector>

#include "migrate/source.hpp"

namespace relaunch::migrate {

/// What a form makes of a tree: its text, or why there is none.
struct Written {
  std::optional<std::string> text;
  std::string reason;  // "a tuple", "a constexpr": what the form has no place for
};

/// The forms that can be written, in the order of the list of forms.
std::vector<Form> written_forms();

/// One signature in a form of written_forms(), on one line without its end.
Written write_as(const Signature& signature, Form form);

}  // namespace relaunch::migrate
