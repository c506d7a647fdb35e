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
#include "migrate/scan.hpp"

namespace relaunch::migrate {
namespace {

constexpr std::size_t kNone = std::string_view::npos;
constexpr std::size_t kShortest = 4096;  // bytes looked through once patience is spent

std::size_t reach(std::size_t futile) { return futile > kPatience ? kShortest : kLongestSignature; }

/// Literals are followed leniently, and deeper than any reader goes: what is wrong with them is
/// then said of all of them.
struct LiteralBrackets : PythonBrackets {
  static constexpr std::size_t kDeepest = 600;
  static constexpr bool kSkipsWrong = true;

  static std::size_t passed(std::string_view text, std::size_t at) {
    if (text[at] == '#') return line_end(text, at);
    bool closed = false;
    const std::size_t end = string_end(text, at, closed);
    const bool triple = end - at >= 3 && text[at + 1] == text[at] && text[at + 2] == text[at];
    return closed || !triple ? end : kNone;
  }
};

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

/// The '{' of a body, which ends the line that `at` is on; npos without one.
std::size_t body_at(std::string_view bytes, std::size_t at) {
  const std::size_t end = line_end(bytes, at);
  const std::size_t last = bytes.substr(at, end - at).find_last_not_of(" \t\r");
  return last != kNone && bytes[at + last] == '{' ? at + last : kNone;
}

/// Follows the brackets of a block from its end on, over whole lines. False where they are wrong,
/// or do not close in `most` bytes or the file.
bool follow_body(Block& block, const Window& window, std::size_t most) {
  const std::string_view bytes = window.bytes();
  const bool cut = most < bytes.size() - block.end;
  const std::size_t shown = cut                ? block.end + most
                            : window.is_last() ? bytes.size()
                                               : bytes.rfind('\n') + 1;
  if (shown <= block.end) return false;  // a line that is longer than the window
  const std::size_t end =
      follow_brackets<MlirBrackets>(bytes.substr(0, shown), block.end, block.open);
  block.goes_on = !block.open.empty();
  block.end = block.goes_on ? end : line_end(bytes, end);
  return !block.goes_on || (end == shown && !cut && !window.is_last());
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
  return kind.find(bytes_, at_, reach(futile_), futile_);
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

std::optional<Piece> embedded_on_line(std::string_view bytes, std::size_t begin, std::size_t end,
                                      std::size_t& futile) {
  const std::string_view line = bytes.substr(begin, end - begin);
  Find find = nullptr;
  if (names_ast(line)) find = find_ast_call;
  if (names_annotations(line)) find = find_lists;
  if (names_inductor(line)) find = find_triton_meta;
  if (find == nullptr) return std::nullopt;
  // On the line first: a name alone must not be looked for in all that follows.
  if (!find(line, 0, line.size(), futile)) return std::nullopt;
  return find(bytes, begin, reach(futile), futile);
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

std::optional<Block> block_at(const Window& window, std::size_t at, std::size_t& futile) {
  const std::string_view bytes = window.bytes();
  const std::string_view text = bytes.substr(at);
  if (begins_function(text)) {
    // On the line first: another function must not be looked for in all that follows.
    MlirFunction function;
    const std::string_view line = bytes.substr(0, line_end(bytes, at));
    const bool here = find_function(line, at, kShortest, futile, function) &&
                      function.header.begin == at &&
                      find_function(bytes, at, reach(futile), futile, function);
    if (!here) return std::nullopt;
    Block header{function.header.end};
    const std::size_t body = function.is_closed ? body_at(bytes, header.end) : kNone;
    header.end = line_end(bytes, header.end);
    if (body == kNone) return header;
    Block block{body};
    if (follow_body(block, window, futile > kPatience ? kShortest : kNone)) return block;
    futile += block.end - body;
    return header;
  }
  if (!text.starts_with("module") || !looks_like_mlir(text.substr(0, 8))) return std::nullopt;
  // `module @name attributes {...} {`: the last bracket on the line is the body's.
  Block block{body_at(bytes, at)};
  if (block.end == kNone) return std::nullopt;
  if (!follow_body(block, window, kNone)) {
    block.is_rest = true;
    follow(block, window);
  }
  return block;
}

void follow(Block& block, const Window& window) {
  if (!block.is_rest) block.is_rest = !follow_body(block, window, kNone);
  if (!block.is_rest) return;
  block.end = window.bytes().size();
  block.goes_on = !window.is_last();
}

std::size_t literal_end(std::string_view bytes, std::size_t at, std::size_t& futile,
                        bool& is_long) {
  const std::size_t first_line = line_end(bytes, at);
  const bool hasty = futile > kPatience;
  const std::string_view text = bytes.substr(0, hasty ? first_line : at + kLongestSignature);
  std::string open;
  std::size_t i = at;
  while (i < text.size() && text[i] != '\n') {
    const char c = text[i];
    if (LiteralBrackets::kOpening.find(c) != kNone) {
      i = follow_brackets<LiteralBrackets>(text, i, open);
      if (open.empty()) continue;
    } else if (c == '#' || c == '"' || c == '\'') {
      const std::size_t end = LiteralBrackets::passed(text, i);
      if (end != kNone) i = end;
      if (end != kNone) continue;
      i = text.size();
    } else {
      ++i;
      continue;
    }
    // What began here has no end in the text.
    is_long = !hasty && i == text.size() && text.size() < bytes.size();
    futile += i - at;
    return first_line;
  }
  return i;
}

}  // namespace relaunch::migrate
