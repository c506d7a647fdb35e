#include "migrate/window.hpp"

#include <algorithm>
#include <utility>

namespace relaunch::migrate {

Window::Window(std::string_view whole) : whole_(whole) { fill(); }

Window::Window(ReadBytes read) : read_(std::move(read)) { fill(); }

void Window::drop(std::size_t count) {
  if (read_) {
    std::copy(bytes_.begin() + static_cast<std::ptrdiff_t>(count), bytes_.end(), buffer_.begin());
    bytes_ = {buffer_.data(), bytes_.size() - count};
  } else {
    whole_.remove_prefix(count);
  }
  fill();
}

void Window::fill() {
  if (!read_) {
    bytes_ = whole_.substr(0, kSize);
    is_last_ = bytes_.size() == whole_.size();
    return;
  }
  constexpr std::size_t kFirst = std::size_t{1} << 16U;
  std::size_t size = bytes_.size();
  while (!is_last_ && size < kSize) {
    if (size == buffer_.size()) buffer_.resize(std::min(std::max(2 * size, kFirst), kSize));
    const std::size_t count = read_(buffer_.data() + size, buffer_.size() - size);
    size += count;
    is_last_ = count == 0;
  }
  bytes_ = {buffer_.data(), size};
}

}  // namespace relaunch::migrate
