#pragma once
// What a name looks like, and what a template's leftovers look like.

#include <string_view>

namespace relaunch::migrate {

/// A Python identifier; `word` is valid UTF-8. Beyond ASCII everything that can be seen is taken
/// for a letter.
bool is_identifier(std::string_view word);

/// A parameter's name: an identifier, or what the compiler makes of one, `desc.shape.0_1`.
bool is_parameter_name(std::string_view word);

/// Identifiers joined by dots: the name of a class or a function.
bool is_dotted_name(std::string_view word);

/// `{BLOCK}`, `%BLOCK`, `$BLOCK`, `%s`: what a template's author meant to have replaced.
bool is_placeholder(std::string_view word);

}  // namespace relaunch::migrate
