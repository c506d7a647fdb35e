#include "migrate/annotations.hpp"

#include <algorithm>
#include <string>
#include <utility>

#include "migrate/described.hpp"
#include "migrate/fields.hpp"
#include "migrate/lexer.hpp"
#include "migrate/literal.hpp"
#include "migrate/signature_literal.hpp"

namespace relaunch::migrate {
namespace {

constexpr std::size_t kNone = std::string_view::npos;
constexpr std::string_view kNode = "PyKernelArg";
constexpr std::string_view kList = "arg_annotations";

/// Whether `c` is the next that is no blank.
bool next_is(std::string_view text, std::size_t at, char c) {
  const std::size_t next = at == kNone ? at : text.find_first_not_of(" \t", at);
  return next != kNone && text[next] == c;
}

/// Whether `place` is in a string in quotes that begins on its line.
bool in_string(std::string_view text, std::size_t place) {
  char quote = '\0';
  const std::size_t newline = text.rfind('\n', place);
  for (std::size_t at = newline == kNone ? 0 : newline + 1; at < place; ++at) {
    const char c = text[at];
    if (quote == '\0') {
      if (c == '"' || c == '\'') quote = c;
    } else if (c == '\\') {
      ++at;
    } else if (c == quote) {
      quote = '\0';
    }
  }
  return quote != '\0';
}

bool opens_list(const Token& token) { return token.is('[') || token.is('('); }

class AnnotationsReader {
 public:
  AnnotationsReader(std::string_view text, Diagnostics& diagnostics)
      : text_(text), tokens_(lex(text, Angles::plain)), diagnostics_(diagnostics) {}

  std::vector<PyKernelArg> run() {
    const std::size_t open = list_at(0);
    if (tokens_[open].kind == Token::Kind::end) {
      fail(kUnexpected, "expected a list of PyKernelArg(...)", tokens_[open].span);
    }
    std::vector<PyKernelArg> out = nodes(fields_of(text_, tokens_, open));
    set_types(out, list_at(partner_of(open) + 1));
    return out;
  }

 private:
  /// The next token that opens a list, or the last token.
  std::size_t list_at(std::size_t at) const {
    while (tokens_[at].kind != Token::Kind::end && !opens_list(tokens_[at])) ++at;
    return at;
  }

  std::size_t partner_of(std::size_t open) const {
    std::size_t depth = 0;
    for (std::size_t at = open;; ++at) {
      const Token& token = tokens_[at];
      if (opens_list(token) || token.is('{')) ++depth;
      if ((token.is(')') || token.is(']') || token.is('}')) && --depth == 0) return at;
    }
  }

  std::vector<PyKernelArg> nodes(const std::vector<Field>& fields) {
    if (++depth_ > kMaxTupleDepth + 1) {
      fail(kTooDeep, "tuples nested deeper than " + std::to_string(kMaxTupleDepth),
           span_of(tokens_, fields.front().value));
    }
    std::vector<PyKernelArg> out;
    out.reserve(fields.size());
    for (const Field& field : fields) out.push_back(node(field.value));
    --depth_;
    return out;
  }

  PyKernelArg node(Expression expression) {
    const Span span = span_of(tokens_, expression);
    const bool call = expression.begin + 1 < expression.end &&
                      tokens_[expression.begin + 1].is('(') &&
                      slice(text_, tokens_[expression.begin].span).ends_with(kNode);
    if (!call) {
      fail(kUnexpected, "expected PyKernelArg(...), got " + in_quotes(slice(text_, span)), span);
    }
    PyKernelArg out;
    out.span = span;
    std::optional<Expression> nested;
    std::string_view kind;
    const std::vector<Field> fields = fields_of(text_, tokens_, expression.begin + 1);
    for (std::size_t i = 0; i < fields.size(); ++i) {
      const Field& field = fields[i];
      if (field.name == "type" || (field.name.empty() && i == 1)) {
        kind = slice(text_, span_of(tokens_, field.value));
      } else if (field.name == "nested_tuple" || field.name.empty()) {
        nested = field.value;
      }
    }
    kind = kind.substr(kind.rfind('.') + 1);
    if (kind == "ARG_CONSTEXPR" || kind == "0") {
      out.type = ArgKind::ARG_CONSTEXPR;
    } else if (kind == "ARG_TUPLE" || kind == "2") {
      out.type = ArgKind::ARG_TUPLE;
      if (!nested || !opens_list(tokens_[nested->begin])) {
        fail(kUnexpected, "expected nested_tuple=(...) of an ARG_TUPLE", span);
      }
      out.nested_tuple = nodes(fields_of(text_, tokens_, nested->begin));
    } else if (kind != "ARG_KERNEL" && kind != "1") {
      fail(kUnexpected, "expected type=ARG_CONSTEXPR, ARG_KERNEL or ARG_TUPLE", span);
    }
    return out;
  }

  void set_types(std::vector<PyKernelArg>& tree, std::size_t list) {
    std::vector<PyKernelArg> types;
    if (tokens_[list].kind != Token::Kind::end) {
      const Literal literal = literal_of(text_, tokens_, {list, partner_or_end(list)});
      if (literal.kind == Literal::Kind::list || literal.kind == Literal::Kind::tuple) {
        types = read_signature(literal, diagnostics_).parameters;
      }
    }
    const std::size_t wanted = count(tree);
    if (types.size() != wanted) {
      const std::size_t end = text_.size();
      fail(kNoSignature,
           std::to_string(wanted) + " kernel parameters are annotated, and " +
               std::to_string(types.size()) + " types are listed",
           {end, end});
    }
    std::size_t next = 0;
    assign(tree, types, next);
  }

  std::size_t partner_or_end(std::size_t open) const {
    fields_of(text_, tokens_, open);  // throws where there is none
    return partner_of(open) + 1;
  }

  static std::size_t count(const std::vector<PyKernelArg>& nodes) {
    std::size_t out = 0;
    for (const PyKernelArg& node : nodes) {
      out += node.type == ArgKind::ARG_KERNEL ? 1 : count(node.nested_tuple);
    }
    return out;
  }

  static void assign(std::vector<PyKernelArg>& nodes, std::vector<PyKernelArg>& types,
                     std::size_t& next) {
    for (PyKernelArg& node : nodes) {
      if (node.type == ArgKind::ARG_KERNEL) {
        node = std::move(types[next++]);
      } else {
        assign(node.nested_tuple, types, next);
      }
    }
  }

  std::string_view text_;
  std::vector<Token> tokens_;
  Diagnostics& diagnostics_;
  std::size_t depth_ = 0;
};

}  // namespace

bool names_annotations(std::string_view text) {
  if (text.starts_with(kList) && next_is(text, kList.size(), '=')) return true;
  for (std::size_t at = text.find(kNode); at != kNone; at = text.find(kNode, at + 1)) {
    const std::size_t end = text.find_first_of(" \t\r\n:,=()[]{}", at);
    if (!next_is(text, end, ':') && !in_string(text, at)) return true;
  }
  return false;
}

std::optional<Span> find_annotations(std::string_view text, std::size_t at, std::size_t longest,
                                     std::size_t& futile) {
  while ((at = text.find(kList, at)) != kNone) {
    const std::size_t begin = at;
    at += kList.size();
    const std::size_t equals = text.find_first_not_of(" \t", at);
    if (equals == kNone || text[equals] != '=') continue;
    const std::size_t open = text.find_first_not_of(" \t", equals + 1);
    if (open == kNone || text[open] != '[') continue;
    std::size_t end = bracket_end(text, open, longest, futile);
    if (end == kNone) return Span{begin, std::min(text.find('\n', begin), text.size())};
    // `flat_signature = [...]` on the next line.
    const std::size_t next = text.find_first_not_of(" \t\r\n", end);
    constexpr std::string_view kTypes = "flat_signature = [";
    if (next != kNone && text.substr(next).starts_with(kTypes)) {
      const std::size_t close = bracket_end(text, next + kTypes.size() - 1, longest, futile);
      if (close != kNone) end = close;
    }
    return Span{begin, end};
  }
  return std::nullopt;
}

std::vector<PyKernelArg> read_annotations(std::string_view text, Diagnostics& diagnostics) {
  return AnnotationsReader(text, diagnostics).run();
}

}  // namespace relaunch::migrate
