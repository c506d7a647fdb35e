#include "migrate/line_diff.hpp"

#include <algorithm>
#include <cstddef>
#include <utility>
#include <vector>

namespace relaunch::migrate {
namespace {

constexpr std::size_t kContext = 3;  // lines around a change

/// Walks two texts line by line.
class Lines {
 public:
  explicit Lines(std::string_view text) : text_(text) {}

  bool end() const { return at_ >= text_.size(); }

  /// The next line with its newline, if it has one.
  std::string_view next() {
    const std::size_t begin = at_;
    const std::size_t newline = text_.find('\n', begin);
    at_ = newline == std::string_view::npos ? text_.size() : newline + 1;
    return text_.substr(begin, at_ - begin);
  }

 private:
  std::string_view text_;
  std::size_t at_ = 0;
};

struct Pair {
  std::string_view before;
  std::string_view after;

  bool changed() const { return before != after; }
};

void append_line(std::string& out, char mark, std::string_view line) {
  out += mark;
  out += line;
  if (!line.ends_with('\n')) out += "\n\\ No newline at end of file\n";
}

/// Lines from number `first` on, the last of them at most kContext behind a change.
void append_hunk(std::string& out, std::size_t first, const std::vector<Pair>& lines) {
  const auto range = [first](std::size_t count) {
    return std::to_string(first) + (count == 1 ? "" : "," + std::to_string(count));
  };
  out += "@@ -" + range(lines.size()) + " +" + range(lines.size()) + " @@\n";
  for (std::size_t i = 0; i < lines.size();) {
    if (!lines[i].changed()) {
      append_line(out, ' ', lines[i++].before);
      continue;
    }
    std::size_t end = i;
    while (end < lines.size() && lines[end].changed()) append_line(out, '-', lines[end++].before);
    while (i < end) append_line(out, '+', lines[i++].after);
  }
}

}  // namespace

std::string unified_diff(std::string_view before, std::string_view after, std::string_view path) {
  std::string out;
  Lines old_lines(before);
  Lines new_lines(after);
  std::vector<Pair> hunk;     // or the last lines before one
  std::size_t unchanged = 0;  // at the end of the hunk
  bool open = false;
  std::size_t number = 0;  // of the lines read
  const auto close = [&] {
    const std::size_t beyond = unchanged - std::min(unchanged, kContext);
    std::vector<Pair> rest(hunk.end() - static_cast<std::ptrdiff_t>(std::min(unchanged, kContext)),
                           hunk.end());
    hunk.resize(hunk.size() - beyond);
    append_hunk(out, number + 1 - hunk.size() - beyond, hunk);
    hunk = std::move(rest);
    open = false;
  };
  while (!old_lines.end() || !new_lines.end()) {
    const Pair pair{old_lines.next(), new_lines.next()};
    ++number;
    hunk.push_back(pair);
    unchanged = pair.changed() ? 0 : unchanged + 1;
    open = open || pair.changed();
    if (open && unchanged > 2 * kContext) close();
    if (!open && hunk.size() > kContext) hunk.erase(hunk.begin());
  }
  if (open) close();
  if (out.empty()) return out;
  return "--- " + std::string(path) + "\n+++ " + std::string(path) + "\n" + out;
}

}  // namespace relaunch::migrate
