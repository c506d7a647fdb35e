#pragma once
// A place in a row of tokens, for the parsers that read it left to right.

#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "migrate/diagnostic.hpp"
#include "migrate/lexer.hpp"

namespace relaunch::migrate {

/// The last token is the end, which is never passed: looking further gives it again. `at_` is the
/// place of a token, always.
class Cursor {
 protected:
  Cursor(std::string_view text, const std::vector<Token>& tokens)
      : text_(text), tokens_(tokens), last_(tokens.size() - 1) {}

  const Token& peek() const { return tokens_[at_]; }
  const Token& peek(std::size_t ahead) const { return tokens_[std::min(at_ + ahead, last_)]; }
  const Token& next() {
    const Token& out = tokens_[at_];
    if (at_ < last_) ++at_;
    return out;
  }
  bool accept(char mark) {
    if (!peek().is(mark)) return false;
    ++at_;
    return true;
  }

  [[noreturn]] void unexpected(const std::string& expected, const Token& got) const {
    if (got.kind == Token::Kind::invalid) throw Failure{explain(text_, got)};
    if (got.kind == Token::Kind::end) fail(kUnexpected, expected + ", got the end", got.span);
    fail(kUnexpected, expected + ", got " + in_quotes(slice(text_, got.span)), got.span);
  }

  std::string_view text_;
  const std::vector<Token>& tokens_;
  std::size_t at_ = 0;
  std::size_t last_;
};

}  // namespace relaunch::migrate
