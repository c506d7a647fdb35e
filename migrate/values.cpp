#include "migrate/values.hpp"

#include <algorithm>
#include <optional>
#include <string>
#include <utility>

#include "migrate/entries.hpp"
#include "migrate/fields.hpp"
#include "migrate/literal.hpp"
#include "migrate/names.hpp"
#include "migrate/number.hpp"
#include "precompiled/core/types.hpp"

namespace relaunch::migrate {
namespace {

constexpr std::size_t kNone = std::string_view::npos;

/// The pointer's type for a dtype, `torch.float16` or `bfloat16`; empty for other names.
std::optional<std::string> pointer_to(std::string_view name) {
  if (!is_dotted_name(name)) return std::nullopt;
  const std::string_view last = name.substr(name.rfind('.') + 1);
  if (last == "bool") return "*i1";
  if (last == "float8_e4m3fn") return "*fp8e4nv";
  if (last == "float8_e5m2") return "*fp8e5";
  if (last == "float8_e4m3fnuz") return "*fp8e4b8";
  if (last == "float8_e5m2fnuz") return "*fp8e5b16";
  // Types by their long names only: `i32` in a list of values would be a type, not a tensor's.
  const bool longer = last.find("int") != kNone || last.find("float") != kNone;
  auto canonical = longer ? canonical_type("*" + std::string(last)) : std::nullopt;
  return canonical;
}

/// Decimal digits without leading zeros compared as numbers: whether `a` <= `b`.
bool at_most(std::string_view a, std::string_view b) {
  return a.size() != b.size() ? a.size() < b.size() : a <= b;
}

/// The type of an int given in decimal; empty where no type holds it.
std::string_view integer_type(std::string_view digits) {
  const bool negative = digits.starts_with('-');
  if (negative) digits.remove_prefix(1);
  if (at_most(digits, negative ? "2147483648" : "2147483647")) return "i32";
  if (at_most(digits, negative ? "9223372036854775808" : "9223372036854775807")) return "i64";
  if (!negative && at_most(digits, "18446744073709551615")) return "u64";
  return {};
}

bool is_multiple_of_16(std::string_view digits) {
  unsigned rest = 0;
  for (const char c : digits) {
    if (c != '-') rest = (rest * 10 + static_cast<unsigned>(c - '0')) % 16;
  }
  return rest == 0;
}

class ValuesReader {
 public:
  ValuesReader(std::string_view text, Diagnostics& diagnostics)
      : text_(text), tokens_(lex(text, Angles::plain)), diagnostics_(diagnostics) {}

  std::vector<PyKernelArg> run() {
    const Token& first = tokens_.front();
    if (first.kind == Token::Kind::end) {
      fail(kEmpty, "the text is empty: a call without arguments is written []", first.span);
    }
    if (!first.is('[') && !first.is('(') && !first.is('{')) {
      fail(kUnexpected, "expected a list of values, got " + in_quotes(slice(text_, first.span)),
           first.span);
    }
    std::vector<PyKernelArg> out = items(0);
    const Token& after = tokens_[closing_ + 1];
    if (after.kind != Token::Kind::end) {
      fail(kUnexpected,
           "expected the end of the values, got " + in_quotes(slice(text_, after.span)),
           after.span);
    }
    return out;
  }

 private:
  /// The values of the bracket that is token `open`; its partner's index is kept in closing_.
  std::vector<PyKernelArg> items(std::size_t open) {
    if (++depth_ > kMaxTupleDepth) {
      fail(kTooDeep, "tuples nested deeper than " + std::to_string(kMaxTupleDepth),
           tokens_[open].span);
    }
    std::vector<PyKernelArg> out;
    NamesSeen names;
    const std::vector<Field> fields = fields_of(text_, tokens_, open);
    std::size_t end = open + 1;
    for (const Field& field : fields) {
      if (field.value.begin >= field.value.end) {
        fail(kUnexpected, "expected a value", tokens_[field.value.begin].span);
      }
      out.push_back(value(field.value));
      if (!field.name.empty()) {
        out.back().name = field.name;
        names.add(field.name, out.back().span, diagnostics_);
      }
      end = field.value.end;
    }
    if (tokens_[end].is(',')) ++end;
    closing_ = end;
    --depth_;
    return out;
  }

  PyKernelArg value(Expression expression) {
    const Token& first = tokens_[expression.begin];
    const Span span = span_of(tokens_, expression);
    const bool one = expression.end == expression.begin + 1;
    PyKernelArg out;
    if (first.is('(') || first.is('[')) {
      out.type = ArgKind::ARG_TUPLE;
      out.nested_tuple = items(expression.begin);
      if (closing_ + 1 != expression.end) not_a_value(span);
    } else if (one && first.kind == Token::Kind::string) {
      constant(out, expression);
    } else if (one && first.kind == Token::Kind::word) {
      word(out, expression);
    } else if (first.kind == Token::Kind::word && tokens_[expression.begin + 1].is('(')) {
      call(out, expression);
    } else {
      not_a_value(span);
    }
    out.span = span;
    return out;
  }

  void word(PyKernelArg& out, Expression expression) {
    const std::string_view word = slice(text_, tokens_[expression.begin].span);
    if (auto pointer = pointer_to(word)) {
      out.dtype = std::move(*pointer);
    } else if (word == "True" || word == "False") {
      out.dtype = "u1";
    } else if (const auto number = number_text(word, span_of(tokens_, expression))) {
      this->number(out, *number, expression);
    } else {
      constant(out, expression);
    }
  }

  void number(PyKernelArg& out, const std::string& number, Expression expression) {
    if (number.find_first_not_of("-0123456789") != kNone) {
      out.dtype = "fp32";
    } else if (number == "1") {
      constant(out, expression);
    } else {
      out.dtype = integer_type(number);
      if (is_multiple_of_16(number)) out.hint = "16";
      if (out.dtype.empty()) {
        fail(kBadNumber, "no type of a kernel holds " + in_quotes(number),
             span_of(tokens_, expression));
      }
    }
  }

  void constant(PyKernelArg& out, Expression expression) {
    out.type = ArgKind::ARG_CONSTEXPR;
    out.value = json_text(literal_of(text_, tokens_, expression)).value_or("");
  }

  /// `Tensor(dtype=torch.int8)`, `MockTensor(torch.int8)`, or a namedtuple.
  void call(PyKernelArg& out, Expression expression) {
    const std::size_t open = expression.begin + 1;
    const std::vector<Field> fields = fields_of(text_, tokens_, open);
    for (const Field& field : fields) {
      const bool dtype = field.name == "dtype" || (field.name.empty() && fields.size() == 1);
      const std::string_view word = slice(text_, span_of(tokens_, field.value));
      auto pointer = dtype ? pointer_to(word) : std::nullopt;
      if (pointer) {
        out.dtype = std::move(*pointer);
        return;
      }
    }
    const std::string_view name = slice(text_, tokens_[expression.begin].span);
    const char initial = name.substr(name.rfind('.') + 1)[0];
    if (initial < 'A' || initial > 'Z') not_a_value(span_of(tokens_, expression));
    out.type = ArgKind::ARG_TUPLE;
    out.nested_tuple = items(open);
    if (closing_ + 1 != expression.end) not_a_value(span_of(tokens_, expression));
  }

  [[noreturn]] void not_a_value(Span span) const {
    fail(kNotAType,
         in_quotes(slice(text_, span)) +
             " is no value that says its type: expected one like 4096, 2.5, torch.float16 or "
             "Tensor(dtype=torch.int8)",
         span);
  }

  std::string_view text_;
  std::vector<Token> tokens_;
  Diagnostics& diagnostics_;
  std::size_t depth_ = 0;
  std::size_t closing_ = 0;
};

}  // namespace

bool looks_like_values(std::string_view text, const std::vector<Token>& tokens) {
  if (!tokens.front().is('[') && !tokens.front().is('(')) return false;
  bool plain = false;  // a number or a constant by itself
  bool dtype = false;
  for (const Token& token : tokens) {
    if (token.kind == Token::Kind::string) return false;
    if (token.kind != Token::Kind::word) continue;
    const std::string_view word = slice(text, token.span);
    if (canonical_type(word)) return false;
    const bool dotted = word.starts_with("torch.") || word.starts_with("tl.");
    dtype = dtype || (dotted && pointer_to(word));
    plain = plain || word == "None" || word == "True" || word == "False" || is_number(word);
  }
  return dtype || (plain && tokens.front().is('['));
}

std::vector<PyKernelArg> read_values(std::string_view text, Diagnostics& diagnostics) {
  return ValuesReader(text, diagnostics).run();
}

}  // namespace relaunch::migrate
