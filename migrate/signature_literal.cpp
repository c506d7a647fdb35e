#include "migrate/signature_literal.hpp"

#include <algorithm>
#include <string>
#include <type_traits>
#include <unordered_set>
#include <utility>

#include "migrate/entries.hpp"
#include "migrate/lexer.hpp"
#include "migrate/number.hpp"

namespace relaunch::migrate {
namespace {

bool is_sequence(const Literal& literal) {
  return literal.kind == Literal::Kind::list || literal.kind == Literal::Kind::tuple;
}

const char* describe(Literal::Kind kind) {
  switch (kind) {
    case Literal::Kind::string: return "a string";
    case Literal::Kind::number: return "a number";
    case Literal::Kind::boolean: return "a boolean";
    case Literal::Kind::none: return "None";
    case Literal::Kind::list: return "a list";
    case Literal::Kind::tuple: return "a tuple";
    case Literal::Kind::dict: return "a dict";
    case Literal::Kind::call: return "a call";
  }
  return "";
}

/// Moves what was found in a string's contents to where the string stands.
void relocate(PyKernelArg& node, const QuotedText& text) {
  node.span = text.source_of(node.span);
  for (PyKernelArg& item : node.nested_tuple) relocate(item, text);
}

/// Runs `read` over a string's contents, its diagnostics and nodes placed in the source.
template <typename Read>
auto inside(const Literal& string, Diagnostics& diagnostics, Read read) {
  const auto place = [&string](Diagnostic diagnostic) {
    // An empty string, or the end of one, has no byte of its own: point at the literal.
    diagnostic.span = diagnostic.span.begin >= string.text.bytes.size()
                          ? Span{string.span.end - 1, string.span.end}
                          : string.text.source_of(diagnostic.span);
    return diagnostic;
  };
  Diagnostics inner;
  std::optional<Diagnostic> last;
  std::decay_t<decltype(read(string.text.bytes, inner))> out{};
  try {
    out = read(string.text.bytes, inner);
  } catch (Failure& failure) {
    last = place(std::move(failure.diagnostic));
  }
  for (Diagnostic& found : inner.take()) diagnostics.add(place(std::move(found)));
  if (last) throw Failure{std::move(*last)};
  return out;
}

PyKernelArg type_of(const Literal& string, Diagnostics& diagnostics) {
  PyKernelArg out = inside(string, diagnostics, read_type);
  relocate(out, string.text);
  return out;
}

/// `("*fp32", 16)`: never a tuple argument, whose items are all type texts.
bool is_hinted(const Literal& literal) {
  return is_sequence(literal) && literal.items.size() == 2 &&
         literal.items[0].kind == Literal::Kind::string &&
         literal.items[1].kind == Literal::Kind::number;
}

PyKernelArg read_item(const Literal& literal, Diagnostics& diagnostics);

PyKernelArg read_tuple(const Literal& literal, Diagnostics& diagnostics) {
  PyKernelArg out;
  out.type = ArgKind::ARG_TUPLE;
  out.span = literal.span;
  NamesSeen names;
  for (std::size_t i = 0; i < literal.items.size(); ++i) {
    PyKernelArg item = read_item(literal.items[i], diagnostics);
    if (literal.kind == Literal::Kind::call && !literal.names[i].empty()) {
      item.name = literal.names[i];
      names.add(literal.names[i], literal.items[i].span, diagnostics);
    }
    out.nested_tuple.push_back(std::move(item));
  }
  return out;
}

PyKernelArg read_item(const Literal& literal, Diagnostics& diagnostics) {
  if (literal.kind == Literal::Kind::string) return type_of(literal, diagnostics);
  if (is_hinted(literal)) {
    PyKernelArg out = type_of(literal.items[0], diagnostics);
    set_hint(out, literal.items[1].value, literal.items[1].span, diagnostics);
    return out;
  }
  if (is_sequence(literal) || literal.kind == Literal::Kind::call) {
    return read_tuple(literal, diagnostics);
  }
  fail(kNotAType,
       std::string("expected a type text or a tuple of them, got ") + describe(literal.kind),
       literal.span);
}

/// The index that a key is, as a number or in a string (JSON has no other way); empty for a name.
std::optional<std::uint64_t> index_of(const Literal& key) {
  const std::string& text = key.kind == Literal::Kind::string ? key.text.bytes : key.value;
  if (text.empty() ||
      !std::all_of(text.begin(), text.end(), [](char c) { return c >= '0' && c <= '9'; })) {
    return std::nullopt;
  }
  const auto index = index_value(text);
  if (!index) fail(kBadName, "an index this large is not read", key.span);
  return index;
}

Entries read_dict(const Literal& dict, Diagnostics& diagnostics) {
  Entries out;
  NamesSeen names;
  std::unordered_set<std::uint64_t> seen;
  for (std::size_t i = 0; i < dict.items.size(); ++i) {
    const Literal& key = dict.keys[i];
    const bool plain = key.kind == Literal::Kind::string || key.kind == Literal::Kind::number;
    const auto index = plain ? index_of(key) : std::nullopt;
    PyKernelArg entry = read_item(dict.items[i], diagnostics);
    if (index) {
      if (!seen.insert(*index).second) {
        diagnostics.error(kDuplicateName, "index " + std::to_string(*index) + " stands twice",
                          key.span);
      }
    } else if (key.kind == Literal::Kind::string) {
      entry.name = key.text.bytes;
      names.add(key.text.bytes, key.span, diagnostics);
    } else {
      fail(kBadName, "expected a parameter's name or index before ':'", key.span);
    }
    out.parameters.push_back(std::move(entry));
    out.indices.push_back(index);
  }
  return out;
}

}  // namespace

Entries read_signature(const Literal& literal, Diagnostics& diagnostics) {
  if (literal.kind == Literal::Kind::dict) return read_dict(literal, diagnostics);
  if (literal.kind == Literal::Kind::string) {
    auto parameters = inside(literal, diagnostics, [](std::string_view text, Diagnostics& inner) {
      return read_entries(text, lex(text), inner);
    });
    for (PyKernelArg& node : parameters) relocate(node, literal.text);
    return {std::move(parameters), {}};
  }
  if (is_sequence(literal) || literal.kind == Literal::Kind::call) {
    return {read_tuple(literal, diagnostics).nested_tuple, {}};
  }
  fail(kNotAType, std::string("expected a signature, got ") + describe(literal.kind), literal.span);
}

}  // namespace relaunch::migrate
