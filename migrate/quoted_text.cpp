#include "migrate/quoted_text.hpp"

#include <algorithm>
#include <cstdint>

#include "migrate/utf8.hpp"

namespace relaunch::migrate {
namespace {

int hex_digit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

class Contents {
 public:
  Contents(std::string_view text, std::size_t begin, std::size_t end, Flavour flavour,
           QuotedText& out)
      : text_(text), at_(begin), end_(end), flavour_(flavour), out_(out) {
    start_run();  // even empty contents stand somewhere
  }

  void raw() { out_.bytes += text_.substr(at_, end_ - at_); }

  void escaped() {
    while (at_ < end_) {
      const std::string_view rest = text_.substr(at_, end_ - at_);
      const std::string_view plain = rest.substr(0, rest.find('\\'));
      out_.bytes += plain;
      at_ += plain.size();
      if (at_ == end_) return;
      escape();
      start_run();
    }
  }

 private:
  void start_run() { out_.runs.push_back({out_.bytes.size(), at_}); }

  [[noreturn]] void bad(std::size_t begin, const char* what) const {
    fail(kBadString, what, {begin, std::min(std::max(at_, begin + 1), end_)});
  }

  /// `digits` hexadecimal digits after an escape's letter.
  std::uint32_t hex(std::size_t begin, int digits) {
    std::uint32_t value = 0;
    for (int i = 0; i < digits; ++i, ++at_) {
      const int digit = at_ < end_ ? hex_digit(text_[at_]) : -1;
      if (digit < 0) bad(begin, "this escape is cut short");
      value = value * 16 + static_cast<std::uint32_t>(digit);
    }
    return value;
  }

  void code_point(std::size_t begin, int digits) {
    std::uint32_t value = hex(begin, digits);
    const bool high = value >= 0xD800 && value <= 0xDBFF;
    // In Python these would be two half characters, which no UTF-8 can hold: the pair was meant.
    if (high && text_.substr(at_, 2) == "\\u") {
      at_ += 2;
      const std::uint32_t low = hex(begin, 4);
      if (low < 0xDC00 || low > 0xDFFF) bad(begin, "half a surrogate pair is no character");
      value = 0x10000 + ((value - 0xD800) << 10U) + (low - 0xDC00);
    }
    if (value >= 0xD800 && value <= 0xDFFF) bad(begin, "half a surrogate pair is no character");
    if (value > 0x10FFFF) bad(begin, "this escape is beyond Unicode");
    append_code_point(out_.bytes, value);
  }

  void octal(std::size_t begin) {
    std::uint32_t value = 0;
    for (int i = 0; i < 3 && at_ < end_ && text_[at_] >= '0' && text_[at_] <= '7'; ++i, ++at_) {
      value = value * 8 + static_cast<std::uint32_t>(text_[at_] - '0');
    }
    if (value > 0xFF) bad(begin, "this escape is beyond one byte");
    append_code_point(out_.bytes, value);
  }

  void escape() {
    constexpr std::string_view kJson = "\"\\/bfnrt";
    constexpr std::string_view kJsonMeaning = "\"\\/\b\f\n\r\t";
    constexpr std::string_view kPython = "\"'\\abfnrtv";
    constexpr std::string_view kPythonMeaning = "\"'\\\a\b\f\n\r\t\v";
    const bool json = flavour_ == Flavour::json;
    const std::size_t begin = at_++;
    const char letter = text_[at_++];
    const std::size_t plain = (json ? kJson : kPython).find(letter);
    if (plain != std::string_view::npos) {
      out_.bytes += (json ? kJsonMeaning : kPythonMeaning)[plain];
    } else if (letter == 'u') {
      code_point(begin, 4);
    } else if (json) {
      bad(begin, "JSON has no such escape");
    } else if (letter == 'U') {
      code_point(begin, 8);
    } else if (letter == 'x') {
      append_code_point(out_.bytes, hex(begin, 2));
    } else if (letter >= '0' && letter <= '7') {
      --at_;
      octal(begin);
    } else if (letter == 'N') {
      bad(begin, "characters are not read by name");
    } else if (letter != '\n') {  // a backslash at the end of a line joins it to the next
      at_ = begin + 1;            // any other letter keeps its backslash
      out_.bytes += '\\';
    }
  }

  std::string_view text_;
  std::size_t at_;
  std::size_t end_;
  Flavour flavour_;
  QuotedText& out_;
};

void check_json(std::string_view text, const Token& token, std::size_t prefix) {
  if (text[token.span.begin] != '"' || prefix > 0) {
    fail(kBadString, "JSON strings stand in plain double quotes", token.span);
  }
  const std::string_view piece = slice(text, token.span);
  if (piece.size() >= 6 && piece.starts_with("\"\"\"")) {
    fail(kBadString, "JSON has no triple quotes", token.span);
  }
  const std::size_t newline = piece.find('\n');
  if (newline != std::string_view::npos) {
    const std::size_t at = token.span.begin + newline;
    fail(kBadString, "a JSON string ends on its line", {at, at + 1});
  }
}

}  // namespace

Span QuotedText::source_of(Span span) const {
  const auto source = [this](std::size_t at) {
    auto run = std::upper_bound(runs.begin(), runs.end(), at,
                                [](std::size_t offset, const Run& r) { return offset < r.begin; });
    if (run == runs.begin()) return at;
    --run;
    return run->source + (at - run->begin);
  };
  // The last byte, not the one after it: the end of one string is not the start of the next.
  if (span.end <= span.begin) return {source(span.begin), source(span.begin)};
  return {source(span.begin), source(span.end - 1) + 1};
}

void append_contents(std::string_view text, const Token& token, Flavour flavour, QuotedText& out) {
  const std::string_view piece = slice(text, token.span);
  const std::size_t prefix = piece.find_first_of("\"'");
  bool raw = false;
  bool formatted = false;
  for (const char c : piece.substr(0, prefix)) {
    if (c == 'b' || c == 'B') fail(kNotAType, "expected a string, got bytes", token.span);
    raw = raw || c == 'r' || c == 'R';
    formatted = formatted || c == 'f' || c == 'F';
  }
  if (flavour == Flavour::json) check_json(text, token, prefix);
  const bool triple = piece.size() - prefix >= 6 && piece[prefix + 1] == piece[prefix] &&
                      piece[prefix + 2] == piece[prefix];
  const std::size_t quotes = triple ? 3 : 1;
  const std::size_t begin = token.span.begin + prefix + quotes;
  const std::size_t end = token.span.end - quotes;
  if (formatted) {
    const std::size_t brace = text.substr(begin, end - begin).find_first_of("{}");
    if (brace != std::string_view::npos) {
      fail(kPlaceholder, "this f-string has a placeholder: fill it in first",
           {begin + brace, begin + brace + 1});
    }
  }
  Contents contents(text, begin, end, flavour, out);
  if (raw) {
    contents.raw();
  } else {
    contents.escaped();
  }
}

}  // namespace relaunch::migrate
