#pragma once
// What stands in a file: source code around its signatures, or one signature after the other.

#include <cstddef>
#include <optional>
#include <string_view>
#include <vector>

#include "migrate/parse.hpp"

namespace relaunch::migrate {

/// One signature's bytes in a file, and how they are written.
struct Piece {
  Span bytes;
  Form form = Form::automatic;
};

/// Finds the signatures that stand inside other text, such as the functions of a TTIR module.
class Embedded {
 public:
  /// Of one form, or of all that can be embedded (Form::automatic), between two offsets.
  Embedded(std::string_view bytes, Form form, std::size_t begin, std::size_t end);

  /// The next piece in order; none at the end. Linear in the bytes, all calls together.
  std::optional<Piece> next();

 private:
  struct Kind;
  std::optional<Piece> find(const Kind& kind);
  struct Waiting {
    const Kind* kind;
    std::optional<Piece> piece;
  };
  static const Kind kKinds[];

  std::string_view bytes_;
  std::size_t at_;
  std::size_t futile_ = 0;
  std::vector<Waiting> waiting_;
};

/// Whether signatures of this form are looked for inside other text.
bool is_embedded(Form form);

/// The call of ASTSource or `triton_meta` whose name stands on the line from `begin` to `end`, if
/// one does.
std::optional<Piece> embedded_on_line(std::string_view bytes, std::size_t begin, std::size_t end);

/// Whether some line begins as a line of Python or C does: only what can be embedded is read then.
bool looks_like_code(std::string_view bytes);

/// One past the IR that begins at `at` with a function or a module, its body included: the end of
/// a line. `at` itself where none does. `futile` as for literal_end.
std::size_t ir_end(std::string_view bytes, std::size_t at, std::size_t& futile);

/// Where a literal that begins at `at` ends: the end of the line on which its last bracket or
/// triple-quoted string closes, without the newline; its own line where one never closes.
/// `futile` counts the bytes that were looked through for nothing, so that a file full of such
/// costs no more than a few times its size.
std::size_t literal_end(std::string_view bytes, std::size_t at, std::size_t& futile);

}  // namespace relaunch::migrate
