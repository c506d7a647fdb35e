#pragma once
// A file as its readers see it: a piece at a time, so that no file is too long to be read.

#include <cstddef>
#include <functional>
#include <string_view>
#include <vector>

namespace relaunch::migrate {

/// Puts up to `most` more bytes of a file at `into` and says how many; 0 at its end. What it throws
/// passes through the reader.
using ReadBytes = std::function<std::size_t(char* into, std::size_t most)>;

/// The bytes of a file from some place on: up to kSize of them. Memory is not copied.
class Window {
 public:
  static constexpr std::size_t kSize = std::size_t{1} << 23U;

  /// `whole` must live as long as the window.
  explicit Window(std::string_view whole);
  explicit Window(ReadBytes read);
  Window(Window&&) = default;
  Window& operator=(Window&&) = default;

  std::string_view bytes() const { return bytes_; }

  /// Whether bytes() reach the end of the file.
  bool is_last() const { return is_last_; }

  /// Drops the first `count` bytes and shows as many more as there are.
  void drop(std::size_t count);

 private:
  void fill();

  ReadBytes read_;            // none for memory
  std::string_view whole_;    // of memory: from bytes() on
  std::vector<char> buffer_;  // of a file
  std::string_view bytes_;
  bool is_last_ = false;
};

}  // namespace relaunch::migrate
