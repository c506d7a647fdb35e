#pragma once
// A place in MLIR text, with what its brackets, strings and comments need, and descriptor types.

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "migrate/diagnostic.hpp"
#include "migrate/lexer.hpp"
#include "migrate/scan.hpp"

namespace relaunch::migrate {

class MlirText {
 public:
  explicit MlirText(std::string_view text) : text_(text) { blanks(); }

 protected:
  std::string_view rest() const { return text_.substr(at_); }
  bool peek(char mark) const { return at_ < text_.size() && text_[at_] == mark; }
  bool accept(char mark) {
    if (!peek(mark)) return false;
    ++at_;
    return true;
  }
  bool accept_word(std::string_view word) {
    if (!rest().starts_with(word)) return false;
    at_ += word.size();
    return true;
  }

  /// Past blanks and `//` comments.
  void blanks() {
    while (at_ < text_.size() && kBlanks.has(text_[at_])) ++at_;
    if (peek('/')) comments();
  }
  /// Past letters, digits and `_.$-`; the word may be empty.
  std::string_view word();
  /// Past the string at the cursor. Throws Failure where it is not closed.
  void skip_string();
  /// Past the bracket at the cursor and all in it. Throws Failure where it is not closed.
  void skip_bracket();
  /// Past an attribute's value: up to the ',' or closing bracket behind it.
  void skip_value();

  [[noreturn]] void expected(const std::string& what) const;

  std::string_view text_;
  std::size_t at_ = 0;

 private:
  static constexpr CharacterSet kBlanks{" \t\n\r"};

  void comments();
};

/// The canonical spelling of `!tt.tensordesc<...>` or `!ttng.tensordesc_im2col<...>`, by the types
/// of mlir.hpp; empty where the text is none, or its element no scalar.
std::optional<std::string> descriptor_named(std::string_view text);

/// The canonical name of a scalar type of MLIR (`f16`, `ui8`, `f8E5M2`); empty for other words.
std::optional<std::string_view> scalar_named(std::string_view word);

/// For follow_brackets.
struct MlirBrackets {
  static constexpr std::string_view kOpening = "([{<";
  static constexpr std::string_view kClosing = ")]}>";
  static constexpr std::string_view kOther = "\"/-";
  static constexpr std::size_t kDeepest = 256;
  static constexpr bool kSkipsWrong = false;

  static std::size_t passed(std::string_view text, std::size_t at);
};

/// As partner_end, of MLIR.
std::size_t mlir_bracket_end(std::string_view text, std::size_t at, std::size_t longest,
                             std::size_t& futile);

/// One past the string that begins at `at`; npos where its line ends before it does.
std::size_t mlir_string_end(std::string_view text, std::size_t at);

}  // namespace relaunch::migrate
