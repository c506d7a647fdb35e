#include "migrate/parse.hpp"

#include <algorithm>
#include <utility>

#include "migrate/annotations.hpp"
#include "migrate/c_launcher.hpp"
#include "migrate/constants.hpp"
#include "migrate/described.hpp"
#include "migrate/entries.hpp"
#include "migrate/json_line.hpp"
#include "migrate/lexer.hpp"
#include "migrate/literal.hpp"
#include "migrate/mlir.hpp"
#include "migrate/names.hpp"
#include "migrate/signature_literal.hpp"
#include "migrate/surprises.hpp"
#include "migrate/utf8.hpp"
#include "migrate/values.hpp"

namespace relaunch::migrate {
namespace {

constexpr std::pair<std::string_view, Form> kForms[] = {
    {"auto", Form::automatic},    {"csv", Form::csv},
    {"aot", Form::aot},           {"dict", Form::dict},
    {"json", Form::json},         {"ast", Form::ast},
    {"inductor", Form::inductor}, {"values", Form::values},
    {"ttir", Form::ttir},         {"c", Form::c},
    {"cache", Form::cache},       {"tree", Form::tree},
};

bool is_bracket(const Token& token) {
  constexpr std::string_view kBrackets = "()[],";
  return token.kind == Token::Kind::mark && kBrackets.find(token.mark) != std::string_view::npos;
}

}  // namespace

Form detect(std::string_view text, const std::vector<Token>& tokens) {
  const Token& first = tokens.front();
  if (first.is('{')) {
    const Token& key = tokens[1];
    const bool name_left_out = key.kind == Token::Kind::word && !tokens[2].is(':') &&
                               !slice(text, key.span).starts_with("**");  // `{**others, ...}`
    return name_left_out ? Form::csv : Form::dict;
  }
  if (looks_like_values(text, tokens)) return Form::values;
  const auto telling = std::find_if_not(tokens.begin(), tokens.end(), is_bracket);
  if (telling->kind == Token::Kind::string || is_unclosed_string(*telling)) return Form::dict;
  if (telling->kind == Token::Kind::word) {
    const bool call = std::next(telling)->is('(') && is_dotted_name(slice(text, telling->span));
    if (call) return Form::dict;
    return looks_like_aot(text, tokens) ? Form::aot : Form::csv;
  }
  return first.is('[') ? Form::dict : Form::csv;
}

namespace {

/// A NUL is said to be one before the half word in front of it is called unknown.
void reject_control(std::string_view text) {
  const auto found = std::find_if(text.begin(), text.end(), is_control);
  if (found == text.end()) return;
  const auto at = static_cast<std::size_t>(found - text.begin());
  throw Failure{explain_control(text, at)};
}

Entries read(std::string_view text, const std::vector<Token>& tokens, Form form,
             Diagnostics& diagnostics) {
  if (tokens.front().kind == Token::Kind::end) {
    fail(kEmpty, "the text is empty: a kernel without arguments is written {}",
         tokens.front().span);
  }
  const Flavour flavour = form == Form::json ? Flavour::json : Flavour::python;
  return read_signature(read_literal(text, tokens, flavour), diagnostics);
}

/// Reads a line of `migrate --json` into `out`, where the text is one.
bool read_as_tree_line(std::string_view text, Form form, Parsed& out) {
  const std::size_t begin = text.find_first_not_of(" \t\r\n");
  if (begin == std::string_view::npos || text[begin] != '{') return false;
  if (form == Form::automatic && text.find("\"parameters\"") == std::string_view::npos)
    return false;
  const std::vector<Token> tokens = lex(text);
  if (form == Form::tree) {
    if (tokens[1].is('}')) return false;
    out.form = Form::tree;
    read_tree_line(read_literal(text, tokens, Flavour::json, kDeepestLine), out);
    return true;
  }
  const auto object = read_json_line(text, tokens);
  if (!object || !is_tree_line(*object)) return false;
  out.form = Form::tree;
  read_tree_line(*object, out);
  return true;
}

/// The form of a text that is told without its tokens; automatic where it is not.
Form told_by_look(std::string_view text) {
  if (looks_like_mlir(text)) return Form::ttir;
  const std::size_t begin = text.find_first_not_of(" \t\r\n");
  if (begin == std::string_view::npos) return Form::automatic;
  const char first = text[begin];
  if (first == '{') {
    if (looks_like_cache(text)) return Form::cache;
    return has_signature(text) ? Form::inductor : Form::automatic;
  }
  if (names_annotations(text.substr(begin))) return Form::tree;
  if (first == '"' || first == '\'' || first == '(' || first == '[') return Form::automatic;
  if (names_c_launcher(text)) return Form::c;
  if (names_ast(text)) return Form::ast;
  return names_inductor(text) ? Form::inductor : Form::automatic;
}

/// Reads `text`, whose form is known and is neither automatic nor a line of JSON.
Described read_form(std::string_view text, Form form, std::optional<std::string_view> constants,
                    Diagnostics& diagnostics) {
  switch (form) {
    case Form::ast:
    case Form::inductor:
    case Form::cache: return read_described(text, form, constants, diagnostics);
    default: break;
  }
  Described out;
  if (form == Form::aot) {
    const std::vector<Token> tokens = lex(text);
    if (tokens.front().kind == Token::Kind::end) {
      fail(kEmpty, "the text is empty: expected types", tokens.front().span);
    }
    out.entries.parameters = read_aot_entries(text, tokens, diagnostics);
  } else if (form == Form::values) {
    out.entries.parameters = read_values(text, diagnostics);
  } else if (form == Form::tree && names_annotations(text)) {
    out.entries.parameters = read_annotations(text, diagnostics);
  } else if (form == Form::csv || form == Form::tree) {
    out.entries.parameters = read_entries(text, lex(text), diagnostics);
  } else if (form == Form::ttir) {
    out.entries.parameters = read_mlir(text, diagnostics);
  } else if (form == Form::c) {
    out.entries.parameters = read_c_launcher(text, diagnostics);
  } else {
    out.entries = read(text, lex(text), form, diagnostics);
  }
  if (constants) out.constants = read_constants(*constants, text, out.entries, diagnostics);
  return out;
}

void read_all(std::string_view text, Form form, std::optional<std::string_view> constants,
              Parsed& out, Diagnostics& diagnostics) {
  if (form == Form::automatic || form == Form::tree) {
    if (read_as_tree_line(text, form, out)) return;
    if (form == Form::automatic) form = told_by_look(text);
    if (form == Form::automatic) form = detect(text, lex(text));
  }
  out.form = form;
  if (form == Form::csv && !constants) {  // the most frequent: nothing to describe
    out.tree.parameters = read_entries(text, lex(text), diagnostics);
  } else {
    Described read = read_form(text, form, constants, diagnostics);
    out.constants = std::move(read.constants);
    out.tree.parameters = std::move(read.entries.parameters);
  }
  if (!diagnostics.has_error()) warn_of_surprises(out.tree, form, diagnostics);
}

}  // namespace

std::optional<Form> find_form(std::string_view name) {
  for (const auto& [known, form] : kForms) {
    if (known == name) return form;
  }
  return std::nullopt;
}

std::string_view form_name(Form form) {
  const auto* const found =
      std::find_if(std::begin(kForms), std::end(kForms),
                   [form](const auto& entry) { return entry.second == form; });
  return found->first;
}

std::vector<std::string_view> form_names() {
  std::vector<std::string_view> out;
  for (const auto& entry : kForms) out.push_back(entry.first);
  return out;
}

bool Parsed::ok() const {
  return std::none_of(diagnostics.begin(), diagnostics.end(),
                      [](const Diagnostic& d) { return d.severity == Severity::error; });
}

const Diagnostic& Parsed::error() const {
  return *std::find_if(diagnostics.begin(), diagnostics.end(),
                       [](const Diagnostic& d) { return d.severity == Severity::error; });
}

Parsed too_long(std::string_view text, Form form, std::string reason) {
  constexpr std::size_t kShown = 80;  // code points
  Parsed out;
  out.form = form == Form::automatic ? Form::csv : form;
  text = text.substr(0, advance(text, 0, kShown));
  out.tree.text = replace_invalid(text);
  out.diagnostics.push_back(
      {std::string(kTooLong), Severity::error, std::move(reason), {0, out.tree.text.size()}});
  return out;
}

Parsed parse(std::string_view text, Form form, std::optional<std::string_view> constants) {
  if (text.size() > kLongestSignature) {
    return too_long(text, form,
                    "longer than the " + std::to_string(kLongestSignature) +
                        " bytes that a signature may have: not read");
  }
  Parsed out;
  out.form = form == Form::automatic ? Form::csv : form;
  const bool plain = is_plain_ascii(text);
  const std::size_t invalid = plain ? std::string_view::npos : first_invalid(text);
  if (invalid != std::string_view::npos) {
    constexpr std::size_t kReplacement = 3;  // bytes of U+FFFD
    out.tree.text = replace_invalid(text);
    out.diagnostics.push_back({std::string(kNotUtf8),
                               Severity::error,
                               "this byte is not UTF-8",
                               {invalid, invalid + kReplacement}});
    return out;
  }
  out.tree.text = text;
  Diagnostics diagnostics;
  std::optional<Diagnostic> last;
  try {
    if (!plain) reject_control(text);
    read_all(text, form, constants, out, diagnostics);
  } catch (Failure& failure) {
    last = std::move(failure.diagnostic);
  }
  for (Diagnostic& found : diagnostics.take()) out.diagnostics.push_back(std::move(found));
  if (last) out.diagnostics.push_back(std::move(*last));
  if (!out.ok()) {
    out.tree.parameters.clear();
    out.constants.clear();
  }
  return out;
}

}  // namespace relaunch::migrate
