#pragma once
// Second stage for Python literals and JSON: tokens to a literal, every part with its span.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "migrate/lexer.hpp"
#include "migrate/quoted_text.hpp"

namespace relaunch::migrate {

struct Literal {
  enum class Kind : std::uint8_t {
    string,   // contents in `text`
    number,   // JSON text in `value`
    boolean,  // JSON text in `value`
    none,     // JSON text in `value`
    list,     // items
    tuple,    // items
    dict,     // keys and items, as many of each
    call,     // its name in `value`; names (empty: positional) and items, as many of each;
              // `dict(a=1)` and `OrderedDict(...)` with all of it written out are dicts
  };
  Kind kind = Kind::none;
  Span span;
  std::string value;
  QuotedText text;
  std::vector<Literal> items;
  std::vector<Literal> keys;
  std::vector<std::string> names;
};

/// The JSON text of a word that is a value by itself: a number, None, True, False, or JSON's
/// spelling of those. Empty for other words. Throws Failure as number_text() does.
std::optional<std::string> word_text(std::string_view word, Span span);

/// One value, the whole of `tokens` (which end in an `end` token). Adjacent strings are joined, and
/// `(x)` is x, as in Python; JSON is read strictly. Throws Failure, also where brackets nest more
/// than `deepest` deep (by default a sequence of parameters around the deepest tuple).
Literal read_literal(std::string_view text, const std::vector<Token>& tokens, Flavour flavour,
                     std::size_t deepest = kMaxTupleDepth + 1);

/// The Python value that begins at token `at`, which is moved past it. Throws Failure.
Literal read_value(std::string_view text, const std::vector<Token>& tokens, std::size_t& at);

/// A value as JSON text the way Python's json module writes it: `[1, 2]`, `"\u00e9"`, floats by
/// their shortest form, nan and inf as `{"float": "nan"}`. Tuples become lists; integer keys
/// strings. Empty where a part of it is no plain value (a call other than float("nan")).
std::optional<std::string> json_text(const Literal& literal);

}  // namespace relaunch::migrate
