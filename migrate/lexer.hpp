#pragma once
// First stage: a text to tokens. One lexer serves comma text, Python literals and JSON, for their
// words, strings and brackets look alike; what may follow what is the parsers' business.

#include <cstdint>
#include <string_view>
#include <vector>

#include "migrate/diagnostic.hpp"

namespace relaunch::migrate {

struct Token {
  enum class Kind : std::uint8_t {
    word,     // type, name, number: everything up to a blank, mark, quote or comment
    string,   // a quoted string with its prefix and quotes
    mark,     // one of ( ) [ ] { } , : =
    invalid,  // what no text may hold; explain() says why
    end,
  };
  Kind kind = Kind::end;
  char mark = '\0';  // the mark itself; of an invalid token what is wrong: see explain()
  Span span;

  bool is(char expected) const { return kind == Kind::mark && mark == expected; }
};

/// `tensordesc<...>` is one word in texts of types; in code a '<' compares, and is a letter.
enum class Angles : std::uint8_t { join, plain };

/// The tokens of `text`, an `end` token last. Blanks, newlines, `#` comments and a leading byte
/// order mark are skipped. `tensordesc<...>`, and any other word with balanced `<>` on one line, is
/// one word whatever the brackets hold. Linear in the text; never fails.
std::vector<Token> lex(std::string_view text, Angles angles = Angles::join);

/// The error that an `invalid` token stands for.
Diagnostic explain(std::string_view text, const Token& token);

/// Control characters other than tab and newline, which no text of a signature holds.
bool is_control(char c);

/// The error that a control character at `at` is.
Diagnostic explain_control(std::string_view text, std::size_t at);

/// Whether an invalid token is a string without its closing quote.
bool is_unclosed_string(const Token& token);

/// Where the string that begins at `at` (its quote, after any prefix) ends: one past the closing
/// quote. `closed` is false where it has none; the end is then that of its line, or, for triple
/// quotes, of the text.
std::size_t string_end(std::string_view text, std::size_t at, bool& closed);

/// Whether the word before a quote is a string prefix (r, u, b, f and their pairs).
bool is_string_prefix(std::string_view word);

inline std::string_view slice(std::string_view text, Span span) {
  return text.substr(span.begin, span.end - span.begin);
}

}  // namespace relaunch::migrate
