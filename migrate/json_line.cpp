#include "migrate/json_line.hpp"

#include <utility>

#include "migrate/entries.hpp"
#include "migrate/number.hpp"
#include "precompiled/core/types.hpp"

namespace relaunch::migrate {
namespace {

const Literal* find(const Literal& object, std::string_view key) {
  for (std::size_t i = 0; i < object.keys.size(); ++i) {
    if (object.keys[i].text.bytes == key) return &object.items[i];
  }
  return nullptr;
}

const Literal& want(const Literal& object, std::string_view key, Literal::Kind kind) {
  const Literal* const found = find(object, key);
  if (found == nullptr || found->kind != kind) {
    fail(kBadLine, "expected " + in_quotes(key) + " with its right kind of value in this object",
         found == nullptr ? object.span : found->span);
  }
  return *found;
}

/// A string that may be left out or null.
const Literal* optional_string(const Literal& object, std::string_view key) {
  const Literal* const found = find(object, key);
  if (found == nullptr || found->kind == Literal::Kind::none) return nullptr;
  return &want(object, key, Literal::Kind::string);
}

class TreeLineReader {
 public:
  TreeLineReader(Span whole, Diagnostics& diagnostics) : whole_(whole), diagnostics_(diagnostics) {}

  std::vector<PyKernelArg> nodes(const Literal& list, std::size_t depth) {
    if (depth > kMaxTupleDepth) {
      fail(kTooDeep, "tuples nested deeper than " + std::to_string(kMaxTupleDepth), list.span);
    }
    std::vector<PyKernelArg> out;
    NamesSeen names;
    for (const Literal& item : list.items) {
      if (item.kind != Literal::Kind::dict) fail(kBadLine, "expected a parameter", item.span);
      out.push_back(node(item, depth));
      if (const Literal* const name = optional_string(item, "name")) {
        out.back().name = name->text.bytes;
        names.add(name->text.bytes, name->span, diagnostics_);
      }
    }
    return out;
  }

 private:
  void type(PyKernelArg& out, const Literal& literal) {
    const std::string& word = literal.text.bytes;
    const std::vector<Token> tokens = lex(word);
    const bool one = tokens.size() == 2 && slice(word, tokens[0].span) == word;
    if (!one || word == "constexpr") {
      fail(kUnknownType, "unknown type " + in_quotes(word), literal.span);
    }
    set_type(out, word, literal.span, diagnostics_);
  }

  PyKernelArg node(const Literal& object, std::size_t depth) {
    PyKernelArg out;
    const Literal& kind = want(object, "kind", Literal::Kind::string);
    if (kind.text.bytes == "ARG_CONSTEXPR") {
      out.type = ArgKind::ARG_CONSTEXPR;
    } else if (kind.text.bytes == "ARG_KERNEL") {
      type(out, want(object, "type", Literal::Kind::string));
    } else if (kind.text.bytes == "ARG_TUPLE") {
      out.type = ArgKind::ARG_TUPLE;
      out.nested_tuple = nodes(want(object, "items", Literal::Kind::list), depth + 1);
    } else {
      fail(kBadLine, in_quotes(kind.text.bytes) + " is no kind of parameter", kind.span);
    }
    if (const Literal* const hint = optional_string(object, "hint")) {
      set_hint(out, hint->text.bytes, hint->span, diagnostics_);
    }
    if (const Literal* const value = find(object, "value")) out.value = json_text(*value).value();
    out.span = whole_;
    return out;
  }

  Span whole_;
  Diagnostics& diagnostics_;
};

std::size_t offset_of(const Literal& number) {
  const auto offset = index_value(number.value);
  if (!offset) fail(kBadLine, "expected a byte offset", number.span);
  return *offset;
}

Diagnostic read_diagnostic(const Literal& object, std::size_t size) {
  if (object.kind != Literal::Kind::dict) fail(kBadLine, "expected a diagnostic", object.span);
  Diagnostic out;
  out.code = want(object, "code", Literal::Kind::string).text.bytes;
  const Literal& severity = want(object, "severity", Literal::Kind::string);
  if (severity.text.bytes == "warning") out.severity = Severity::warning;
  out.message = want(object, "message", Literal::Kind::string).text.bytes;
  const Literal& span = want(object, "span", Literal::Kind::list);
  if (span.items.size() != 2) fail(kBadLine, "expected two byte offsets", span.span);
  out.span = {offset_of(span.items[0]), offset_of(span.items[1])};
  if (out.span.begin > out.span.end || out.span.end > size) {
    fail(kBadLine, "this span is outside the text", span.span);
  }
  return out;
}

bool is_type(const Literal& literal) {
  return literal.kind == Literal::Kind::string && canonical_type(literal.text.bytes).has_value();
}

}  // namespace

std::optional<Literal> read_json_line(std::string_view text, const std::vector<Token>& tokens) {
  if (!tokens.front().is('{') || text.find("\"text\"") == std::string_view::npos) {
    return std::nullopt;
  }
  try {
    return read_literal(text, tokens, Flavour::json, kDeepestLine);
  } catch (const Failure&) {
    return std::nullopt;
  }
}

bool is_tree_line(const Literal& object) {
  const Literal* const parameters = find(object, "parameters");
  const Literal* const text = find(object, "text");
  return parameters != nullptr && parameters->kind == Literal::Kind::list && text != nullptr &&
         text->kind == Literal::Kind::string;
}

void read_tree_line(const Literal& object, Parsed& out) {
  if (object.kind != Literal::Kind::dict) fail(kBadLine, "expected an object", object.span);
  const Literal& text = want(object, "text", Literal::Kind::string);
  const Literal& parameters = want(object, "parameters", Literal::Kind::list);
  const std::size_t size = text.text.bytes.size();
  Diagnostics found;
  Tree tree{text.text.bytes, TreeLineReader({0, size}, found).nodes(parameters, 0)};
  std::vector<Constant> constants;
  if (find(object, "constants") != nullptr) {
    const Literal& dict = want(object, "constants", Literal::Kind::dict);
    for (std::size_t i = 0; i < dict.items.size(); ++i) {
      constants.push_back({dict.keys[i].text.bytes, json_text(dict.items[i]).value()});
    }
  }
  std::vector<Diagnostic> diagnostics = found.take();
  if (!diagnostics.empty()) throw Failure{std::move(diagnostics.front())};
  if (find(object, "diagnostics") != nullptr) {
    for (const Literal& item : want(object, "diagnostics", Literal::Kind::list).items) {
      diagnostics.push_back(read_diagnostic(item, size));
    }
  }
  out.tree = std::move(tree);
  out.constants = std::move(constants);
  out.diagnostics = std::move(diagnostics);
  out.origin = text.text;
}

std::optional<Row> find_row(const Literal& object) {
  const Literal* const text = find(object, "text");
  if (text == nullptr || text->kind != Literal::Kind::string) return std::nullopt;
  bool is_row = object.keys.size() == 1;
  for (const std::string_view key :
       {"constants", "source", "form", "syntax", "id", "derived", "tags"}) {
    const Literal* const value = find(object, key);
    is_row = is_row || (value != nullptr && !is_type(*value));
  }
  if (!is_row) return std::nullopt;
  const Literal* constants = find(object, "constants");
  if (constants != nullptr && constants->kind != Literal::Kind::string &&
      constants->kind != Literal::Kind::dict) {
    constants = nullptr;
  }
  return Row{text, constants};
}

}  // namespace relaunch::migrate
