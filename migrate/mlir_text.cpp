#include "migrate/mlir_text.hpp"

#include <algorithm>
#include <iterator>

#include "migrate/mlir.hpp"

namespace relaunch::migrate {
namespace {

constexpr std::size_t kNone = std::string_view::npos;
constexpr std::size_t kDeepest = 256;  // brackets in brackets

bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; }

bool in_word(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
         c == '.' || c == '$' || c == '-' || static_cast<unsigned char>(c) >= 0x80;
}

std::size_t line_end(std::string_view text, std::size_t at) {
  return std::min(text.find('\n', at), text.size());
}

/// One past the string that begins at `at`; npos where its line ends before it does.
std::size_t mlir_string_end(std::string_view text, std::size_t at) {
  for (std::size_t i = at + 1; i < text.size() && text[i] != '\n'; ++i) {
    if (text[i] == '"') return i + 1;
    if (text[i] == '\\') ++i;
  }
  return kNone;
}

/// Whether a `//` stands before `at` on its line, within what a comment's start may be away.
bool in_comment(std::string_view text, std::size_t at) {
  constexpr std::size_t kFar = 400;
  std::string_view before = text.substr(at < kFar ? 0 : at - kFar, std::min(at, kFar));
  const std::size_t newline = before.rfind('\n');
  if (newline != kNone) before.remove_prefix(newline + 1);
  return before.find("//") != kNone;
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

std::size_t mlir_bracket_end(std::string_view text, std::size_t at, std::size_t longest,
                             std::size_t& futile) {
  text = text.substr(0, longest < text.size() - at ? at + longest : text.size());
  const std::size_t begin = at;
  std::string open;
  while (at < text.size()) {
    const char c = text[at];
    if (c == '"') {
      const std::size_t end = mlir_string_end(text, at);
      if (end == kNone) break;
      at = end;
      continue;
    }
    if (c == '/' && text.substr(at, 2) == "//") {
      at = line_end(text, at);
      continue;
    }
    if (c == '-' && text.substr(at, 2) == "->") {
      at += 2;
      continue;
    }
    const std::size_t opens = std::string_view("([{<").find(c);
    if (opens != kNone) {
      open += ")]}>"[opens];
      if (open.size() > kDeepest) break;
    } else if (c == ')' || c == ']' || c == '}' || c == '>') {
      if (c != open.back()) break;
      open.pop_back();
      if (open.empty()) return at + 1;
    }
    ++at;
  }
  futile += at - begin;
  return kNone;
}

bool find_function(std::string_view text, std::size_t at, std::size_t longest, std::size_t& futile,
                   MlirFunction& out) {
  constexpr std::string_view kWord = "tt.func";
  while ((at = text.find(kWord, at)) != kNone) {
    const std::size_t begin = at;
    at += kWord.size();
    if (begin > 0 && (in_word(text[begin - 1]) || text[begin - 1] == '%')) continue;
    if (in_comment(text, begin)) continue;
    std::size_t name = text.find_first_not_of(" \t", at);
    if (name == kNone || name == at) continue;
    out.is_private = text.substr(name).starts_with("private ");
    for (const std::string_view word : {"public ", "private ", "nested "}) {
      if (text.substr(name).starts_with(word)) {
        name = std::min(text.find_first_not_of(" \t", name + word.size()), text.size());
      }
    }
    if (text.substr(name, 1) != "@") continue;
    ++name;
    std::size_t end = name;
    if (text.substr(name, 1) == "\"") {
      end = mlir_string_end(text, name);
      if (end == kNone) continue;
      out.name = text.substr(name + 1, end - name - 2);
    } else {
      while (end < text.size() && in_word(text[end])) ++end;
      out.name = text.substr(name, end - name);
    }
    if (text.substr(end, 1) != "(") continue;
    const std::size_t close = mlir_bracket_end(text, end, longest, futile);
    out.is_closed = close != kNone;
    out.header = {begin, out.is_closed ? close : line_end(text, begin)};
    return true;
  }
  return false;
}

void MlirText::blanks() {
  while (at_ < text_.size()) {
    if (is_blank(text_[at_])) {
      ++at_;
    } else if (rest().starts_with("//")) {
      at_ = line_end(text_, at_);
    } else {
      return;
    }
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
