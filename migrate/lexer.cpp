#include "migrate/lexer.hpp"

#include <algorithm>
#include <iterator>
#include <string>
#include <utility>

namespace relaunch::migrate {
namespace {

constexpr std::string_view kMarks = "()[]{},:=";
constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";

// What is wrong with an invalid token, in Token::mark.
constexpr char kUnclosedString = '"';
constexpr char kUnclosedAngle = '<';
constexpr char kControlCharacter = '\1';

bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; }
bool is_quote(char c) { return c == '"' || c == '\''; }
bool ends_word(char c) {
  return is_blank(c) || is_quote(c) || is_control(c) || c == '#' ||
         kMarks.find(c) != std::string_view::npos;
}

class Lexer {
 public:
  Lexer(std::string_view text, Angles angles) : text_(text), angles_(angles) {
    if (text_.starts_with(kByteOrderMark)) at_ = kByteOrderMark.size();
  }

  std::vector<Token> run() {
    while (at_ < text_.size()) step();
    add(Token::Kind::end, '\0', text_.size());
    return std::move(tokens_);
  }

 private:
  void step() {
    const char c = text_[at_];
    if (is_blank(c)) {
      ++at_;
    } else if (c == '#') {
      at_ = std::min(text_.find('\n', at_), text_.size());
    } else if (is_control(c)) {
      add(Token::Kind::invalid, kControlCharacter, at_ + 1);
    } else if (kMarks.find(c) != std::string_view::npos) {
      add(Token::Kind::mark, c, at_ + 1);
    } else if (is_quote(c)) {
      string(at_);
    } else {
      word();
    }
  }

  void add(Token::Kind kind, char mark, std::size_t end) {
    tokens_.push_back({kind, mark, {at_, end}});
    at_ = end;
  }

  void string(std::size_t quote) {
    bool closed = false;
    const std::size_t end = string_end(text_, quote, closed);
    if (closed) {
      add(Token::Kind::string, '\0', end);
    } else {
      add(Token::Kind::invalid, kUnclosedString, end);
    }
  }

  void word() {
    std::size_t end = at_;
    const bool joins = angles_ == Angles::join;
    while (end < text_.size() && !ends_word(text_[end]) && !(joins && text_[end] == '<')) ++end;
    if (joins && end < text_.size() && text_[end] == '<') {
      bool closed = false;
      end = angle_end(end, closed);
      return add(closed ? Token::Kind::word : Token::Kind::invalid, kUnclosedAngle, end);
    }
    if (end < text_.size() && is_quote(text_[end]) &&
        is_string_prefix(text_.substr(at_, end - at_))) {
      return string(end);
    }
    add(Token::Kind::word, '\0', end);
  }

  /// One past the '>' that closes the '<' at `at`, both on one line. Quoted text inside is passed
  /// over, so that a layout's name may hold anything.
  std::size_t angle_end(std::size_t at, bool& closed) const {
    std::size_t depth = 0;
    for (; at < text_.size() && text_[at] != '\n' && !is_control(text_[at]); ++at) {
      const char c = text_[at];
      if (c == '<') {
        ++depth;
      } else if (c == '>' && --depth == 0) {
        closed = true;
        return at + 1;
      } else if (is_quote(c)) {
        const char stops[] = {c, '\n'};
        const std::size_t partner = text_.find_first_of(stops, at + 1, sizeof stops);
        if (partner != std::string_view::npos && text_[partner] == c) at = partner;
      }
    }
    return at;
  }

  std::string_view text_;
  Angles angles_;
  std::size_t at_ = 0;
  std::vector<Token> tokens_;
};

}  // namespace

bool is_control(char c) {
  return (static_cast<unsigned char>(c) < 0x20 || c == 0x7F) && !is_blank(c);
}

std::vector<Token> lex(std::string_view text, Angles angles) { return Lexer(text, angles).run(); }

Diagnostic explain(std::string_view text, const Token& token) {
  const auto error = [&token](std::string_view code, std::string message) {
    return Diagnostic{std::string(code), Severity::error, std::move(message), token.span};
  };
  if (token.mark == kUnclosedString) return error(kBadString, "this string has no closing quote");
  if (token.mark == kUnclosedAngle) return error(kUnbalanced, "'<' has no closing '>' on its line");
  return explain_control(text, token.span.begin);
}

Diagnostic explain_control(std::string_view text, std::size_t at) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  const auto value = static_cast<unsigned char>(text[at]);
  const std::string what = value == 0 ? "a NUL byte"
                                      : std::string("control character \\x") +
                                            kDigits[value >> 4U] + kDigits[value & 15U];
  return {std::string(kControl),
          Severity::error,
          what + " cannot be part of a signature",
          {at, at + 1}};
}

bool is_unclosed_string(const Token& token) {
  return token.kind == Token::Kind::invalid && token.mark == kUnclosedString;
}

std::size_t string_end(std::string_view text, std::size_t at, bool& closed) {
  const char quote = text[at];
  const std::string triple(3, quote);
  closed = true;
  const bool is_triple = text.substr(at, 3) == triple;
  for (std::size_t i = at + (is_triple ? 3 : 1); i < text.size(); ++i) {
    if (text[i] == '\\') {
      ++i;
    } else if (is_triple ? text.substr(i, 3) == triple : text[i] == quote) {
      return i + (is_triple ? 3 : 1);
    } else if (!is_triple && text[i] == '\n') {
      closed = false;
      return i;
    }
  }
  closed = false;
  return text.size();
}

bool is_string_prefix(std::string_view word) {
  if (word.empty() || word.size() > 2) return false;
  std::string lower(word);
  for (char& c : lower) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  constexpr std::string_view kPrefixes[] = {"r", "u", "b", "f", "br", "rb", "fr", "rf"};
  return std::find(std::begin(kPrefixes), std::end(kPrefixes), lower) != std::end(kPrefixes);
}

}  // namespace relaunch::migrate
