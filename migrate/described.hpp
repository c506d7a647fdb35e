#pragma once
// Signatures that stand among other facts of a kernel, in Python source or JSON:
//
//   triton.compile(k, signature="...", constants={...}, configs=[...])  before Triton 3.0
//   ASTSource(fn=k, signature={...}, constants={...}, attrs=...)       Triton 3.0 to 3.2
//   ASTSource(k, {...}, constexprs={(2,): 64}, attrs={(0,): [...]})    3.3 and later
//   triton_meta={'signature': {...}, 'constants': {...}, 'configs': [...]}    Inductor
//   meta={'signature': {...}, ...}                                     Inductor of PyTorch 2.0
//   {"name": "k", "signature": {...}, "constant_keys": [...], ...}     Triton's JSON of one kernel

#include <cstddef>
#include <optional>
#include <string_view>
#include <vector>

#include "migrate/diagnostic.hpp"
#include "migrate/parse.hpp"
#include "migrate/scan.hpp"
#include "migrate/signature_literal.hpp"

namespace relaunch::migrate {

/// What was read: entries with their hints and values, and the constants of nobody.
struct Described {
  Entries entries;
  std::vector<Constant> constants;
};

/// Reads the first call of ASTSource or GluonASTSource in a text, or of triton.compile where there
/// is none, the first `triton_meta`, or a dict (or JSON object) that has a signature. Of its other
/// arguments only constants and attributes are looked at; those that are not written out give
/// warnings, a signature that is not an error. `constants` of the text's surroundings count where
/// the text has none. Throws Failure.
Described read_described(std::string_view text, Form form,
                         std::optional<std::string_view> constants, Diagnostics& diagnostics);

/// Where the next call of ASTSource (or of triton.compile with `signature=`), or `triton_meta` with
/// a dict, stands at or behind `at`: from the name to one past its bracket, or to the end of the
/// line where none within `longest` bytes closes it. `futile` counts the bytes that were looked
/// through for nothing.
std::optional<Span> find_ast(std::string_view text, std::size_t at, std::size_t longest,
                             std::size_t& futile);
std::optional<Span> find_inductor(std::string_view text, std::size_t at, std::size_t longest,
                                  std::size_t& futile);

/// For follow_brackets.
struct PythonBrackets {
  static constexpr std::string_view kOpening = "([{";
  static constexpr std::string_view kClosing = ")]}";
  static constexpr std::string_view kOther = "#\"'";
  static constexpr std::size_t kDeepest = 300;
  static constexpr bool kSkipsWrong = false;

  static std::size_t passed(std::string_view text, std::size_t at);
};

/// As partner_end, of Python and JSON.
std::size_t bracket_end(std::string_view text, std::size_t at, std::size_t longest,
                        std::size_t& futile);

/// Whether a text has a name that these look for.
bool names_ast(std::string_view text);
bool names_inductor(std::string_view text);

/// Whether a dict or JSON object has a `signature` that is a dict.
bool has_signature(std::string_view text);

/// Whether a JSON object has the keys that Triton writes of one kernel.
bool looks_like_cache(std::string_view text);

}  // namespace relaunch::migrate
