#pragma once
// What the searches through files share: ends of lines, comments, and brackets with their partners.

#include <algorithm>
#include <array>
#include <cstddef>
#include <string>
#include <string_view>

namespace relaunch::migrate {

/// A set of characters that is asked for every byte.
class CharacterSet {
 public:
  template <typename... Members>
  explicit constexpr CharacterSet(const Members&... members) {
    (add(members), ...);
  }
  constexpr bool has(char c) const { return is_in_[static_cast<unsigned char>(c)]; }

 private:
  constexpr void add(std::string_view members) {
    for (const char c : members) is_in_[static_cast<unsigned char>(c)] = true;
  }

  std::array<bool, 256> is_in_ = {};
};

/// Where the line that `at` is on ends, without its newline.
inline std::size_t line_end(std::string_view text, std::size_t at) {
  return std::min(text.find('\n', at), text.size());
}

/// Whether `mark` stands before `at` on its line, within what a comment's start may be away.
inline bool in_comment(std::string_view text, std::size_t at, std::string_view mark) {
  constexpr std::size_t kFar = 400;
  std::string_view before = text.substr(at < kFar ? 0 : at - kFar, std::min(at, kFar));
  const std::size_t newline = before.rfind('\n');
  if (newline != std::string_view::npos) before.remove_prefix(newline + 1);
  return before.find(mark) != std::string_view::npos;
}

/// Follows the brackets of a text from `at` until none is open: one past that bracket. `open` holds
/// the partners that are waited for, the last one innermost; it is not empty afterwards where the
/// text ends first, or where it is stopped before: by a wrong partner, by too many brackets, by
/// what `Syntax::passed` takes for no text of its language.
///
/// `Syntax` has kOpening and kClosing (partners at the same place), kOther (what else is not passed
/// over by itself), kDeepest (brackets in brackets), kSkipsWrong (whether a wrong partner is passed
/// over instead), and `passed(text, at)`: one past the string or comment at `at`, where one of
/// kOther stands, `at` itself where none begins, npos where one begins that has no end.
template <typename Syntax>
std::size_t follow_brackets(std::string_view text, std::size_t at, std::string& open) {
  static constexpr CharacterSet kTelling(Syntax::kOpening, Syntax::kClosing, Syntax::kOther);
  static constexpr CharacterSet kOther(Syntax::kOther);
  while (at < text.size()) {
    while (at < text.size() && !kTelling.has(text[at])) ++at;
    if (at == text.size()) break;
    const char c = text[at];
    if (kOther.has(c)) {
      const std::size_t end = Syntax::passed(text, at);
      if (end == std::string_view::npos) return at;
      at = std::max(end, at + 1);
      continue;
    }
    ++at;
    if (!open.empty() && c == open.back()) {
      open.pop_back();
      if (open.empty()) return at;
      continue;
    }
    const std::size_t opens = Syntax::kOpening.find(c);
    if (opens != std::string_view::npos) {
      if (open.size() == Syntax::kDeepest) return at - 1;
      open += Syntax::kClosing[opens];
    } else if (!Syntax::kSkipsWrong) {
      return at - 1;
    }
  }
  return at;
}

/// One past the partner of the bracket at `at`; npos where it has none in `longest` bytes: `futile`
/// grows then by the bytes looked through.
template <typename Syntax>
std::size_t partner_end(std::string_view text, std::size_t at, std::size_t longest,
                        std::size_t& futile) {
  text = text.substr(0, longest < text.size() - at ? at + longest : text.size());
  std::string open;
  const std::size_t end = follow_brackets<Syntax>(text, at, open);
  if (open.empty()) return end;
  futile += end - at;
  return std::string_view::npos;
}

}  // namespace relaunch::migrate
