#include "migrate/constants.hpp"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>

#include "migrate/lexer.hpp"
#include "migrate/literal.hpp"
#include "migrate/number.hpp"
#include "migrate/owners.hpp"

namespace relaunch::migrate {
namespace {

class ConstantsReader {
 public:
  ConstantsReader(std::string_view text, std::string_view signature, Entries& entries,
                  Diagnostics& diagnostics)
      : text_(text),
        tokens_(lex(text)),
        nowhere_{signature.size(), signature.size()},
        owners_(entries),
        diagnostics_(diagnostics) {}

  std::vector<Constant> run() {
    if (tokens_.front().kind == Token::Kind::end) return {};
    try {
      const bool call = is_dict_call();
      if (call) at_ = 2;
      const bool braces = peek().is('{');
      if (braces) dict();
      if (call && braces && peek().is(',')) ++at_;
      if (call || !braces) assignments();
      if (call) expect(')');
      if (peek().kind != Token::Kind::end) fail(kUnexpected, "text after them", peek().span);
    } catch (const Failure& failure) {
      diagnostics_.warning(
          kBadConstants,
          "the constants " + in_quotes(text_) + " cannot be read: " + failure.diagnostic.message,
          nowhere_);
    }
    return std::move(rest_);
  }

 private:
  const Token& peek() const { return tokens_[std::min(at_, tokens_.size() - 1)]; }

  void expect(char mark) {
    if (!peek().is(mark)) {
      fail(kUnexpected, std::string("expected '") + mark + "'", peek().span);
    }
    ++at_;
  }

  void dict() {
    ++at_;
    while (!peek().is('}')) {
      const Literal key = read_value(text_, tokens_, at_);
      expect(':');
      const auto known = key_of(key);
      if (!known) fail(kBadName, "expected a name or an index before ':'", key.span);
      value(*known);
      if (!peek().is('}')) expect(',');
    }
    ++at_;
  }

  /// `dict(`, `collections.OrderedDict(`.
  bool is_dict_call() const {
    const std::string_view name = slice(text_, tokens_[0].span);
    return tokens_.size() > 2 && tokens_[1].is('(') &&
           (name == "dict" || name.substr(name.rfind('.') + 1) == "OrderedDict");
  }

  void assignments() {
    while (peek().kind != Token::Kind::end && !peek().is(')')) {
      if (peek().kind != Token::Kind::word) fail(kUnexpected, "expected NAME=value", peek().span);
      const Key key{std::string(slice(text_, peek().span)), {}};
      ++at_;
      expect('=');
      value(key);
      if (peek().kind != Token::Kind::end && !peek().is(')')) expect(',');
    }
  }

  void value(const Key& key) {
    const std::size_t begin = at_;
    const std::size_t end = expression_end();
    std::vector<Token> expression(tokens_.begin() + static_cast<std::ptrdiff_t>(begin),
                                  tokens_.begin() + static_cast<std::ptrdiff_t>(end));
    const std::size_t last =
        expression.empty() ? tokens_[begin].span.begin : expression.back().span.end;
    expression.push_back({Token::Kind::end, '\0', {last, last}});
    at_ = end;
    PyKernelArg* const owner = owners_.find(key);
    std::optional<std::string> text = value_text(expression);
    if (!text) {
      const std::string_view source =
          slice(text_, {tokens_[begin].span.begin, std::max(last, tokens_[begin].span.begin)});
      diagnostics_.warning(
          kOpaqueConstant,
          "the constant " + in_quotes(key.spelled()) + " is not a literal: " + in_quotes(source),
          owner != nullptr ? owner->span : nowhere_);
    } else if (owner != nullptr) {
      if (!key.path.empty() && owner->type == ArgKind::ARG_KERNEL) {
        diagnostics_.warning(kFoldedByIndex,
                             "the constant " + in_quotes(key.spelled()) +
                                 " is folded into the kernel: it is passed, and the kernel does "
                                 "not take it",
                             owner->span);
      }
      owner->value = std::move(*text);
    } else if (const auto [seen, added] = at_name_.emplace(key.spelled(), rest_.size()); added) {
      rest_.push_back({key.spelled(), std::move(*text)});
    } else {
      rest_[seen->second].value = std::move(*text);  // as in a dict, the last one counts
    }
  }

  /// JSON text of a literal; empty where the tokens are another kind of expression.
  std::optional<std::string> value_text(const std::vector<Token>& expression) const {
    try {
      return json_text(read_literal(text_, expression, Flavour::python));
    } catch (const Failure&) {
      return std::nullopt;
    }
  }

  /// The token after an expression: the ',' or '}' that ends it, or the end of the text.
  std::size_t expression_end() const {
    std::size_t depth = 0;
    std::size_t at = at_;
    for (; tokens_[at].kind != Token::Kind::end; ++at) {
      const Token& token = tokens_[at];
      if (token.kind == Token::Kind::invalid) throw Failure{explain(text_, token)};
      if (token.kind != Token::Kind::mark) continue;
      const bool opens = token.is('(') || token.is('[') || token.is('{');
      const bool closes = token.is(')') || token.is(']') || token.is('}');
      if (depth == 0 && (closes || token.is(','))) break;
      if (opens) ++depth;
      if (closes) --depth;
    }
    return at;
  }

  std::string_view text_;
  std::vector<Token> tokens_;
  Span nowhere_;
  Owners owners_;
  Diagnostics& diagnostics_;
  std::size_t at_ = 0;
  std::vector<Constant> rest_;
  std::unordered_map<std::string, std::size_t> at_name_;
};

}  // namespace

std::vector<Constant> read_constants(std::string_view text, std::string_view signature,
                                     Entries& entries, Diagnostics& diagnostics) {
  return ConstantsReader(text, signature, entries, diagnostics).run();
}

}  // namespace relaunch::migrate
