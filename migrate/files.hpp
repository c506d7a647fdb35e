#pragma once
// What stands in a file: source code around its signatures, or one signature after the other.

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "migrate/parse.hpp"
#include "migrate/window.hpp"

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

/// Bytes looked through for nothing (`futile` below) after which searches look less far, so that a
/// file full of beginnings without an end costs no more than a few times its size.
inline constexpr std::size_t kPatience = 4 * Window::kSize;

/// The call of ASTSource or `triton_meta` whose name stands on the line from `begin` to `end`, if
/// one does.
std::optional<Piece> embedded_on_line(std::string_view bytes, std::size_t begin, std::size_t end,
                                      std::size_t& futile);

/// Whether some line begins as a line of Python or C does: only what can be embedded is read then.
bool looks_like_code(std::string_view bytes);

/// What signatures are searched for in: IR between other lines, with its body, or the rest of a
/// file.
struct Block {
  std::size_t end = 0;    // one past what is known of it: the end of a line, unless it goes on
  bool goes_on = false;   // bytes that are not shown yet may belong to it
  bool is_rest = false;   // the rest of the file belongs to it
  std::string open = {};  // else: the brackets it waits for
};

/// The block of IR that begins at `at` with a function or a module, if one does. A module that is
/// not closed takes the rest of the file, a function its header.
std::optional<Block> block_at(const Window& window, std::size_t at, std::size_t& futile);

/// Follows a block that goes on through what the window shows now; `end` is a place in it.
void follow(Block& block, const Window& window);

/// Where a literal that begins at `at` ends: the end of the line on which its last bracket or
/// triple-quoted string closes, without the newline; its own line where one never closes, or only
/// after kLongestSignature: `is_long` is true then.
std::size_t literal_end(std::string_view bytes, std::size_t at, std::size_t& futile, bool& is_long);

}  // namespace relaunch::migrate
