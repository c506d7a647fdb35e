#include "migrate/described.hpp"

#include <algorithm>
#include <string>
#include <utility>

#include "migrate/constants.hpp"
#include "migrate/fields.hpp"
#include "migrate/hints.hpp"
#include "migrate/lexer.hpp"
#include "migrate/names.hpp"
#include "migrate/owners.hpp"

namespace relaunch::migrate {
namespace {

constexpr std::size_t kNone = std::string_view::npos;
constexpr std::string_view kCall = "ASTSource";
constexpr std::string_view kCompile = "triton.compile";  // took the signature itself before 3.0
constexpr std::string_view kMeta = "meta";               // of Inductor in 2.0
constexpr std::string_view kTritonMeta = "triton_meta";
constexpr std::string_view kSignature = "signature";

/// The expressions of interest, where they are given.
struct Parts {
  std::optional<Expression> signature;
  std::optional<Expression> constants;
  std::optional<Expression> constant_keys;
  std::optional<Expression> constant_values;
  std::optional<Expression> attributes;
  std::optional<Expression> attribute_keys;
  std::optional<Expression> attribute_values;

  void take(const Field& field, std::size_t position) {
    constexpr std::string_view kPositions[] = {"fn", "signature", "constants", "attrs"};
    std::string_view name = field.name;
    if (name.empty() && position < std::size(kPositions)) name = kPositions[position];
    if (name == "signature") signature = field.value;
    if (name == "constants" || name == "constexprs") constants = field.value;
    if (name == "constant_keys") constant_keys = field.value;
    if (name == "constant_vals") constant_values = field.value;
    if (name == "attrs" || name == "configs") attributes = field.value;
    if (name == "attrs_keys") attribute_keys = field.value;
    if (name == "attrs_vals") attribute_values = field.value;
  }
};

class DescribedReader {
 public:
  DescribedReader(std::string_view text, Form form, Diagnostics& diagnostics)
      : text_(text),
        tokens_(lex(text, Angles::plain)),
        is_call_(form == Form::ast),
        diagnostics_(diagnostics) {}

  Described run(std::optional<std::string_view> constants) {
    const std::size_t open = opening();
    Parts parts;
    const std::vector<Field> fields = fields_of(text_, tokens_, open);
    // Only calls have positions.
    for (std::size_t i = 0; i < fields.size(); ++i) parts.take(fields[i], is_call_ ? i : kNone);
    if (!parts.signature) {
      fail(kNoSignature, "the facts of a kernel, but no signature among them",
           span_of(tokens_, {open, open + 1}));
    }
    Described out{signature(*parts.signature), {}};
    if (parts.constants) {
      constants = slice(text_, span_of(tokens_, *parts.constants));
    }
    if (parts.constant_keys && parts.constant_values) {
      out.constants = paired_constants(parts, out.entries);
    } else if (constants && *constants != "None") {
      out.constants = read_constants(*constants, text_, out.entries, diagnostics_);
    }
    hints(parts, out.entries);
    return out;
  }

 private:
  /// The bracket of the call or dict.
  std::size_t opening() const {
    for (const std::string_view call : {kCall, kCompile}) {
      for (std::size_t i = 0; tokens_[i].kind != Token::Kind::end; ++i) {
        const Token& token = tokens_[i];
        if (!is_call_ && token.is('{')) return i;
        if (is_call_ && token.kind == Token::Kind::word && tokens_[i + 1].is('(') &&
            slice(text_, token.span).ends_with(call)) {
          return i + 1;
        }
      }
    }
    fail(kUnexpected,
         is_call_ ? "expected a call like ASTSource(fn=..., signature=...)"
                  : "expected a dict with a signature",
         tokens_.front().span);
  }

  Entries signature(Expression expression) {
    const Literal literal = literal_of(text_, tokens_, expression);
    if (literal.kind == Literal::Kind::call) {
      fail(kNotAType,
           in_quotes(slice(text_, literal.span)) + " is computed: expected it written out",
           literal.span);
    }
    return read_signature(literal, diagnostics_);
  }

  /// `[[2], [3, 0]]` and `[64, null]`.
  std::vector<Constant> paired_constants(const Parts& parts, Entries& entries) {
    std::string dict = "{";
    try {
      const Literal keys = literal_of(text_, tokens_, *parts.constant_keys);
      const Literal values = literal_of(text_, tokens_, *parts.constant_values);
      const std::size_t count = std::min(keys.items.size(), values.items.size());
      for (std::size_t i = 0; i < count; ++i) {
        const auto key = key_of(keys.items[i]);
        if (!key) fail(kBadName, "expected a path of indices", keys.items[i].span);
        dict += key->path.empty() ? "'" + key->name + "'" : "(";
        for (const std::uint64_t index : key->path) dict += std::to_string(index) + ",";
        if (!key->path.empty()) dict += ")";
        dict += ": " + std::string(slice(text_, values.items[i].span)) + ", ";
      }
    } catch (const Failure& failure) {
      diagnostics_.warning(kBadConstants,
                           "the constants cannot be read: " + failure.diagnostic.message,
                           failure.diagnostic.span);
      return {};
    }
    return read_constants(dict + "}", text_, entries, diagnostics_);
  }

  void hints(const Parts& parts, Entries& entries) {
    const auto& shown = parts.attributes ? parts.attributes : parts.attribute_keys;
    if (!shown) return;
    Owners owners(entries);
    bool all = false;
    try {
      if (parts.attributes) {
        all = set_hints(literal_of(text_, tokens_, *parts.attributes), owners);
      } else if (parts.attribute_values) {
        all = set_hints(literal_of(text_, tokens_, *parts.attribute_keys),
                        literal_of(text_, tokens_, *parts.attribute_values), owners);
      }
    } catch (const Failure&) {
      all = false;
    }
    if (all) return;
    const Span span = span_of(tokens_, *shown);
    diagnostics_.warning(kHintDropped,
                         "hints are lost: " + in_quotes(slice(text_, span)) + " is not written out",
                         span);
  }

  std::string_view text_;
  std::vector<Token> tokens_;
  bool is_call_;
  Diagnostics& diagnostics_;
};

bool in_name(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
         c == '.';
}

Span with_bracket(std::string_view text, std::size_t begin, std::size_t open, std::size_t longest,
                  std::size_t& futile) {
  const std::size_t end = bracket_end(text, open, longest, futile);
  return {begin, end == kNone ? line_end(text, begin) : end};
}

/// The next call of what ends in `name`; where it is defined it is not called.
std::optional<Span> find_call(std::string_view text, std::string_view name, std::size_t at,
                              std::size_t longest, std::size_t& futile) {
  while ((at = text.find(name, at)) != kNone) {
    std::size_t begin = at;
    at += name.size();
    const std::size_t open = text.find_first_not_of(" \t", at);
    if (open == kNone || text[open] != '(') continue;
    while (begin > 0 && in_name(text[begin - 1])) --begin;
    std::string_view before = text.substr(0, begin);
    before = before.substr(0, before.find_last_not_of(" \t") + 1);
    if (before.ends_with("class") || before.ends_with("def") || in_comment(text, begin, "#"))
      continue;
    return with_bracket(text, begin, open, longest, futile);
  }
  return std::nullopt;
}

/// Whether one of a call's own arguments is `signature=`.
bool gives_signature(std::string_view call) {
  if (!call.ends_with(')') || call.find(kSignature) == kNone) return false;
  const std::vector<Token> tokens = lex(call, Angles::plain);
  try {
    const std::vector<Field> fields = fields_of(call, tokens, 1);
    return std::any_of(fields.begin(), fields.end(),
                       [](const Field& field) { return field.name == kSignature; });
  } catch (const Failure&) {
    return false;
  }
}

/// Whether a dict's first key is its signature, a dict, as in what Inductor of 2.0 wrote.
bool begins_with_signature(std::string_view entries) {
  const auto take = [&entries](std::string_view word) {
    entries.remove_prefix(std::min(entries.find_first_not_of(" \t\r\n"), entries.size()));
    const bool here = entries.starts_with(word);
    if (here) entries.remove_prefix(word.size());
    return here;
  };
  return (take("'signature'") || take("\"signature\"")) && take(":") && take("{");
}

}  // namespace

std::size_t PythonBrackets::passed(std::string_view text, std::size_t at) {
  if (text[at] == '#') return line_end(text, at);
  bool closed = false;
  return string_end(text, at, closed);
}

std::size_t bracket_end(std::string_view text, std::size_t at, std::size_t longest,
                        std::size_t& futile) {
  return partner_end<PythonBrackets>(text, at, longest, futile);
}

Described read_described(std::string_view text, Form form,
                         std::optional<std::string_view> constants, Diagnostics& diagnostics) {
  return DescribedReader(text, form, diagnostics).run(constants);
}

std::optional<Span> find_ast(std::string_view text, std::size_t at, std::size_t longest,
                             std::size_t& futile) {
  const auto source = find_call(text, kCall, at, longest, futile);
  const std::string_view before = source ? text.substr(0, source->begin) : text;
  while (const auto call = find_call(before, kCompile, at, longest, futile)) {
    if (gives_signature(slice(text, *call))) return call;
    at = call->end;
  }
  return source;
}

std::optional<Span> find_inductor(std::string_view text, std::size_t at, std::size_t longest,
                                  std::size_t& futile) {
  while ((at = text.find(kMeta, at)) != kNone) {
    std::size_t begin = at;
    at += kMeta.size();
    const bool is_long = text.substr(0, at).ends_with(kTritonMeta);
    if (is_long) begin = at - kTritonMeta.size();
    if (begin > 0 && in_name(text[begin - 1])) continue;
    std::size_t open = at;
    if (open < text.size() && (text[open] == '"' || text[open] == '\'')) ++open;  // of a key
    open = text.find_first_not_of(" \t", open);
    if (open == kNone || (text[open] != '=' && text[open] != ':')) continue;
    open = text.find_first_not_of(" \t\r\n", open + 1);
    if (open == kNone || text[open] != '{' || in_comment(text, begin, "#")) continue;
    if (!is_long && !begins_with_signature(text.substr(open + 1))) continue;
    return with_bracket(text, begin, open, longest, futile);
  }
  return std::nullopt;
}

bool names_ast(std::string_view text) {
  return text.find(kCall) != kNone ||
         (text.find(kCompile) != kNone && text.find(kSignature) != kNone);
}

bool names_inductor(std::string_view text) {
  if (text.find(kMeta) == kNone) return false;
  std::size_t futile = 0;
  return text.find(kTritonMeta) != kNone || find_inductor(text, 0, kNone, futile).has_value();
}

bool has_signature(std::string_view text) {
  for (std::size_t at = text.find(kSignature); at != kNone; at = text.find(kSignature, at + 1)) {
    std::size_t next = at + kSignature.size();
    if (at == 0 || next >= text.size()) continue;
    const char quote = text[at - 1];
    if ((quote != '"' && quote != '\'') || text[next] != quote) continue;
    next = text.find_first_not_of(" \t\r\n", next + 1);
    if (next == kNone || text[next] != ':') continue;
    next = text.find_first_not_of(" \t\r\n", next + 1);
    if (next != kNone && text[next] == '{') return true;
  }
  return false;
}

bool looks_like_cache(std::string_view text) {
  const auto has = [text](std::string_view key) { return text.find(key) != kNone; };
  return (has("\"num_warps\"") && (has("\"hash\"") || has("\"target\"") || has("\"shared\""))) ||
         (has("\"signature\"") && has("\"options\"") && has("\"key\""));
}

}  // namespace relaunch::migrate
