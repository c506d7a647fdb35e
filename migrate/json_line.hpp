#pragma once
// Lines that carry a signature inside a JSON object: what `migrate --json` writes, and collections
// of signatures with their sources (`{"text": "*fp32, i32", "constants": "...", ...}`).

#include <optional>
#include <string>
#include <string_view>

#include "migrate/literal.hpp"
#include "migrate/parse.hpp"

namespace relaunch::migrate {

/// Deep enough for the deepest tree of `migrate --json`, two brackets a level.
inline constexpr std::size_t kDeepestLine = 2 * kMaxTupleDepth + 8;

/// A JSON object that could be one of the two, or nothing: told without reading other texts twice.
std::optional<Literal> read_json_line(std::string_view text, const std::vector<Token>& tokens);

/// Whether it is a line of `migrate --json`: an object with `text` and `parameters`.
bool is_tree_line(const Literal& object);

/// Fills tree, constants and diagnostics from a line of `migrate --json`; nodes span the whole
/// text. A line that reports errors has failed here too, with them. Throws Failure (RL021).
void read_tree_line(const Literal& object, Parsed& out);

/// A line of a collection: where its text and constants stand.
struct Row {
  const Literal* text;
  const Literal* constants;  // null where it has none
};

/// An object with a string `text` that is no dict of types by itself: `text` is its only key, or a
/// known key of collections (`constants`, `source`, `form`, ...) holds what is no type.
std::optional<Row> find_row(const Literal& object);

}  // namespace relaunch::migrate
