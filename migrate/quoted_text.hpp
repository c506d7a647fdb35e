#pragma once
// The contents of string literals, with the way back: every byte of the contents knows the byte of
// the text it came from, so that an error inside a string is shown where it stands.

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "migrate/lexer.hpp"

namespace relaunch::migrate {

/// How literals are written: Python's, or JSON's stricter way.
enum class Flavour { python, json };

struct QuotedText {
  std::string bytes;

  /// The source span of a span of `bytes`.
  Span source_of(Span span) const;

  /// From byte `begin` of `bytes` on, bytes come one to one from `source` on.
  struct Run {
    std::size_t begin;
    std::size_t source;
  };
  std::vector<Run> runs;
};

/// Appends the contents of one string token to `out`. Throws Failure for a bad escape, a bytes
/// literal, an f-string with a placeholder, or what JSON does not allow.
void append_contents(std::string_view text, const Token& token, Flavour flavour, QuotedText& out);

}  // namespace relaunch::migrate
