#include "migrate/meant_type.hpp"

#include <algorithm>
#include <cstdint>
#include <utility>

#include "migrate/utf8.hpp"
#include "precompiled/core/types.hpp"

namespace relaunch::migrate {
namespace {

/// Words of other languages that name one of the types, in small letters.
constexpr std::pair<std::string_view, std::string_view> kForeign[] = {
    {"int8_t", "i8"},           {"uint8_t", "u8"},   {"int16_t", "i16"},
    {"uint16_t", "u16"},        {"int32_t", "i32"},  {"uint32_t", "u32"},
    {"int64_t", "i64"},         {"uint64_t", "u64"}, {"tl.constexpr", "constexpr"},
    {"nvtmadesc", "nvTmaDesc"},
};

std::string in_small_letters(std::string_view word) {
  std::string out(word);
  std::transform(out.begin(), out.end(), out.begin(), [](char c) {
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  });
  return out;
}

/// Blanks beyond ASCII, and marks without a width.
bool is_invisible(std::uint32_t code_point) {
  return code_point == 0xA0 || (code_point >= 0x2000 && code_point <= 0x200F) ||
         code_point == 0x202F || code_point == 0x205F || code_point == 0x2060 ||
         code_point == 0x3000 || code_point == 0xFEFF;
}

/// Without the invisible code points at both ends. `word` is valid UTF-8.
std::string_view visible(std::string_view word) {
  std::size_t begin = word.size();
  std::size_t end = 0;
  for (std::size_t at = 0; at < word.size();) {
    std::size_t length = 0;
    const std::uint32_t code_point = decode_code_point(word.substr(at), length);
    if (!is_invisible(code_point)) {
      begin = std::min(begin, at);
      end = at + length;
    }
    at += length;
  }
  return begin < end ? word.substr(begin, end - begin) : std::string_view();
}

}  // namespace

std::optional<std::string> meant_type(std::string_view word) {
  if (canonical_type(word)) return std::nullopt;
  std::string shown = in_small_letters(visible(word));
  std::erase(shown, ' ');  // behind a star
  const std::size_t last = shown.find_last_not_of('*');
  if (last == std::string::npos) return std::nullopt;
  const std::string behind = shown.substr(last + 1);
  if (!behind.empty() && shown.starts_with('*')) return std::nullopt;
  shown = behind + shown.substr(0, last + 1);
  const std::size_t stars = shown.find_first_not_of('*');
  for (const auto& [name, type] : kForeign) {
    if (std::string_view(shown).substr(stars) != name) continue;
    // Neither has a pointer to it.
    if (stars > 0 && (type == "constexpr" || type == "nvTmaDesc")) return std::nullopt;
    return shown.substr(0, stars) + std::string(type);
  }
  // A descriptor's layout has letters of its own.
  if (shown.find('<') != std::string::npos || shown == "tensordesc") return std::nullopt;
  return canonical_type(shown);
}

}  // namespace relaunch::migrate
