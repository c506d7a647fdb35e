#pragma once
// The words of PTX, one by one; comments and white space lie between them.

#include <cstddef>
#include <string_view>

#include "precompiled/binary/error.hpp"

namespace relaunch::binary {

enum class PtxToken : std::uint8_t { end, directive, word, string, mark };

class PtxLexer {
 public:
  explicit PtxLexer(std::string_view text) : text_(text) { advance(); }

  PtxToken kind() const { return kind_; }
  /// `.param` with its dot, a word or number, a whole string, or one character.
  std::string_view text() const { return text_.substr(begin_, end_ - begin_); }
  bool is(std::string_view text) const { return kind_ != PtxToken::end && this->text() == text; }
  Where where() const { return {begin_, line_}; }

  /// To the next word. Throws BinaryError (truncated) where a comment or string does not end.
  void advance();
  /// From `{` to the word behind its `}`. Throws BinaryError (truncated) where there is none.
  void skip_block();

  /// Throws BinaryError: `expected` was to stand here.
  [[noreturn]] void refuse(std::string_view expected) const;

 private:
  void skip_blanks();
  void skip_comment(bool whole_line);
  void skip_string();

  std::string_view text_;
  PtxToken kind_ = PtxToken::end;
  std::size_t begin_ = 0;
  std::size_t end_ = 0;
  std::size_t line_ = 1;
};

}  // namespace relaunch::binary
