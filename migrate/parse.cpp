#include "migrate/parse.hpp"

#include <algorithm>
#include <utility>

#include "migrate/constants.hpp"
#include "migrate/entries.hpp"
#include "migrate/json_line.hpp"
#include "migrate/lexer.hpp"
#include "migrate/literal.hpp"
#include "migrate/mlir.hpp"
#include "migrate/names.hpp"
#include "migrate/signature_literal.hpp"
#include "migrate/utf8.hpp"

namespace relaunch::migrate {
namespace {

constexpr std::pair<std::string_view, Form> kForms[] = {
    {"auto", Form::automatic}, {"csv", Form::csv},   {"dict", Form::dict},
    {"json", Form::json},      {"ttir", Form::ttir}, {"tree", Form::tree},
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
    const bool name_left_out = key.kind == Token::Kind::word && !tokens[2].is(':');
    return name_left_out ? Form::csv : Form::dict;
  }
  const auto telling = std::find_if_not(tokens.begin(), tokens.end(), is_bracket);
  if (telling->kind == Token::Kind::string || is_unclosed_string(*telling)) return Form::dict;
  if (telling->kind == Token::Kind::word) {
    const bool call = std::next(telling)->is('(') && is_dotted_name(slice(text, telling->span));
    return call ? Form::dict : Form::csv;
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
  if (form == Form::csv || form == Form::tree) {
    return {read_entries(text, tokens, diagnostics), {}};
  }
  const Flavour flavour = form == Form::json ? Flavour::json : Flavour::python;
  return read_signature(read_literal(text, tokens, flavour), diagnostics);
}

/// Reads a line of `migrate --json` into `out`, where the text is one.
bool read_as_tree_line(std::string_view text, const std::vector<Token>& tokens, Form form,
                       Parsed& out) {
  if (form == Form::tree && tokens.front().is('{') && !tokens[1].is('}')) {
    out.form = Form::tree;
    read_tree_line(read_literal(text, tokens, Flavour::json, kDeepestLine), out);
    return true;
  }
  if (form != Form::automatic || text.find("\"parameters\"") == std::string_view::npos) {
    return false;
  }
  const auto object = read_json_line(text, tokens);
  if (!object || !is_tree_line(*object)) return false;
  out.form = Form::tree;
  read_tree_line(*object, out);
  return true;
}

/// Makes what was read the tree, with the constants that were given beside it.
void keep(Entries entries, std::string_view text, std::optional<std::string_view> constants,
          Parsed& out, Diagnostics& diagnostics) {
  if (constants) out.constants = read_constants(*constants, text, entries, diagnostics);
  out.tree.parameters = std::move(entries.parameters);
}

void read_all(std::string_view text, Form form, std::optional<std::string_view> constants,
              Parsed& out, Diagnostics& diagnostics) {
  reject_control(text);
  if (form == Form::ttir || (form == Form::automatic && looks_like_mlir(text))) {
    out.form = Form::ttir;
    return keep({read_mlir(text, diagnostics), {}}, text, constants, out, diagnostics);
  }
  const std::vector<Token> tokens = lex(text);
  if (read_as_tree_line(text, tokens, form, out)) return;
  out.form = form == Form::automatic ? detect(text, tokens) : form;
  Entries entries = read(text, tokens, out.form, diagnostics);
  keep(std::move(entries), text, constants, out, diagnostics);
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

Parsed parse(std::string_view text, Form form, std::optional<std::string_view> constants) {
  Parsed out;
  out.form = form == Form::automatic ? Form::csv : form;
  const std::size_t invalid = first_invalid(text);
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
