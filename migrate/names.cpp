#include "migrate/names.hpp"

#include <algorithm>

namespace relaunch::migrate {

bool is_identifier(std::string_view word) {
  const auto is_letter = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' ||
           static_cast<unsigned char>(c) >= 0x80;
  };
  if (word.empty() || !is_letter(word[0])) return false;
  return std::all_of(word.begin(), word.end(),
                     [&](char c) { return is_letter(c) || (c >= '0' && c <= '9'); });
}

bool is_dotted_name(std::string_view word) {
  while (true) {
    const std::size_t dot = word.find('.');
    if (!is_identifier(word.substr(0, dot))) return false;
    if (dot == std::string_view::npos) return true;
    word.remove_prefix(dot + 1);
  }
}

bool is_placeholder(std::string_view word) {
  return word.find_first_of("%${") != std::string_view::npos;
}

}  // namespace relaunch::migrate
