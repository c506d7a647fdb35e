#include "migrate/fields.hpp"

#include <utility>

#include "migrate/diagnostic.hpp"

namespace relaunch::migrate {
namespace {

bool opens(const Token& token) { return token.is('(') || token.is('[') || token.is('{'); }
bool closes(const Token& token) { return token.is(')') || token.is(']') || token.is('}'); }

/// What a name or a key before ':' or '=' is, and where the value begins.
Field named(std::string_view text, const std::vector<Token>& tokens, std::size_t at, bool dict) {
  const Token& first = tokens[at];
  if (!dict) {
    const bool keyword =
        first.kind == Token::Kind::word && tokens[at + 1].is('=') && !tokens[at + 2].is('=');
    if (keyword) return {std::string(slice(text, first.span)), {at + 2, at + 2}};
    return {{}, {at, at}};
  }
  if (first.kind == Token::Kind::string && tokens[at + 1].is(':')) {
    QuotedText key;
    try {
      append_contents(text, first, Flavour::python, key);
    } catch (const Failure&) {
      key.bytes.clear();  // some other key: not one of interest
    }
    return {std::move(key.bytes), {at + 2, at + 2}};
  }
  return {{}, {at, at}};
}

}  // namespace

std::vector<Field> fields_of(std::string_view text, const std::vector<Token>& tokens,
                             std::size_t open) {
  std::vector<Field> out;
  const bool dict = tokens[open].is('{');
  std::size_t depth = 0;
  std::size_t at = open + 1;
  bool begins = true;
  for (; tokens[at].kind != Token::Kind::end; ++at) {
    const Token& token = tokens[at];
    if (depth == 0 && closes(token)) return out;
    if (begins) out.push_back(named(text, tokens, at, dict));
    begins = depth == 0 && token.is(',');
    if (begins) continue;
    if (opens(token)) ++depth;
    if (closes(token)) --depth;
    out.back().value.end = at + 1;
  }
  fail(kUnbalanced, std::string("'") + text[tokens[open].span.begin] + "' is never closed",
       tokens[open].span);
}

Span span_of(const std::vector<Token>& tokens, Expression expression) {
  if (expression.begin >= expression.end) return tokens[expression.begin].span;
  return {tokens[expression.begin].span.begin, tokens[expression.end - 1].span.end};
}

Literal literal_of(std::string_view text, const std::vector<Token>& tokens, Expression expression) {
  std::size_t at = expression.begin;
  Literal out = read_value(text, tokens, at);
  if (at != expression.end) {
    const Span span = span_of(tokens, expression);
    fail(kNotAType, in_quotes(slice(text, span)) + " is computed: expected it written out", span);
  }
  return out;
}

}  // namespace relaunch::migrate
