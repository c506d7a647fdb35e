#include "migrate/literal.hpp"

#include <algorithm>
#include <utility>

#include "migrate/cursor.hpp"
#include "migrate/names.hpp"
#include "migrate/number.hpp"

namespace relaunch::migrate {
namespace {

bool is_pair(const Literal& literal) {
  return literal.kind == Literal::Kind::tuple && literal.items.size() == 2;
}

/// Whether a call makes a dict and its arguments say all of it.
bool makes_dict(const Literal& call) {
  const std::string_view name = std::string_view(call.value).substr(call.value.rfind('.') + 1);
  if (name != "dict" && name != "OrderedDict") return false;
  for (std::size_t i = 0; i < call.items.size(); ++i) {
    const Literal& item = call.items[i];
    if (!call.names[i].empty()) continue;
    const bool pairs = item.kind == Literal::Kind::list &&
                       std::all_of(item.items.begin(), item.items.end(), is_pair);
    if (i > 0 || (item.kind != Literal::Kind::dict && !pairs)) return false;
  }
  return true;
}

/// `dict(a=1)`, `dict({"a": 1}, b=2)` and `OrderedDict([("a", 1)])` as the dicts that they make;
/// any other call as it is.
Literal dict_of(Literal call) {
  if (!makes_dict(call)) return call;
  Literal out;
  out.kind = Literal::Kind::dict;
  out.span = call.span;
  for (std::size_t i = 0; i < call.items.size(); ++i) {
    Literal& item = call.items[i];
    if (!call.names[i].empty()) {
      Literal key;
      key.kind = Literal::Kind::string;
      key.span = item.span;
      key.text.bytes = std::move(call.names[i]);
      out.keys.push_back(std::move(key));
      out.items.push_back(std::move(item));
    } else if (item.kind == Literal::Kind::dict) {
      out.keys = std::move(item.keys);
      out.items = std::move(item.items);
    } else {
      for (Literal& pair : item.items) {
        out.keys.push_back(std::move(pair.items[0]));
        out.items.push_back(std::move(pair.items[1]));
      }
    }
  }
  return out;
}

class LiteralParser : private Cursor {
 public:
  LiteralParser(std::string_view text, const std::vector<Token>& tokens, Flavour flavour,
                std::size_t deepest)
      : Cursor(text, tokens), flavour_(flavour), deepest_(deepest) {}

  Literal one(std::size_t& at) {
    at_ = std::min(at, last_);
    Literal out = value();
    at = at_;
    return out;
  }

  Literal whole() {
    Literal first = value();
    // `"*fp32", "i32"`: a tuple that Python needs no parentheses for.
    if (peek().is(',') && first.kind == Literal::Kind::string && !json()) {
      Literal tuple;
      tuple.kind = Literal::Kind::tuple;
      tuple.items.push_back(std::move(first));
      while (accept(',') && peek().kind != Token::Kind::end) tuple.items.push_back(value());
      tuple.span = {tuple.items.front().span.begin, tuple.items.back().span.end};
      first = std::move(tuple);
    }
    const Token& rest = peek();
    if (rest.kind == Token::Kind::mark && closes(rest.mark)) {
      fail(kUnbalanced, std::string("'") + rest.mark + "' closes nothing", rest.span);
    }
    if (rest.kind != Token::Kind::end) {
      unexpected("expected the end of the signature", rest);
    }
    return first;
  }

 private:
  static bool closes(char mark) { return mark == ')' || mark == ']' || mark == '}'; }
  bool json() const { return flavour_ == Flavour::json; }
  Literal value() {
    const Token& token = peek();
    if (token.kind == Token::Kind::string) return string();
    if (token.kind == Token::Kind::word) return word();
    if (token.is('{')) return nested(&LiteralParser::dict);
    if (token.is('[')) return nested(&LiteralParser::list);
    if (token.is('(') && json()) fail(kUnexpected, "JSON has no tuples: use [...]", token.span);
    if (token.is('(')) return nested(&LiteralParser::parenthesised);
    unexpected("expected a value", token);
  }

  Literal nested(Literal (LiteralParser::*read)()) {
    if (++depth_ > deepest_) {
      fail(kTooDeep, "brackets nested deeper than " + std::to_string(deepest_), peek().span);
    }
    Literal out = (this->*read)();
    --depth_;
    return out;
  }

  Literal string() {
    Literal out;
    out.kind = Literal::Kind::string;
    out.span = peek().span;
    do {
      out.span.end = peek().span.end;
      append_contents(text_, next(), flavour_, out.text);
    } while (!json() && peek().kind == Token::Kind::string);
    return out;
  }

  Literal word() {
    const Token& token = next();
    const std::string_view text = slice(text_, token.span);
    Literal out;
    out.span = token.span;
    if (peek().is('(') && !json() && is_dotted_name(text)) {
      out.value = text;
      --at_;
      return nested(&LiteralParser::call);
    }
    if (json() && (text == "None" || text == "True" || text == "False")) {
      fail(kUnexpected, "JSON has no " + in_quotes(text), token.span);
    }
    if (auto value = word_text(text, token.span)) {
      out.kind = *value == "null"                        ? Literal::Kind::none
                 : *value == "true" || *value == "false" ? Literal::Kind::boolean
                                                         : Literal::Kind::number;
      out.value = std::move(*value);
    } else if (is_placeholder(text)) {
      fail(kPlaceholder, in_quotes(text) + " is a placeholder: fill it in first", token.span);
    } else {
      fail(kNotAType, in_quotes(text) + " is neither a quoted string nor a constant", token.span);
    }
    return out;
  }

  /// The rest of a bracket's items up to its partner, `item` reading one of them.
  template <typename Item>
  std::size_t items(const Token& open, char close, Item item) {
    std::size_t count = 0;
    while (!accept(close)) {
      if (peek().kind == Token::Kind::end) {
        fail(kUnbalanced, std::string("'") + text_[open.span.begin] + "' is never closed",
             open.span);
      }
      if (peek().kind == Token::Kind::mark && closes(peek().mark)) {
        fail(kUnbalanced,
             std::string("'") + peek().mark + "' does not close '" + text_[open.span.begin] + "'",
             peek().span);
      }
      item();
      ++count;
      if (accept(',')) {
        if (json() && peek().is(close))
          unexpected("expected another value: JSON allows no trailing comma", peek());
        continue;
      }
      const Token& after = peek();
      const bool ends =
          after.kind == Token::Kind::end || (after.kind == Token::Kind::mark && closes(after.mark));
      if (!ends) unexpected(std::string("expected ',' or '") + close + "'", after);
    }
    return count;
  }

  Literal list() {
    const Token& open = next();
    Literal out;
    out.kind = Literal::Kind::list;
    items(open, ']', [&] { out.items.push_back(value()); });
    out.span = {open.span.begin, tokens_[at_ - 1].span.end};
    return out;
  }

  Literal parenthesised() {
    const Token& open = next();
    Literal out;
    out.kind = Literal::Kind::tuple;
    const std::size_t count = items(open, ')', [&] { out.items.push_back(value()); });
    out.span = {open.span.begin, tokens_[at_ - 1].span.end};
    const bool comma = at_ >= 2 && tokens_[at_ - 2].is(',');
    if (count == 1 && !comma) {
      Literal only = std::move(out.items.front());
      return only;
    }
    return out;
  }

  Literal dict() {
    const Token& open = next();
    Literal out;
    out.kind = Literal::Kind::dict;
    items(open, '}', [&] {
      Literal key = value();
      if (json() && key.kind != Literal::Kind::string) {
        fail(kUnexpected, "JSON names are strings", key.span);
      }
      if (!accept(':')) unexpected("expected ':' after a name", peek());
      out.keys.push_back(std::move(key));
      out.items.push_back(value());
    });
    out.span = {open.span.begin, tokens_[at_ - 1].span.end};
    return out;
  }

  Literal call() {
    const Token& name = next();
    const Token& open = next();
    Literal out;
    out.kind = Literal::Kind::call;
    out.value = slice(text_, name.span);
    items(open, ')', [&] {
      std::string keyword;
      if (peek().kind == Token::Kind::word && peek(1).is('=')) {
        keyword = slice(text_, next().span);
        ++at_;
      }
      out.names.push_back(std::move(keyword));
      out.items.push_back(value());
    });
    out.span = {name.span.begin, tokens_[at_ - 1].span.end};
    return dict_of(std::move(out));
  }

  Flavour flavour_;
  std::size_t deepest_;
  std::size_t depth_ = 0;
};

bool append_json(std::string& out, const Literal& literal);

bool append_list(std::string& out, const std::vector<Literal>& items) {
  out += '[';
  for (std::size_t i = 0; i < items.size(); ++i) {
    if (i > 0) out += ", ";
    if (!append_json(out, items[i])) return false;
  }
  out += ']';
  return true;
}

bool append_dict(std::string& out, const Literal& dict) {
  out += '{';
  for (std::size_t i = 0; i < dict.items.size(); ++i) {
    const Literal& key = dict.keys[i];
    if (i > 0) out += ", ";
    if (key.kind == Literal::Kind::string) {
      append_json_string(out, key.text.bytes);
    } else if (key.kind == Literal::Kind::number && !key.value.starts_with('{')) {
      out += '"' + key.value + '"';
    } else {
      return false;
    }
    out += ": ";
    if (!append_json(out, dict.items[i])) return false;
  }
  out += '}';
  return true;
}

/// `float("nan")` and the like.
bool append_call(std::string& out, const Literal& call) {
  if (call.value != "float" || call.items.size() != 1 || !call.names[0].empty()) return false;
  if (call.items[0].kind != Literal::Kind::string) return false;
  const std::string& word = call.items[0].text.bytes;
  const auto number = number_text(word, call.span);
  if (!number) return false;
  out += *number;
  if (number->find_first_not_of("-0123456789") == std::string::npos) out += ".0";
  return true;
}

bool append_json(std::string& out, const Literal& literal) {
  switch (literal.kind) {
    case Literal::Kind::string: append_json_string(out, literal.text.bytes); return true;
    case Literal::Kind::number:
    case Literal::Kind::boolean:
    case Literal::Kind::none: out += literal.value; return true;
    case Literal::Kind::list:
    case Literal::Kind::tuple: return append_list(out, literal.items);
    case Literal::Kind::dict: return append_dict(out, literal);
    case Literal::Kind::call: return append_call(out, literal);
  }
  return false;
}

}  // namespace

Literal read_literal(std::string_view text, const std::vector<Token>& tokens, Flavour flavour,
                     std::size_t deepest) {
  return LiteralParser(text, tokens, flavour, deepest).whole();
}

Literal read_value(std::string_view text, const std::vector<Token>& tokens, std::size_t& at) {
  return LiteralParser(text, tokens, Flavour::python, kMaxTupleDepth + 1).one(at);
}

std::optional<std::string> word_text(std::string_view word, Span span) {
  if (word == "None" || word == "null") return "null";
  if (word == "True" || word == "true") return "true";
  if (word == "False" || word == "false") return "false";
  return number_text(word, span);
}

std::optional<std::string> json_text(const Literal& literal) {
  std::string out;
  if (!append_json(out, literal)) return std::nullopt;
  return out;
}

}  // namespace relaunch::migrate
