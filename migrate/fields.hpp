#pragma once
// Python source around signatures: the arguments of a call and the entries of a dict, whatever
// expressions they are, taken apart so that those of interest can be read.

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "migrate/lexer.hpp"
#include "migrate/literal.hpp"

namespace relaunch::migrate {

/// Tokens `begin` to `end` (not included) of an expression.
struct Expression {
  std::size_t begin = 0;
  std::size_t end = 0;
};

/// One argument of a call or entry of a dict.
struct Field {
  std::string name;  // the keyword, or the key where it is a string; else empty
  Expression value;
};

/// The fields between the bracket that is token `open` and its partner. Throws Failure (RL005)
/// where it has none.
std::vector<Field> fields_of(std::string_view text, const std::vector<Token>& tokens,
                             std::size_t open);

/// The bytes of an expression.
Span span_of(const std::vector<Token>& tokens, Expression expression);

/// The literal that an expression is, all of it. Throws Failure where it is none: a variable, a
/// sum.
Literal literal_of(std::string_view text, const std::vector<Token>& tokens, Expression expression);

}  // namespace relaunch::migrate
