#include "migrate/diagnostic.hpp"

#include <algorithm>
#include <utility>

#include "migrate/utf8.hpp"

namespace relaunch::migrate {
namespace {

constexpr std::size_t kWindow = 100;  // columns of text shown
constexpr std::size_t kBefore = 40;   // columns kept before the caret in a long line
constexpr std::size_t kQuoted = 40;   // code points of a quoted piece

bool is_control(char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7F; }

}  // namespace

std::string printable(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (c == '\t') {
      out += ' ';
    } else if (is_control(c)) {
      out += "\xEF\xBF\xBD";
    } else {
      out += c;
    }
  }
  return out;
}

void fail(std::string_view code, std::string message, Span span) {
  throw Failure{{std::string(code), Severity::error, std::move(message), span}};
}

void Diagnostics::error(std::string_view code, std::string message, Span span) {
  add({std::string(code), Severity::error, std::move(message), span});
}

void Diagnostics::warning(std::string_view code, std::string message, Span span) {
  if (list_.size() < kMost) {
    list_.push_back({std::string(code), Severity::warning, std::move(message), span});
  }
}

bool Diagnostics::has_error() const {
  return std::any_of(list_.begin(), list_.end(),
                     [](const Diagnostic& d) { return d.severity == Severity::error; });
}

void Diagnostics::add(Diagnostic diagnostic) {
  if (list_.size() >= kMost) {
    fail(kTooMany, "more than 20 findings in this signature: the rest is not read",
         diagnostic.span);
  }
  list_.push_back(std::move(diagnostic));
}

Place place_of(std::string_view text, std::size_t offset) {
  const std::string_view before = text.substr(0, offset);
  const auto lines = static_cast<std::size_t>(std::count(before.begin(), before.end(), '\n'));
  const std::size_t newline = before.rfind('\n');
  const std::size_t begin = newline == std::string_view::npos ? 0 : newline + 1;
  return {lines + 1, count_code_points(before.substr(begin)) + 1};
}

std::string in_quotes(std::string_view piece) {
  const std::size_t cut = advance(piece, 0, kQuoted);
  return "'" + printable(piece.substr(0, cut)) + (cut < piece.size() ? "..." : "") + "'";
}

std::string caret(std::string_view text, Span span) {
  const std::size_t at = std::min(span.begin, text.size());
  const std::size_t newline = at == 0 ? std::string_view::npos : text.rfind('\n', at - 1);
  const std::size_t begin = newline == std::string_view::npos ? 0 : newline + 1;
  std::size_t end = std::min(text.find('\n', at), text.size());
  if (end > begin && end > at && text[end - 1] == '\r') --end;
  const std::string_view line = text.substr(begin, end - begin);

  std::size_t column = count_code_points(line.substr(0, at - begin));
  std::string prefix;
  std::size_t from = 0;
  if (column > kWindow - kBefore) {
    prefix = "...";
    from = advance(line, 0, column - kBefore);
    column = kBefore;
  }
  const std::size_t to = advance(line, from, kWindow);
  const std::size_t last = std::min(begin + to, std::max(span.end, at));
  const std::size_t width = last > at ? count_code_points(text.substr(at, last - at)) : 1;
  std::string out = "  " + prefix + printable(line.substr(from, to - from));
  if (to < line.size()) out += "...";
  out += "\n  " + std::string(prefix.size() + column, ' ') + std::string(width, '^');
  return out;
}

std::string render(std::string_view origin, std::string_view text, const Diagnostic& diagnostic) {
  const Place place = place_of(text, diagnostic.span.begin);
  std::string out(origin);
  if (!out.empty()) out += ':';
  out += std::to_string(place.line) + ":" + std::to_string(place.column) + ": ";
  out += diagnostic.code + " " + diagnostic.message + "\n";
  return out + caret(text, diagnostic.span);
}

}  // namespace relaunch::migrate
