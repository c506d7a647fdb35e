#include "migrate/utf8.hpp"

#include <algorithm>
#include <cstring>

namespace relaunch::migrate {
namespace {

std::uint8_t byte(std::string_view text, std::size_t at) {
  return static_cast<std::uint8_t>(text[at]);
}

}  // namespace

std::size_t sequence_length(std::string_view text) {
  if (text.empty()) return 0;
  const std::uint8_t lead = byte(text, 0);
  if (lead < 0x80) return 1;
  const std::size_t length = lead >= 0xF0 ? 4 : lead >= 0xE0 ? 3 : 2;
  if (lead < 0xC2 || lead > 0xF4 || text.size() < length) return 0;
  // The second byte alone rules out overlong forms, surrogates and what is over 10FFFF.
  const std::uint8_t second = byte(text, 1);
  const std::uint8_t low = lead == 0xE0 ? 0xA0 : lead == 0xF0 ? 0x90 : 0x80;
  const std::uint8_t high = lead == 0xED ? 0x9F : lead == 0xF4 ? 0x8F : 0xBF;
  if (second < low || second > high) return 0;
  for (std::size_t i = 2; i < length; ++i) {
    if ((byte(text, i) & 0xC0U) != 0x80U) return 0;
  }
  return length;
}

bool is_plain_ascii(std::string_view text) {
  const auto is_plain = [](char c) {
    return (c >= 0x20 && c < 0x7F) || c == '\t' || c == '\n' || c == '\r';
  };
  // Eight bytes at a time, as long as none is a control character, tabs and ends of lines included.
  constexpr std::uint64_t kOnes = 0x0101010101010101;
  constexpr std::uint64_t kHigh = 0x80 * kOnes;
  for (; text.size() >= sizeof(std::uint64_t); text.remove_prefix(sizeof(std::uint64_t))) {
    std::uint64_t word = 0;
    std::memcpy(&word, text.data(), sizeof word);
    const std::uint64_t below = word - 0x20 * kOnes;  // a byte's high bit: it is below a blank
    const std::uint64_t above = word + kOnes;         // ... or 7F
    if (((word | below | above) & kHigh) == 0) continue;
    const std::string_view bytes = text.substr(0, sizeof word);
    if (!std::all_of(bytes.begin(), bytes.end(), is_plain)) return false;
  }
  return std::all_of(text.begin(), text.end(), is_plain);
}

std::size_t first_invalid(std::string_view text) {
  for (std::size_t at = 0; at < text.size();) {
    if (byte(text, at) < 0x80) {
      ++at;
      continue;
    }
    const std::size_t length = sequence_length(text.substr(at));
    if (length == 0) return at;
    at += length;
  }
  return std::string_view::npos;
}

std::string replace_invalid(std::string_view text) {
  std::string out;
  out.reserve(text.size() + 16);
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t length = sequence_length(text.substr(at));
    if (length == 0) {
      out += "\xEF\xBF\xBD";
      ++at;
    } else {
      out += text.substr(at, length);
      at += length;
    }
  }
  return out;
}

std::size_t count_code_points(std::string_view text) {
  if (is_plain_ascii(text)) return text.size();
  std::size_t count = 0;
  for (std::size_t at = 0; at < text.size(); ++count) at = advance(text, at, 1);
  return count;
}

void append_code_point(std::string& out, std::uint32_t code_point) {
  const auto put = [&out](std::uint32_t value) { out += static_cast<char>(value); };
  if (code_point < 0x80) {
    put(code_point);
  } else if (code_point < 0x800) {
    put(0xC0U | code_point >> 6U);
    put(0x80U | (code_point & 0x3FU));
  } else if (code_point < 0x10000) {
    put(0xE0U | code_point >> 12U);
    put(0x80U | (code_point >> 6U & 0x3FU));
    put(0x80U | (code_point & 0x3FU));
  } else {
    put(0xF0U | code_point >> 18U);
    put(0x80U | (code_point >> 12U & 0x3FU));
    put(0x80U | (code_point >> 6U & 0x3FU));
    put(0x80U | (code_point & 0x3FU));
  }
}

std::uint32_t decode_code_point(std::string_view text, std::size_t& length) {
  length = std::max<std::size_t>(sequence_length(text), 1);
  std::uint32_t value = byte(text, 0);
  if (length > 1) value &= 0x7FU >> length;
  for (std::size_t i = 1; i < length; ++i) value = value << 6U | (byte(text, i) & 0x3FU);
  return value;
}

std::size_t advance(std::string_view text, std::size_t offset, std::size_t count) {
  for (; count > 0 && offset < text.size(); --count) {
    offset += std::max<std::size_t>(sequence_length(text.substr(offset)), 1);
  }
  return std::min(offset, text.size());
}

}  // namespace relaunch::migrate
