#include "migrate/entries.hpp"

#include <algorithm>
#include <optional>
#include <span>
#include <utility>

#include "migrate/cursor.hpp"
#include "migrate/literal.hpp"
#include "migrate/names.hpp"
#include "migrate/number.hpp"
#include "precompiled/core/types.hpp"

namespace relaunch::migrate {
namespace {

/// The JSON text of a word that is a constant by itself; empty for every other word.
std::optional<std::string> constant_text(std::string_view word, Span span) {
  if (word == "True") return "true";
  if (word == "False") return "false";
  if (word == "None" || word == "nullopt") return "null";
  return number_text(word, span);
}

bool is_constant(std::string_view word) {
  return word == "True" || word == "False" || word == "None" || word == "nullopt" ||
         is_number(word);
}

bool is_valid_hint(std::string_view word) { return word == "16" || word == "1"; }

void take_type(PyKernelArg& node, std::string canonical) {
  if (canonical == "constexpr") {
    node.type = ArgKind::ARG_CONSTEXPR;
  } else {
    node.type = ArgKind::ARG_KERNEL;
    node.dtype = std::move(canonical);
  }
}

class EntryParser : private Cursor {
 public:
  EntryParser(std::string_view text, const std::vector<Token>& tokens, Diagnostics& diagnostics,
              bool aot = false)
      : Cursor(text, tokens), diagnostics_(diagnostics), aot_(aot) {}

  std::vector<PyKernelArg> whole() {
    if (peek().kind == Token::Kind::end) {
      fail(kEmpty, "the text is empty: a kernel without arguments is written {}", peek().span);
    }
    if (peek().is('{') && peek(1).is('}') && peek(2).kind == Token::Kind::end) return {};
    std::vector<PyKernelArg> out;
    const auto is_comma = [](const Token& token) { return token.is(','); };
    const auto commas = std::count_if(tokens_.begin(), tokens_.end(), is_comma);
    out.reserve(static_cast<std::size_t>(commas) + 1);
    std::optional<NamesSeen> names;
    do {
      entry(out.emplace_back(), names);
    } while (accept(','));
    const Token& rest = peek();
    if (rest.is(')')) fail(kUnbalanced, "')' closes nothing", rest.span);
    if (rest.kind != Token::Kind::end) unexpected("expected ',' between types", rest);
    return out;
  }

  /// `type` or `type:hint` and nothing else.
  PyKernelArg type_alone() {
    if (peek().kind == Token::Kind::end) fail(kNotAType, "expected a type, got ''", peek().span);
    PyKernelArg out;
    type(out);
    if (accept(':')) hint(out);
    if (peek().kind != Token::Kind::end) unexpected("expected one type", peek());
    return out;
  }

 private:
  [[noreturn]] void unexpected(const std::string& expected, const Token& got) const {
    if (got.is('{')) placeholder(got);
    Cursor::unexpected(expected, got);
  }

  [[noreturn]] void placeholder(const Token& open) const {
    constexpr std::size_t kLongest = 80;  // bytes from '{' to '}'
    const std::size_t close = text_.substr(open.span.begin, kLongest).find('}');
    Span span = open.span;
    if (close != std::string_view::npos) span.end = span.begin + close + 1;
    fail(kPlaceholder, in_quotes(slice(text_, span)) + " is a placeholder: fill it in first", span);
  }

  /// `names` are those of the level, made for the first one.
  void entry(PyKernelArg& out, std::optional<NamesSeen>& names) {
    const bool named =
        !aot_ && peek().kind == Token::Kind::word && peek(1).is(':') && !is_hint(peek(2));
    if (named) {
      const Token& name = next();
      out.name = slice(text_, name.span);
      if (!names) names.emplace();
      names->add(slice(text_, name.span), name.span, diagnostics_);
      ++at_;
    }
    if (plain_type(out)) {
      if (accept(':')) hint(out);
    } else if (peek().is('(') && !aot_) {
      tuple(out);
    } else if (named || !constant(out)) {
      type(out);
      if (accept(':')) hint(out);
    }
    if (!aot_ && accept('=')) value(out);
  }

  /// Whether what follows ':' makes it a hint's: a number.
  bool is_hint(const Token& token) const {
    if (token.kind != Token::Kind::word) return false;
    const std::string_view word = slice(text_, token.span);
    return is_valid_hint(word) || number_text(word, token.span).has_value();
  }

  /// A type in one word, as nearly all are: no constant is spelled like one.
  bool plain_type(PyKernelArg& out) {
    const Token& token = peek();
    if (token.kind != Token::Kind::word) return false;
    const std::string_view word = slice(text_, token.span);
    if (word == "constexpr") {
      out.type = ArgKind::ARG_CONSTEXPR;
    } else if (!take_plain_type(word, out.dtype)) {
      return false;
    }
    out.span = token.span;
    ++at_;
    return true;
  }

  bool constant(PyKernelArg& out) {
    if (peek().kind != Token::Kind::word) return false;
    auto text = constant_text(slice(text_, peek().span), peek().span);
    if (!text) return false;
    out.type = ArgKind::ARG_CONSTEXPR;
    out.value = std::move(*text);
    out.span = next().span;
    if (peek().is('=')) unexpected("expected ',' after a constant", peek());
    return true;
  }

  void type(PyKernelArg& out) {
    if (peek().kind != Token::Kind::word) unexpected("expected a type", peek());
    out.span = next().span;
    const std::string_view word = slice(text_, out.span);
    if (word.ends_with('*')) {
      starred(out, word);
    } else {
      set_type(out, word, out.span, diagnostics_);
    }
  }

  void hint(PyKernelArg& out) {
    const Token& hint = peek();
    if (hint.kind != Token::Kind::word) unexpected("expected a hint after ':'", hint);
    ++at_;
    set_read_hint(out, hint);
  }

  /// A type whose first word may be its stars alone: blanks may follow them.
  void starred(PyKernelArg& out, std::string_view first) {
    std::string word(first);
    bool only_stars = word.find_first_not_of('*') == std::string::npos;
    while (only_stars && peek().kind == Token::Kind::word) {
      const std::string_view more = slice(text_, peek().span);
      out.span.end = next().span.end;
      only_stars = more.find_first_not_of('*') == std::string_view::npos;
      word += more;
    }
    if (only_stars && peek().is('{')) placeholder(peek());
    set_type(out, word, out.span, diagnostics_);
  }

  void set_read_hint(PyKernelArg& out, const Token& hint) {
    const std::string_view word = slice(text_, hint.span);
    if (aot_ && !is_hint(hint) && !is_placeholder(word)) {
      diagnostics_.warning(kHintDropped, "the hint " + in_quotes(word) + " is no number: dropped",
                           hint.span);
      return;
    }
    set_hint(out, word, hint.span, diagnostics_);
    if (aot_ && out.hint == "1") {
      diagnostics_.warning(kFoldedHint,
                           "the ahead-of-time compiler folds this parameter to 1: the compiled "
                           "kernel does not take it",
                           hint.span);
    }
  }

  void tuple(PyKernelArg& out) {
    const Token& open = next();
    if (++depth_ > kMaxTupleDepth) {
      fail(kTooDeep, "tuples nested deeper than " + std::to_string(kMaxTupleDepth), open.span);
    }
    out.type = ArgKind::ARG_TUPLE;
    std::optional<NamesSeen> names;
    while (!accept(')')) {
      if (peek().kind == Token::Kind::end) {
        fail(kUnbalanced, "'(' is never closed", open.span);
      }
      entry(out.nested_tuple.emplace_back(), names);
      const Token& after = peek();
      if (!accept(',') && !after.is(')') && after.kind != Token::Kind::end) {
        unexpected("expected ',' or ')'", after);
      }
    }
    out.span = {open.span.begin, tokens_[at_ - 1].span.end};
    --depth_;
  }

  void value(PyKernelArg& out) {
    const std::size_t begin = peek().span.begin;
    // The plain case, which is nearly every one, without a literal.
    if (peek().kind == Token::Kind::word && !peek(1).is('(')) {
      if (auto plain = word_text(slice(text_, peek().span), peek().span)) {
        ++at_;
        out.value = std::move(*plain);
        return;
      }
    }
    auto text = json_text(read_value(text_, tokens_, at_));
    if (!text) {
      fail(kUnexpected, "expected a value after '='", {begin, tokens_[at_ - 1].span.end});
    }
    out.value = std::move(*text);
  }

  Diagnostics& diagnostics_;
  bool aot_;
  std::size_t depth_ = 0;
};

}  // namespace

std::vector<PyKernelArg> read_entries(std::string_view text, const std::vector<Token>& tokens,
                                      Diagnostics& diagnostics) {
  return EntryParser(text, tokens, diagnostics).whole();
}

std::vector<PyKernelArg> read_aot_entries(std::string_view text, const std::vector<Token>& tokens,
                                          Diagnostics& diagnostics) {
  return EntryParser(text, tokens, diagnostics, true).whole();
}

bool looks_like_aot(std::string_view text, const std::vector<Token>& tokens) {
  bool telling = false;
  for (std::size_t i = 0; i + 1 < tokens.size(); ++i) {
    const Token& token = tokens[i];
    if (token.kind == Token::Kind::mark) {
      if (!token.is(',') && !token.is(':')) return false;
      if (token.is(':')) {
        const std::string_view hint = slice(text, tokens[i + 1].span);
        if (tokens[i + 1].kind != Token::Kind::word || !index_value(hint)) return false;
        telling = true;
      }
    } else if (token.kind != Token::Kind::word) {
      return false;
    } else {
      telling = telling || is_constant(slice(text, token.span));
    }
  }
  return telling;
}

PyKernelArg read_type(std::string_view text, Diagnostics& diagnostics) {
  // The plain case, which is nearly every one, without a token list.
  auto canonical = canonical_type(text);
  if (canonical && text.find('<') == std::string_view::npos) {
    PyKernelArg out;
    take_type(out, std::move(*canonical));
    out.span = {0, text.size()};
    return out;
  }
  return EntryParser(text, lex(text), diagnostics).type_alone();
}

void set_type(PyKernelArg& node, std::string_view word, Span span, Diagnostics& diagnostics) {
  // Escaped in a string it got here; the canonical line would not read back.
  if (std::any_of(word.begin(), word.end(), is_control)) {
    diagnostics.error(kControl, "control characters in the type " + in_quotes(word), span);
    return;
  }
  auto canonical = canonical_type(word);
  // `tensordesc<fp16[64],{layout}>`: a placeholder in what is a type.
  const bool whole = canonical && (!word.ends_with('>') || word.find(",{") == std::string::npos);
  if (whole) {
    take_type(node, std::move(*canonical));
  } else if (is_placeholder(word)) {
    diagnostics.error(kPlaceholder, in_quotes(word) + " is a placeholder: fill it in first", span);
  } else if (word.starts_with("tensordesc")) {
    diagnostics.error(
        kBadDescriptor,
        in_quotes(word) + " is no descriptor: expected one like tensordesc<fp16[64, 64]>", span);
  } else {
    diagnostics.error(kUnknownType,
                      "unknown type " + in_quotes(word) +
                          ": expected one like i32, fp32, *fp16, constexpr or "
                          "tensordesc<fp16[64, 64]>",
                      span);
  }
}

void set_hint(PyKernelArg& node, std::string_view hint, Span span, Diagnostics& diagnostics) {
  if (!is_valid_hint(hint)) {
    diagnostics.error(kBadHint, "only 1 and 16 are valid hints, got " + in_quotes(hint), span);
  } else if (node.type != ArgKind::ARG_KERNEL) {
    diagnostics.error(kBadHint, "only a kernel parameter takes a hint", span);
  } else {
    node.hint = hint;
  }
}

void NamesSeen::add(std::string_view name, Span span, Diagnostics& diagnostics) {
  if (!is_parameter_name(name)) {
    diagnostics.error(kBadName, in_quotes(name) + " is no parameter name", span);
  } else if (!is_new(name)) {
    diagnostics.error(kDuplicateName, in_quotes(name) + " is named twice", span);
  }
}

bool NamesSeen::is_new(std::string_view name) {
  const auto at = [name](std::size_t i) { return static_cast<unsigned char>(name[i]); };
  const std::size_t hash = at(0) + 7 * at(name.size() / 2) + 31 * at(name.size() - 1);
  const std::uint64_t mark = std::uint64_t{1} << (hash + name.size()) % 64;
  if ((marks_ & mark) != 0) {
    const std::span<const std::string_view> few(few_.data(), count_);
    if (std::find(few.begin(), few.end(), name) != few.end()) return false;
  }
  marks_ |= mark;
  if (count_ == kFew) return more_.insert(name).second;
  few_[count_++] = name;
  return true;
}

}  // namespace relaunch::migrate
