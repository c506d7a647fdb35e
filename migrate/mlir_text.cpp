#include "migrate/mlir_text.hpp"

#include <algorithm>
#include <iterator>

#include "migrate/mlir.hpp"

namespace relaunch::migrate {
namespace {

constexpr std::size_t kNone = std::string_view::npos;

bool in_word(char c) {
  static constexpr CharacterSet kPlain(
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.$-");
  return kPlain.has(c) || static_cast<unsigned char>(c) >= 0x80;
}

struct ScalarName {
  std::string_view mlir;
  std::string_view canonical;
};

constexpr ScalarName kScalars[] = {
    {"f32", "fp32"},
    {"bf16", "bf16"},
    {"f16", "fp16"},
    {"f64", "fp64"},
    {"i1", "i1"},
    {"i8", "i8"},
    {"i16", "i16"},
    {"i32", "i32"},
    {"i64", "i64"},
    {"si8", "i8"},
    {"si16", "i16"},
    {"si32", "i32"},
    {"si64", "i64"},
    {"ui1", "u1"},
    {"ui8", "u8"},
    {"ui16", "u16"},
    {"ui32", "u32"},
    {"ui64", "u64"},
    {"f8E4M3FN", "fp8e4nv"},
    {"f8E4M3FNUZ", "fp8e4b8"},
    {"f8E4M3B11FNUZ", "fp8e4b15"},
    {"f8E5M2", "fp8e5"},
    {"f8E5M2FNUZ", "fp8e5b16"},
};

/// `128x64x` at the start of `text`, as `[128, 64]`; what follows is left in `text`.
std::optional<std::string> take_shape(std::string_view& text) {
  std::string out;
  while (true) {
    const std::size_t digits = text.find_first_not_of("0123456789");
    if (digits == 0 || digits == kNone || text[digits] != 'x') break;
    out += (out.empty() ? "[" : ", ") + std::string(text.substr(0, digits));
    text.remove_prefix(digits + 1);
  }
  if (out.empty()) return std::nullopt;
  return out + "]";
}

/// One past the '@' of the function that a text begins with; npos where it begins with none.
std::size_t function_name(std::string_view text, MlirFunction& out) {
  if (!text.starts_with('t') && !text.starts_with('f')) return kNone;
  constexpr std::size_t kLongest = 10;  // of a word and the blank behind it
  const std::string_view word = text.substr(0, text.substr(0, kLongest).find_first_of(" \t"));
  if (word != "tt.func" && word != "func.func" && word != "func") return kNone;
  std::size_t at = text.find_first_not_of(" \t", word.size());
  if (at == kNone) return kNone;
  bool is_visible = false;
  for (const std::string_view how : {"public ", "private ", "nested "}) {
    if (is_visible || !text.substr(at).starts_with(how)) continue;
    is_visible = true;
    out.is_private = how == "private ";
    at = std::min(text.find_first_not_of(" \t", at + how.size()), text.size());
  }
  if (!is_visible) out.is_private = false;
  // A word as plain as `func` stands in other languages too.
  if (text.substr(at, 1) != "@" || (word == "func" && !is_visible)) return kNone;
  return at + 1;
}

}  // namespace

std::optional<std::string_view> scalar_named(std::string_view word) {
  const auto* const found = std::find_if(std::begin(kScalars), std::end(kScalars),
                                         [word](const ScalarName& s) { return s.mlir == word; });
  if (found == std::end(kScalars)) return std::nullopt;
  return found->canonical;
}

std::optional<std::string> descriptor_named(std::string_view text) {
  const std::size_t open = text.find('<');
  if (open == kNone || !text.ends_with('>')) return std::nullopt;
  const std::string_view kind = text.substr(0, open);
  const bool im2col = kind == "!ttng.tensordesc_im2col" || kind == "!tt.tensordesc_im2col";
  if (!im2col && kind != "!tt.tensordesc") return std::nullopt;
  text = text.substr(open + 1);
  const std::size_t begin = std::min(text.find_first_not_of(" \t\r\n"), text.size());
  text.remove_prefix(begin);
  constexpr std::string_view kTensor = "tensor<";
  if (text.starts_with(kTensor)) text.remove_prefix(kTensor.size());
  auto shape = take_shape(text);
  if (!shape) return std::nullopt;
  const auto element = scalar_named(text.substr(0, text.find_first_of(" ,>")));
  if (!element) return std::nullopt;
  return std::string(im2col ? "tensordesc_im2col<" : "tensordesc<") + std::string(*element) +
         *shape + ">";
}

std::size_t MlirBrackets::passed(std::string_view text, std::size_t at) {
  if (text[at] == '"') return mlir_string_end(text, at);
  const std::string_view two = text.substr(at, 2);
  if (two == "//") return line_end(text, at);
  return two == "->" ? at + 2 : at;
}

std::size_t mlir_bracket_end(std::string_view text, std::size_t at, std::size_t longest,
                             std::size_t& futile) {
  return partner_end<MlirBrackets>(text, at, longest, futile);
}

std::size_t mlir_string_end(std::string_view text, std::size_t at) {
  static constexpr CharacterSet kTelling("\"\\\n");
  for (std::size_t i = at + 1; i < text.size(); ++i) {
    if (!kTelling.has(text[i])) continue;
    if (text[i] == '"') return i + 1;
    if (text[i] == '\n') break;
    ++i;
  }
  return kNone;
}

bool find_function(std::string_view text, std::size_t at, std::size_t longest, std::size_t& futile,
                   MlirFunction& out) {
  constexpr std::string_view kWord = "func";
  while ((at = text.find(kWord, at)) != kNone) {
    std::size_t begin = at;
    for (const std::string_view dialect : {"tt.", "func."}) {
      if (text.substr(0, begin).ends_with(dialect)) begin -= dialect.size();
    }
    at += kWord.size();
    if (begin > 0 && (in_word(text[begin - 1]) || text[begin - 1] == '%')) continue;
    if (in_comment(text, begin, "//")) continue;
    const std::size_t name = function_name(text.substr(begin), out);
    if (name == kNone) continue;
    std::size_t end = begin + name;
    if (text.substr(end, 1) == "\"") {
      const std::size_t quoted = end;
      end = mlir_string_end(text, quoted);
      if (end == kNone) continue;
      out.name = text.substr(quoted + 1, end - quoted - 2);
    } else {
      const std::size_t first = end;
      while (end < text.size() && in_word(text[end])) ++end;
      out.name = text.substr(first, end - first);
    }
    if (text.substr(end, 1) != "(") continue;
    const std::size_t close = mlir_bracket_end(text, end, longest, futile);
    out.is_closed = close != kNone;
    out.header = {begin, out.is_closed ? close : line_end(text, begin)};
    return true;
  }
  return false;
}

bool begins_function(std::string_view text) {
  MlirFunction function;
  return function_name(text, function) != kNone;
}

void MlirText::comments() {
  while (true) {
    if (rest().starts_with("//")) at_ = line_end(text_, at_);
    if (at_ >= text_.size() || !kBlanks.has(text_[at_])) return;
    ++at_;
  }
}

std::string_view MlirText::word() {
  const std::size_t begin = at_;
  while (at_ < text_.size() && in_word(text_[at_])) ++at_;
  return text_.substr(begin, at_ - begin);
}

void MlirText::skip_string() {
  const std::size_t end = mlir_string_end(text_, at_);
  if (end == kNone) {
    fail(kBadString, "this string has no closing quote", {at_, line_end(text_, at_)});
  }
  at_ = end;
}

void MlirText::skip_bracket() {
  std::size_t futile = 0;
  const std::size_t end = mlir_bracket_end(text_, at_, kNone, futile);
  if (end == kNone) {
    fail(kUnbalanced, std::string("'") + text_[at_] + "' is never closed", {at_, at_ + 1});
  }
  at_ = end;
}

void MlirText::skip_value() {
  while (at_ < text_.size()) {
    const char c = text_[at_];
    if (c == ',' || c == ')' || c == ']' || c == '}' || c == '>') return;
    if (c == '"') {
      skip_string();
    } else if (c == '(' || c == '[' || c == '{' || c == '<') {
      skip_bracket();
    } else {
      ++at_;
    }
  }
}

void MlirText::expected(const std::string& what) const {
  if (at_ >= text_.size()) {
    fail(kUnexpected, "expected " + what + ", got the end", {text_.size(), text_.size()});
  }
  const std::size_t end = std::min(text_.find_first_of(" \t\r\n,:(){}<>", at_ + 1), text_.size());
  const Span span{at_, end};
  fail(kUnexpected, "expected " + what + ", got " + in_quotes(slice(text_, span)), span);
}

}  // namespace relaunch::migrate
