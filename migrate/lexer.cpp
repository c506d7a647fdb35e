#include "migrate/lexer.hpp"

#include <algorithm>
#include <array>
#include <iterator>
#include <string>
#include <utility>

#include "migrate/scan.hpp"

namespace relaunch::migrate {
namespace {

constexpr std::string_view kMarks = "()[]{},:=";
constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";

// What is wrong with an invalid token, in Token::mark.
constexpr char kUnclosedString = '"';
constexpr char kUnclosedAngle = '<';
constexpr char kControlCharacter = '\1';

bool is_quote(char c) { return c == '"' || c == '\''; }

/// What a character is where a token may begin; in a word all but the first, or first two, end it.
enum class Class : std::uint8_t { letter, angle, blank, comment, control, mark, quote };

constexpr std::array<Class, 256> classes() {
  std::array<Class, 256> out = {};
  const auto set = [&out](std::string_view members, Class kind) {
    for (const char c : members) out[static_cast<unsigned char>(c)] = kind;
  };
  for (std::size_t c = 0; c < 0x20; ++c) out[c] = Class::control;
  set("\x7F", Class::control);
  set(" \t\n\r", Class::blank);
  set("<", Class::angle);
  set("#", Class::comment);
  set(kMarks, Class::mark);
  set("\"'", Class::quote);
  return out;
}

/// Whether a word may go on where such a character stands.
bool continues_word(Class kind) { return kind == Class::angle || kind == Class::quote; }

Class class_of(char c) {
  static constexpr std::array<Class, 256> kClasses = classes();
  return kClasses[static_cast<unsigned char>(c)];
}

class Lexer {
 public:
  Lexer(std::string_view text, Angles angles) : text_(text), angles_(angles) {
    if (text_.starts_with(kByteOrderMark)) at_ = kByteOrderMark.size();
  }

  std::vector<Token> run() {
    tokens_.reserve(text_.size() / 3 + 2);  // as in `x: *fp32, n: i32`
    // Marks and plain words, which are nearly all there is, in one loop over copies.
    const std::string_view text = text_;
    const Class passed = angles_ == Angles::join ? Class::letter : Class::angle;
    std::size_t at = at_;
    while (at < text.size()) {
      const Class kind = class_of(text[at]);
      std::size_t end = at + 1;
      if (kind == Class::blank) {
        at = end;
        continue;
      }
      if (kind == Class::mark) {
        tokens_.push_back({Token::Kind::mark, text[at], {at, end}});
        at = end;
        continue;
      }
      if (kind <= passed) {
        while (end < text.size() && class_of(text[end]) <= passed) ++end;
        if (end == text.size() || !continues_word(class_of(text[end]))) {
          tokens_.push_back({Token::Kind::word, '\0', {at, end}});
          at = end;
          continue;
        }
      }
      at_ = at;
      other(kind, kind <= passed ? end : at);
      at = at_;
    }
    at_ = at;
    add(Token::Kind::end, '\0', text_.size());
    return std::move(tokens_);
  }

 private:
  /// The token at `at_`, of which a word reaches to `end`.
  void other(Class kind, std::size_t end) {
    switch (kind) {
      case Class::quote: string(at_); break;
      case Class::comment: at_ = line_end(text_, at_); break;
      case Class::control: add(Token::Kind::invalid, kControlCharacter, at_ + 1); break;
      default: word(end);
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

  /// A word up to `end`, where a '<' or a quote stands.
  void word(std::size_t end) {
    if (text_[end] == '<') {
      bool closed = false;
      end = angle_end(end, closed);
      return add(closed ? Token::Kind::word : Token::Kind::invalid, kUnclosedAngle, end);
    }
    if (is_string_prefix(text_.substr(at_, end - at_))) return string(end);
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

bool is_control(char c) { return class_of(c) == Class::control; }

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
  closed = true;
  const auto is_triple_at = [text, quote](std::size_t i) {
    return i + 2 < text.size() && text[i] == quote && text[i + 1] == quote && text[i + 2] == quote;
  };
  const bool is_triple = is_triple_at(at);
  for (std::size_t i = at + (is_triple ? 3 : 1); i < text.size(); ++i) {
    if (text[i] == '\\') {
      ++i;
    } else if (is_triple ? is_triple_at(i) : text[i] == quote) {
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
