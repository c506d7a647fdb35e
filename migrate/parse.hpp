#pragma once
// One signature's text, of any form that is read, to its tree.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "migrate/diagnostic.hpp"
#include "migrate/lexer.hpp"
#include "migrate/quoted_text.hpp"
#include "precompiled/core/tree.hpp"

namespace relaunch::migrate {

enum class Form {
  automatic,  // told from the text: never the form of a result
  csv,        // comma text, which is also what dump() writes
  aot,        // comma text of the ahead-of-time compiler, with hints and constants
  dict,       // a Python literal: dict, list, tuple, namedtuple repr, string of comma text
  json,       // the same in JSON, read strictly
  ast,        // a call of ASTSource
  inductor,   // triton_meta={...}, or its dict
  values,     // a list of the values that a kernel is called with
  ttir,       // the parameters of a function of TTIR or TTGIR, or the function
  c,          // the C source of a generated launcher
  cache,      // the JSON that Triton writes of one kernel
  tree,       // a line of `migrate --json` or of dump(), or PyKernelArg calls with their types
};

/// The forms by the names that `--form` takes.
std::optional<Form> find_form(std::string_view name);
std::string_view form_name(Form form);
std::vector<std::string_view> form_names();

/// A constant that belongs to no parameter of the signature.
struct Constant {
  std::string name;   // or the index, in decimal
  std::string value;  // JSON text
};

struct Parsed {
  Form form = Form::csv;
  Tree tree;  // without parameters where there was an error
  std::vector<Constant> constants;
  std::vector<Diagnostic> diagnostics;  // spans are into tree.text

  /// Where tree.text stands in what was read; empty where it is all of it.
  std::optional<QuotedText> origin;

  /// No error; warnings are allowed.
  bool ok() const;
  /// The first error; only where !ok().
  const Diagnostic& error() const;
};

/// The most bytes that a signature may have: longer ones are RL024.
inline constexpr std::size_t kLongestSignature = std::size_t{1} << 20U;

/// The result for a signature that is longer. `reason` is what is said of it, `text` its beginning.
Parsed too_long(std::string_view text, Form form, std::string reason);

/// Comma text or a Python literal (Form::csv or Form::dict), by the first token that tells: a
/// literal quotes its types. `tokens` are those of `text`, which looks like no other form.
Form detect(std::string_view text, const std::vector<Token>& tokens);

/// Reads one signature. `constants`, if any, is the text of a dict of constants by name, index or
/// path of indices, or `NAME=value, ...`: a parameter's constant becomes its `value`, the others
/// are listed. Bytes that are not UTF-8 are an error, and are U+FFFD in the tree's text. Never
/// throws for what a text holds; linear in its length.
Parsed parse(std::string_view text, Form form = Form::automatic,
             std::optional<std::string_view> constants = std::nullopt);

}  // namespace relaunch::migrate
