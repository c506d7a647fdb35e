#pragma once
// Which brackets of a file belong together, found before anything is read, so that a literal that
// is never closed costs its own line and not the rest of the file.

#include <cstddef>
#include <string_view>
#include <utility>
#include <vector>

namespace relaunch::migrate {

class Brackets {
 public:
  explicit Brackets(std::string_view text);

  /// Where a literal that begins at `at` ends: the end of the line on which its last bracket or
  /// triple-quoted string closes, without the newline.
  std::size_t literal_end(std::size_t at) const;

 private:
  void match(std::size_t at);
  std::size_t skip_string(std::size_t at);

  std::string_view text_;
  std::vector<std::pair<std::size_t, std::size_t>> pairs_;    // open, close (npos: none)
  std::vector<std::size_t> open_;                             // indices into pairs_
  std::vector<std::pair<std::size_t, std::size_t>> strings_;  // begin, end
  bool triples_close_ = true;
};

}  // namespace relaunch::migrate
