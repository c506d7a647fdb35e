#pragma once
// Second stage for comma text: tokens to the entries of a signature.
//
//   signature  = "{" "}" | entry { "," entry }
//   entry      = [ name ":" ] ( type [ ":" hint ] | tuple ) [ "=" value ] | constant
//   tuple      = "(" [ entry { "," entry } [ "," ] ] ")"
//   type       = a word of the type table, its stars first; blanks may follow a star
//   hint       = "1" | "16"
//   constant   = a number, nan, inf, True, False, None or nullopt by itself: a constexpr of that
//                value
//   value      = a Python literal or JSON
//
// This is what dump() writes, and the text of the ahead-of-time compiler without its templates.

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <unordered_set>
#include <vector>

#include "migrate/diagnostic.hpp"
#include "migrate/lexer.hpp"
#include "precompiled/core/tree.hpp"

namespace relaunch::migrate {

/// Entries of comma text. Spans: that of a type is its word, of a tuple its parentheses, of a
/// constant the constant. What can be read past (an unknown type, a bad hint or name) is reported
/// and read past; what cannot is thrown as Failure.
std::vector<PyKernelArg> read_entries(std::string_view text, const std::vector<Token>& tokens,
                                      Diagnostics& diagnostics);

/// Entries of the ahead-of-time compiler's text: no names, no tuples, a hint that is no number is
/// dropped with a warning, as the compiler drops it, and the hint 1 gives one too: the compiled
/// kernel does not take such a parameter.
std::vector<PyKernelArg> read_aot_entries(std::string_view text, const std::vector<Token>& tokens,
                                          Diagnostics& diagnostics);

/// Whether comma text is what the ahead-of-time compiler takes and no other form writes: a hint or
/// a constant stands in it, and no name, tuple or value.
bool looks_like_aot(std::string_view text, const std::vector<Token>& tokens);

/// The one type, with a hint or without, that a string inside a Python literal holds.
PyKernelArg read_type(std::string_view text, Diagnostics& diagnostics);

/// Sets the type of `node` from a word, or reports why it is none.
void set_type(PyKernelArg& node, std::string_view word, Span span, Diagnostics& diagnostics);

/// Sets the hint of `node`, or reports why it is none.
void set_hint(PyKernelArg& node, std::string_view hint, Span span, Diagnostics& diagnostics);

/// Reports names that are no identifiers, and names that stand twice among the entries of one
/// level. The texts of the names must live as long.
class NamesSeen {
 public:
  void add(std::string_view name, Span span, Diagnostics& diagnostics);

 private:
  bool is_new(std::string_view name);

  // Few names, as most signatures have, are compared one by one, and those alone that `marks_`
  // cannot tell from a name before.
  static constexpr std::size_t kFew = 24;
  std::array<std::string_view, kFew> few_;
  std::size_t count_ = 0;  // of few_
  std::uint64_t marks_ = 0;
  std::unordered_set<std::string_view> more_;
};

}  // namespace relaunch::migrate
