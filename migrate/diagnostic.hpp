#pragma once
// What a reader has to say about a text: codes, places, and the caret under the text.

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "precompiled/core/tree.hpp"

namespace relaunch::migrate {

#define RELAUNCH_CODE(name, code) inline constexpr std::string_view name = code;
#include "migrate/codes.def"
#undef RELAUNCH_CODE

enum class Severity { error, warning };

struct Diagnostic {
  std::string code;  // "RL010"
  Severity severity = Severity::error;
  std::string message;
  Span span;  // bytes of the text it is about
};

/// Thrown inside the readers where a text cannot be read on; never leaves this library.
struct Failure {
  Diagnostic diagnostic;
};

[[noreturn]] void fail(std::string_view code, std::string message, Span span);

/// Errors and warnings of one signature, in the order found, at most kMost. An error too many ends
/// the reading (it throws); a warning too many is dropped.
class Diagnostics {
 public:
  static constexpr std::size_t kMost = 20;

  void error(std::string_view code, std::string message, Span span);
  void warning(std::string_view code, std::string message, Span span);
  void add(Diagnostic diagnostic);
  bool has_error() const;
  std::vector<Diagnostic> take() { return std::move(list_); }

 private:
  std::vector<Diagnostic> list_;
};

/// Line and column from 1; a column is a code point.
struct Place {
  std::size_t line = 1;
  std::size_t column = 1;
};

Place place_of(std::string_view text, std::size_t offset);

/// On one line, one column per code point: tabs become blanks, control characters U+FFFD.
std::string printable(std::string_view text);

/// `piece` in quotes for a message, cut after some 40 code points, on one line.
std::string in_quotes(std::string_view piece);

/// The line of `text` that `span` begins in and carets under the span, both indented by two blanks
/// and cut to a window of about 100 columns around the caret. Ends without a newline.
std::string caret(std::string_view text, Span span);

/// `origin:line:col: CODE message` and the caret; no origin gives `line:col: CODE message`.
std::string render(std::string_view origin, std::string_view text, const Diagnostic& diagnostic);

}  // namespace relaunch::migrate
