#include "migrate/names.hpp"

#include <cstdint>
#include <string>

#include "migrate/scan.hpp"
#include "migrate/utf8.hpp"

namespace relaunch::migrate {

namespace {

/// Blanks, controls and invisible marks beyond ASCII, which no identifier holds.
bool is_invisible(std::uint32_t code_point) {
  return (code_point >= 0x80 && code_point <= 0xA0) ||
         (code_point >= 0x2000 && code_point <= 0x206F) || code_point == 0x3000 ||
         code_point == 0xFEFF || code_point == 0xFFFD;
}

/// Beyond ASCII.
bool is_letter(std::uint32_t code_point) { return code_point >= 0x80 && !is_invisible(code_point); }

}  // namespace

bool is_identifier(std::string_view word) {
  static constexpr CharacterSet kPlain(
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_0123456789");
  if (word.empty() || (word[0] >= '0' && word[0] <= '9')) return false;
  for (std::size_t at = 0; at < word.size();) {
    if (kPlain.has(word[at])) {
      ++at;
      continue;
    }
    std::size_t length = 0;
    const std::uint32_t c = decode_code_point(word.substr(at), length);
    if (!is_letter(c)) return false;
    at += length;
  }
  return true;
}

bool is_parameter_name(std::string_view word) {
  std::size_t dot = word.find('.');
  if (!is_identifier(word.substr(0, dot))) return false;
  while (dot != std::string_view::npos) {
    word.remove_prefix(dot + 1);
    dot = word.find('.');
    const std::string part = "_" + std::string(word.substr(0, dot));  // may begin with a digit
    if (part.size() == 1 || !is_identifier(part)) return false;
  }
  return true;
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
