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

namespace relaunch::migrate {
namespace {

/// Whom a constant is for: a name, or a path of indices.
struct Key {
  std::string name;
  std::vector<std::uint64_t> path;

  std::string spelled() const {
    if (path.empty()) return name;
    if (path.size() == 1) return std::to_string(path[0]);
    std::string out = "(" + std::to_string(path[0]);
    for (std::size_t i = 1; i < path.size(); ++i) out += ", " + std::to_string(path[i]);
    return out + ")";
  }
};

std::optional<Key> key_of(const Literal& literal) {
  if (literal.kind == Literal::Kind::string) {
    if (const auto index = index_value(literal.text.bytes)) return Key{{}, {*index}};
    return Key{literal.text.bytes, {}};
  }
  std::vector<std::uint64_t> path;
  const auto add = [&path](const Literal& number) {
    const auto index = index_value(number.value);
    if (index) path.push_back(*index);
    return index.has_value();
  };
  if (literal.kind == Literal::Kind::number) {
    if (add(literal)) return Key{{}, std::move(path)};
  } else if (literal.kind == Literal::Kind::tuple && !literal.items.empty()) {
    for (const Literal& item : literal.items) {
      if (item.kind != Literal::Kind::number || !add(item)) return std::nullopt;
    }
    return Key{{}, std::move(path)};
  }
  return std::nullopt;
}

/// The parameters of a signature by name and by index.
class Owners {
 public:
  explicit Owners(Entries& entries) : entries_(entries) {
    for (std::size_t i = 0; i < entries.parameters.size(); ++i) {
      if (!entries.parameters[i].name.empty()) by_name_.emplace(entries.parameters[i].name, i);
      if (i < entries.indices.size() && entries.indices[i]) {
        by_index_.emplace(*entries.indices[i], i);
      }
    }
  }

  PyKernelArg* find(const Key& key) {
    if (key.path.empty()) {
      const auto found = by_name_.find(key.name);
      return found == by_name_.end() ? nullptr : &entries_.parameters[found->second];
    }
    std::uint64_t first = key.path[0];
    if (!by_index_.empty()) {
      const auto found = by_index_.find(first);
      if (found == by_index_.end()) return nullptr;
      first = found->second;
    }
    std::vector<PyKernelArg>* level = &entries_.parameters;
    PyKernelArg* owner = nullptr;
    for (std::size_t i = 0; i < key.path.size(); ++i) {
      const std::uint64_t at = i == 0 ? first : key.path[i];
      if (at >= level->size()) return nullptr;
      owner = &(*level)[at];
      level = &owner->nested_tuple;
    }
    return owner;
  }

 private:
  Entries& entries_;
  std::unordered_map<std::string, std::size_t> by_name_;
  std::unordered_map<std::uint64_t, std::size_t> by_index_;
};

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
      if (tokens_.front().is('{')) {
        dict();
      } else {
        assignments();
      }
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
    if (peek().kind != Token::Kind::end) fail(kUnexpected, "text after '}'", peek().span);
  }

  void assignments() {
    while (peek().kind != Token::Kind::end) {
      if (peek().kind != Token::Kind::word) fail(kUnexpected, "expected NAME=value", peek().span);
      const Key key{std::string(slice(text_, peek().span)), {}};
      ++at_;
      expect('=');
      value(key);
      if (peek().kind != Token::Kind::end) expect(',');
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
