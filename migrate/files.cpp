#include "migrate/files.hpp"

#include <algorithm>
#include <iterator>
#include <string>
#include <utility>

#include "migrate/annotations.hpp"
#include "migrate/c_launcher.hpp"
#include "migrate/described.hpp"
#include "migrate/lexer.hpp"
#include "migrate/mlir.hpp"
#include "migrate/mlir_text.hpp"

namespace relaunch::migrate {
namespace {

constexpr std::size_t kNone = std::string_view::npos;
constexpr std::size_t kLongestLiteral = std::size_t{1} << 24U;  // bytes over several lines
constexpr std::size_t kDeepest = 600;  // brackets: deeper is refused by every reader

std::size_t line_end(std::string_view text, std::size_t at) {
  return std::min(text.find('\n', at), text.size());
}

constexpr std::size_t kLongest = std::size_t{1} << 20U;  // bytes of an embedded signature
constexpr std::size_t kShortest = 4096;                  // once much was looked through in vain

using Find = std::optional<Piece> (*)(std::string_view bytes, std::size_t at, std::size_t longest,
                                      std::size_t& futile);

std::optional<Piece> piece_of(std::optional<Span> span, Form form) {
  if (!span) return std::nullopt;
  return Piece{*span, form};
}

std::optional<Piece> find_ttir(std::string_view bytes, std::size_t at, std::size_t longest,
                               std::size_t& futile) {
  MlirFunction function;
  while (find_function(bytes, at, longest, futile, function)) {
    if (!function.is_private) return Piece{function.header, Form::ttir};
    at = function.header.end;
  }
  return std::nullopt;
}

std::optional<Piece> find_ast_call(std::string_view bytes, std::size_t at, std::size_t longest,
                                   std::size_t& futile) {
  return piece_of(find_ast(bytes, at, longest, futile), Form::ast);
}

std::optional<Piece> find_lists(std::string_view bytes, std::size_t at, std::size_t longest,
                                std::size_t& futile) {
  return piece_of(find_annotations(bytes, at, longest, futile), Form::tree);
}

std::optional<Piece> find_launcher(std::string_view bytes, std::size_t at, std::size_t /*longest*/,
                                   std::size_t& /*futile*/) {
  return piece_of(find_c_launcher(bytes, at), Form::c);
}

std::optional<Piece> find_triton_meta(std::string_view bytes, std::size_t at, std::size_t longest,
                                      std::size_t& futile) {
  return piece_of(find_inductor(bytes, at, longest, futile), Form::inductor);
}

/// One past the '}' of the body whose '{' ends the line `at` is on; that line's end without one.
std::size_t body_end(std::string_view bytes, std::size_t at, std::size_t& futile) {
  const std::size_t end = line_end(bytes, at);
  const std::string_view line = bytes.substr(at, end - at);
  const std::size_t last = line.find_last_not_of(" \t\r");
  if (last == kNone || line[last] != '{') return end;
  const std::size_t most = futile > 4 * bytes.size() ? kShortest : kNone;
  const std::size_t close = mlir_bracket_end(bytes, at + last, most, futile);
  return close == kNone ? end : line_end(bytes, close);
}

}  // namespace

struct Embedded::Kind {
  Form form;
  Find find;
};

const Embedded::Kind Embedded::kKinds[] = {
    {Form::ast, find_ast_call}, {Form::inductor, find_triton_meta}, {Form::ttir, find_ttir},
    {Form::c, find_launcher},   {Form::tree, find_lists},
};

std::optional<Piece> Embedded::find(const Kind& kind) {
  const bool enough = futile_ > 4 * bytes_.size();
  return kind.find(bytes_, at_, enough ? kShortest : kLongest, futile_);
}

Embedded::Embedded(std::string_view bytes, Form form, std::size_t begin, std::size_t end)
    : bytes_(bytes.substr(0, end)), at_(begin) {
  for (const Kind& kind : kKinds) {
    if (form == kind.form || form == Form::automatic) {
      waiting_.push_back({&kind, find(kind)});
    }
  }
}

std::optional<Piece> Embedded::next() {
  std::optional<Piece> first;
  for (Waiting& waiting : waiting_) {
    if (waiting.piece && waiting.piece->bytes.begin < at_) {
      waiting.piece = find(*waiting.kind);
    }
    if (waiting.piece && (!first || waiting.piece->bytes.begin < first->bytes.begin)) {
      first = waiting.piece;
    }
  }
  if (first) at_ = std::max(first->bytes.end, first->bytes.begin + 1);
  return first;
}

bool is_embedded(Form form) {
  return form == Form::ttir || form == Form::ast || form == Form::inductor || form == Form::c;
}

std::optional<Piece> embedded_on_line(std::string_view bytes, std::size_t begin, std::size_t end) {
  const std::string_view line = bytes.substr(begin, end - begin);
  Find find = nullptr;
  if (names_ast(line)) find = find_ast_call;
  if (names_annotations(line)) find = find_lists;
  if (names_inductor(line)) find = find_triton_meta;
  if (find == nullptr) return std::nullopt;
  // On the line first: a name alone must not be looked for in all that follows.
  std::size_t futile = 0;
  if (!find(line, 0, line.size(), futile)) return std::nullopt;
  return find(bytes, begin, kLongest, futile);
}

bool looks_like_code(std::string_view bytes) {
  constexpr std::string_view kStarts[] = {
      "import ",  "from ",    "def ",    "class ",   "@",      "if __name__", "async ",
      "#include", "#define ", "#ifndef", "typedef ", "static", "extern ",     "async_compile",
  };
  for (std::size_t at = 0; at < bytes.size(); at = line_end(bytes, at) + 1) {
    const std::string_view line = bytes.substr(at, 16);
    for (const std::string_view start : kStarts) {
      if (line.starts_with(start)) return true;
    }
  }
  return false;
}

std::size_t ir_end(std::string_view bytes, std::size_t at, std::size_t& futile) {
  const std::string_view text = bytes.substr(at);
  if (text.starts_with("tt.func")) {
    MlirFunction function;
    if (!find_function(bytes, at, kLongest, futile, function) || function.header.begin != at)
      return at;
    return function.is_closed ? body_end(bytes, function.header.end, futile) : function.header.end;
  }
  if (!text.starts_with("module") || !looks_like_mlir(text.substr(0, 8))) return at;
  // `module @name attributes {...} {`: the last bracket on the line is the body's.
  std::size_t end = line_end(bytes, at);
  const std::string_view line = bytes.substr(at, end - at);
  const std::size_t last = line.find_last_not_of(" \t\r");
  if (line[last] != '{') return at;
  const std::size_t most = futile > 4 * bytes.size() ? kShortest : kNone;
  const std::size_t close = mlir_bracket_end(bytes, at + last, most, futile);
  return close == kNone ? bytes.size() : line_end(bytes, close);
}

std::size_t literal_end(std::string_view bytes, std::size_t at, std::size_t& futile) {
  const std::size_t first_line = line_end(bytes, at);
  const std::size_t most = futile > 4 * bytes.size() ? first_line : at + kLongestLiteral;
  const std::string_view text = bytes.substr(0, std::min(most, bytes.size()));
  std::string open;
  std::size_t i = at;
  while (i < text.size() && !(open.empty() && text[i] == '\n')) {
    const char c = text[i];
    if (c == '#') {
      i = line_end(text, i);
      continue;
    }
    if (c == '"' || c == '\'') {
      bool closed = false;
      const std::string_view mark = text.substr(i, 3);
      const bool triple = mark == "'''" || mark == "\"\"\"";
      const std::size_t end = string_end(text, i, closed);
      if (!closed && triple) {
        futile += end - i;
        return first_line;
      }
      i = end;
      continue;
    }
    const std::size_t opens = std::string_view("([{").find(c);
    if (opens != kNone) {
      open += ")]}"[opens];
      if (open.size() > kDeepest) break;
    } else if (!open.empty() && c == open.back()) {
      open.pop_back();
    }
    ++i;
  }
  if (open.empty()) return i;
  futile += i - at;
  return first_line;
}

}  // namespace relaunch::migrate
