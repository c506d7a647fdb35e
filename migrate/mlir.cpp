#include "migrate/mlir.hpp"

#include <algorithm>
#include <optional>
#include <string>
#include <utility>

#include "migrate/entries.hpp"
#include "migrate/lexer.hpp"
#include "migrate/mlir_text.hpp"
#include "migrate/number.hpp"

namespace relaunch::migrate {
namespace {

constexpr std::size_t kNone = std::string_view::npos;

class MlirReader : private MlirText {
 public:
  MlirReader(std::string_view text, Diagnostics& diagnostics)
      : MlirText(text), diagnostics_(diagnostics) {}

  std::vector<PyKernelArg> list() {
    std::vector<PyKernelArg> out = parameters();
    if (at_ < text_.size()) expected("',' between parameters");
    return out;
  }

  std::vector<PyKernelArg> of_function(const MlirFunction& function) {
    if (!function.is_closed) {
      fail(kUnbalanced, "the parameters of this function have no closing ')'", function.header);
    }
    at_ = text_.find('(', static_cast<std::size_t>(function.name.end() - text_.begin())) + 1;
    blanks();
    std::vector<PyKernelArg> out;
    if (!peek(')')) out = parameters();
    if (!accept(')')) expected("',' or ')'");
    return out;
  }

 private:
  std::vector<PyKernelArg> parameters() {
    std::vector<PyKernelArg> out;
    NamesSeen names;
    do {
      blanks();
      parameter(out.emplace_back(), names);
      blanks();
    } while (accept(','));
    return out;
  }

  void parameter(PyKernelArg& out, NamesSeen& names) {
    if (!accept('%')) expected("a parameter like '%x: i32'");
    blanks();
    const std::size_t begin = at_;
    const std::string_view name = word();
    const bool is_number = name.find_first_not_of("0123456789") == kNone;
    if (name.empty()) expected("a name after '%'");
    if (!is_number) {
      out.name = name;
      names.add(name, {begin, at_}, diagnostics_);
    }
    blanks();
    if (!accept(':')) expected("':' after a parameter's name");
    blanks();
    type(out);
    blanks();
    if (peek('{')) attributes(out);
    blanks();
    if (rest().starts_with("loc")) {
      at_ += 3;
      blanks();
      if (!peek('(')) expected("'(' after loc");
      skip_bracket();
    }
  }

  /// The type at the cursor. One that no kernel takes is reported, and passed over.
  void type(PyKernelArg& out) {
    const std::size_t begin = at_;
    std::string canonical;
    while (accept_word("!tt.ptr<")) {
      canonical += '*';
      blanks();
      if (canonical.size() > kMaxTupleDepth) {
        fail(kTooDeep, "pointers nested deeper than " + std::to_string(kMaxTupleDepth),
             {begin, at_});
      }
    }
    const std::size_t pointers = canonical.size();
    const std::string_view element = element_text();
    if (element.empty()) expected("a type");
    const std::size_t element_end = at_;
    for (std::size_t i = 0; i < pointers; ++i) close_pointer();
    out.span = {begin, at_};
    const auto scalar = scalar_named(element);
    if (scalar) {
      canonical += *scalar;
    } else if (auto descriptor = pointers == 0 ? descriptor_named(element) : std::nullopt) {
      canonical = std::move(*descriptor);
    } else {
      return not_taken(element, {element_end - element.size(), element_end});
    }
    out.dtype = std::move(canonical);
  }

  void not_taken(std::string_view element, Span span) {
    diagnostics_.error(kUnknownType,
                       "a kernel takes no " + in_quotes(element) +
                           ": expected a type like i32, f32, !tt.ptr<f16> or "
                           "!tt.tensordesc<64x64xf16>",
                       span);
  }

  /// `, 1>` or `>`.
  void close_pointer() {
    blanks();
    if (accept(',')) {
      blanks();
      if (peek('"')) {
        skip_string();
      } else {
        word();
      }
      blanks();
    }
    if (!accept('>')) expected("'>' after the type pointed to");
  }

  /// A type that is no pointer: its word and what stands in `<>` behind it.
  std::string_view element_text() {
    const std::size_t begin = at_;
    accept('!');
    word();
    if (peek('<')) skip_bracket();
    return text_.substr(begin, at_ - begin);
  }

  void attributes(PyKernelArg& out) {
    const std::size_t open = at_;
    accept('{');
    blanks();
    while (!accept('}')) {
      if (at_ >= text_.size()) fail(kUnbalanced, "'{' is never closed", {open, open + 1});
      attribute(out);
      blanks();
      if (accept(',')) {
        blanks();
      } else if (!peek('}') && at_ < text_.size()) {
        expected("',' or '}' after an attribute");
      }
    }
  }

  void attribute(PyKernelArg& out) {
    const std::size_t begin = at_;
    std::string_view key;
    if (peek('"')) {
      skip_string();
      key = text_.substr(begin + 1, at_ - begin - 2);
    } else {
      key = word();
    }
    if (key.empty()) expected("an attribute");
    blanks();
    if (!accept('=')) return;
    blanks();
    const std::size_t value_begin = at_;
    skip_value();
    std::string_view value = text_.substr(value_begin, at_ - value_begin);
    const bool is_one = value.starts_with("1 ") || value == "1";
    if (key == "tt.divisibility") {
      value = value.substr(0, value.find_first_of(" :"));
      hint(out, value, {begin, at_});
    } else if (key == "tt.nv_tma_desc" && is_one && !out.dtype.empty()) {
      out.dtype = "nvTmaDesc";
    }
  }

  void hint(PyKernelArg& out, std::string_view value, Span span) {
    if (value == "16" || value == "1") {
      out.hint = value;
    } else {
      diagnostics_.warning(kHintDropped,
                           "the hint " + in_quotes(value) + " is dropped: signatures know 1 and 16",
                           span);
    }
  }

  Diagnostics& diagnostics_;
};

}  // namespace

bool looks_like_mlir(std::string_view text) {
  const std::size_t begin = text.find_first_not_of(" \t\r\n");
  if (begin == kNone) return false;
  text.remove_prefix(begin);
  if (begins_function(text) || text.starts_with("module ") || text.starts_with("module{")) {
    return true;
  }
  if (!text.starts_with('%')) return false;
  const std::size_t name = text.find_first_not_of(" \t", 1);
  const std::size_t end = name == kNone ? kNone : text.find_first_of(" \t:,()={}", name);
  const std::size_t colon = end == kNone ? kNone : text.find_first_not_of(" \t", end);
  return colon != kNone && text[colon] == ':';
}

std::vector<PyKernelArg> read_mlir(std::string_view text, Diagnostics& diagnostics) {
  MlirReader reader(text, diagnostics);
  const std::size_t begin = text.find_first_not_of(" \t\r\n");
  if (begin == kNone) {
    fail(kEmpty, "the text is empty: a kernel without arguments is written tt.func @name()",
         {text.size(), text.size()});
  }
  if (text[begin] == '%') return reader.list();
  MlirFunction function;
  std::size_t futile = 0;
  if (!find_function(text, 0, kNone, futile, function)) {
    fail(kUnexpected, "expected parameters like '%x: i32', or a tt.func", {begin, begin + 1});
  }
  MlirFunction second;
  for (std::size_t at = function.header.end; find_function(text, at, kNone, futile, second);) {
    if (!second.is_private && !function.is_private) {
      fail(kUnexpected, "a second function: a text holds one signature", second.header);
    }
    if (!second.is_private) function = second;
    at = second.header.end;
  }
  return reader.of_function(function);
}

}  // namespace relaunch::migrate
