#include "precompiled/binary/ptx_lexer.hpp"

#include <algorithm>
#include <string>

namespace relaunch::binary {
namespace {

bool is_blank(char c) {
  return c == ' ' || c == '\t' || c == '\r' || c == '\n' || c == '\v' || c == '\f' || c == '\0';
}

bool is_word(char c) {
  return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' ||
         c == '$' || c == '%';
}

std::size_t lines_in(std::string_view text) {
  return static_cast<std::size_t>(std::count(text.begin(), text.end(), '\n'));
}

}  // namespace

void PtxLexer::refuse(std::string_view expected) const {
  if (kind_ == PtxToken::end) {
    throw BinaryError(Fault::truncated, where(), std::string(expected), "the end of the text");
  }
  throw BinaryError(Fault::malformed, where(), std::string(expected), quoted(text()));
}

void PtxLexer::skip_comment(bool whole_line) {
  const std::size_t end = text_.find(whole_line ? "\n" : "*/", end_ + 2);
  if (end == std::string_view::npos && !whole_line) {
    throw BinaryError(Fault::truncated, {end_, line_}, "the end '*/' of this comment",
                      "the end of the text");
  }
  const std::size_t next =
      whole_line ? std::min(end, text_.size()) : end + 2;  // a line comment may be the last thing
  line_ += lines_in(text_.substr(end_, next - end_));
  end_ = next;
}

void PtxLexer::skip_blanks() {
  while (end_ < text_.size()) {
    const char c = text_[end_];
    if (is_blank(c)) {
      if (c == '\n') ++line_;
      ++end_;
    } else if (c == '/' && text_.substr(end_, 2) == "//") {
      skip_comment(true);
    } else if (c == '/' && text_.substr(end_, 2) == "/*") {
      skip_comment(false);
    } else {
      return;
    }
  }
}

void PtxLexer::skip_string() {
  for (std::size_t i = end_ + 1; i < text_.size(); ++i) {
    if (text_[i] == '\\') {
      ++i;
    } else if (text_[i] == '"') {
      end_ = i + 1;
      line_ += lines_in(text_.substr(begin_, end_ - begin_));
      return;
    }
  }
  throw BinaryError(Fault::truncated, {begin_, line_}, "the closing '\"' of this string",
                    "the end of the text");
}

void PtxLexer::advance() {
  skip_blanks();
  begin_ = end_;
  if (begin_ == text_.size()) {
    kind_ = PtxToken::end;
    return;
  }
  const char c = text_[begin_];
  if (c == '"') {
    kind_ = PtxToken::string;
    skip_string();
    return;
  }
  ++end_;
  const bool has_dot = c == '.' && end_ < text_.size() && is_word(text_[end_]);
  kind_ = has_dot ? PtxToken::directive : is_word(c) ? PtxToken::word : PtxToken::mark;
  if (kind_ == PtxToken::mark) return;
  while (end_ < text_.size() && is_word(text_[end_])) ++end_;
}

void PtxLexer::skip_block() {
  const Where start = where();
  std::size_t depth = 0;
  do {
    if (kind_ == PtxToken::end) {
      throw BinaryError(Fault::truncated, start, "the closing '}' of this block",
                        "the end of the text");
    }
    if (is("{")) ++depth;
    if (is("}")) --depth;
    advance();
  } while (depth > 0);
}

}  // namespace relaunch::binary
