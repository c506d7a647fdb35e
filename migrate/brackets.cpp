#include "migrate/brackets.hpp"

#include <algorithm>

#include "migrate/lexer.hpp"

namespace relaunch::migrate {
namespace {

constexpr std::size_t kNone = std::string_view::npos;
constexpr std::string_view kOpening = "([{";
constexpr std::string_view kClosing = ")]}";

std::size_t line_end(std::string_view text, std::size_t at) {
  return std::min(text.find('\n', at), text.size());
}

/// The second of the pair that begins with `first`; npos where there is none.
std::size_t find(const std::vector<std::pair<std::size_t, std::size_t>>& pairs, std::size_t first) {
  const auto found = std::lower_bound(pairs.begin(), pairs.end(), std::pair(first, std::size_t{0}));
  return found != pairs.end() && found->first == first ? found->second : kNone;
}

}  // namespace

Brackets::Brackets(std::string_view text) : text_(text) {
  for (std::size_t at = 0; at < text_.size();) {
    const char c = text_[at];
    if (c == '#') {
      at = line_end(text_, at);
    } else if (c == '"' || c == '\'') {
      at = skip_string(at);
    } else {
      match(at++);
    }
  }
}

void Brackets::match(std::size_t at) {
  const char c = text_[at];
  if (kOpening.find(c) != kNone) {
    open_.push_back(pairs_.size());
    pairs_.emplace_back(at, kNone);
    return;
  }
  const std::size_t kind = kClosing.find(c);
  if (kind == kNone || open_.empty()) return;
  // A closing bracket of another kind closes nothing: the parser says so where it stands.
  auto& innermost = pairs_[open_.back()];
  if (text_[innermost.first] != kOpening[kind]) return;
  innermost.second = at;
  open_.pop_back();
}

std::size_t Brackets::skip_string(std::size_t at) {
  const std::string_view start = text_.substr(at, 3);
  const bool triple = start == "\"\"\"" || start == "'''";
  bool closed = false;
  std::size_t end = triple && !triples_close_ ? at : string_end(text_, at, closed);
  if (!closed && triple) {
    triples_close_ = false;  // one search to the end of the text is enough
    end = line_end(text_, at);
  }
  strings_.emplace_back(at, end);
  return end;
}

std::size_t Brackets::literal_end(std::size_t at) const {
  while (at < text_.size() && text_[at] != '\n') {
    const char c = text_[at];
    std::size_t end = kNone;
    if (c == '#') {
      end = line_end(text_, at);
    } else if (c == '"' || c == '\'') {
      end = find(strings_, at);
    } else if (kOpening.find(c) != kNone) {
      end = find(pairs_, at);
      if (end != kNone) ++end;
    }
    at = end == kNone ? at + 1 : end;
  }
  return std::min(at, text_.size());
}

}  // namespace relaunch::migrate
