#include "migrate/number.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdint>

#include "migrate/diagnostic.hpp"
#include "migrate/scan.hpp"
#include "migrate/utf8.hpp"

namespace relaunch::migrate {
namespace {

constexpr std::size_t kMostDigits = 4300;

bool is_digit(char c) { return c >= '0' && c <= '9'; }

/// The word without the underscores that may stand between two digits; empty where one stands
/// elsewhere.
std::string without_underscores(std::string_view word) {
  const auto is_letter_or_digit = [](char c) { return c != '_' && c != '.' && c != '-'; };
  std::string out;
  for (std::size_t i = 0; i < word.size(); ++i) {
    if (word[i] != '_') {
      out += word[i];
    } else if (i == 0 || i + 1 == word.size() || !is_letter_or_digit(word[i - 1]) ||
               !is_letter_or_digit(word[i + 1])) {
      return {};
    }
  }
  return out;
}

/// Whether `word` is `lower` in letters of any case.
bool spells(std::string_view word, std::string_view lower) {
  return std::equal(word.begin(), word.end(), lower.begin(), lower.end(), [](char c, char l) {
    return (c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c) == l;
  });
}

std::optional<std::string> special(std::string_view digits, bool negative) {
  if (spells(digits, "nan")) return R"({"float": "nan"})";
  if (!spells(digits, "inf") && !spells(digits, "infinity")) return std::nullopt;
  return negative ? R"({"float": "-inf"})" : R"({"float": "inf"})";
}

/// Sign and digits of a shortest float, written as Python's repr() does: with an exponent below
/// 1e-4 and from 1e16 on.
std::string repr(double value) {
  char buffer[32];
  const auto end =
      std::to_chars(buffer, buffer + sizeof buffer, value, std::chars_format::scientific);
  std::string_view scientific(buffer, static_cast<std::size_t>(end.ptr - buffer));
  const std::size_t mark = scientific.find('e');
  int exponent = 0;
  std::string_view power = scientific.substr(mark + 1);
  if (power.starts_with('+')) power.remove_prefix(1);
  std::from_chars(power.data(), power.data() + power.size(), exponent);
  if (exponent < -4 || exponent >= 16) return std::string(scientific);
  const auto fixed = std::to_chars(buffer, buffer + sizeof buffer, value, std::chars_format::fixed);
  std::string out(buffer, fixed.ptr);
  if (out.find('.') == std::string::npos) out += ".0";
  return out;
}

std::optional<std::string> floating(std::string_view digits, bool negative) {
  if (digits.empty() || (!is_digit(digits[0]) && digits[0] != '.')) return std::nullopt;
  double value = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  if (end != digits.data() + digits.size() || error == std::errc::invalid_argument) {
    return std::nullopt;
  }
  if (error == std::errc::result_out_of_range) {
    // Too large or too small: the sign of the power of ten tells which.
    const std::size_t mark = digits.find_first_of("eE");
    const bool tiny = mark == std::string_view::npos
                          ? digits.find_first_not_of("0.") > digits.find('.')
                          : digits.substr(mark + 1).starts_with('-');
    if (!tiny) return special("inf", negative);
    value = 0;
  }
  return repr(negative ? -value : value);
}

std::optional<std::string> based(std::string_view digits, bool negative, Span span) {
  const char letter = digits.size() > 2 && digits[0] == '0' ? digits[1] : '\0';
  const int base = letter == 'x' || letter == 'X'   ? 16
                   : letter == 'o' || letter == 'O' ? 8
                   : letter == 'b' || letter == 'B' ? 2
                                                    : 0;
  if (base == 0) return std::nullopt;
  std::uint64_t value = 0;
  const char* const last = digits.data() + digits.size();
  const auto [end, error] = std::from_chars(digits.data() + 2, last, value, base);
  if (end != last || error == std::errc::invalid_argument) return std::nullopt;
  if (error == std::errc::result_out_of_range) {
    fail(kBadNumber, "a hexadecimal, octal or binary number over 64 bits is not read", span);
  }
  return (negative && value != 0 ? "-" : "") + std::to_string(value);
}

std::optional<std::string> integer(std::string_view digits, bool negative, Span span) {
  if (digits.empty() || !std::all_of(digits.begin(), digits.end(), is_digit)) return std::nullopt;
  const std::size_t first = std::min(digits.find_first_not_of('0'), digits.size() - 1);
  digits.remove_prefix(first);
  if (digits.size() > kMostDigits) {
    fail(kBadNumber, "an integer of more than 4300 digits is not read", span);
  }
  if (!negative || digits == "0") return std::string(digits);
  return "-" + std::string(digits);
}

/// Digits alone, as few as nearly every number has, that are written as JSON writes them.
bool is_plain_integer(std::string_view word) {
  constexpr std::size_t kFew = 19;
  if (word.size() > kFew || (word[0] == '0' && word.size() > 1)) return false;
  return std::all_of(word.begin(), word.end(), is_digit);
}

}  // namespace

std::optional<std::string> number_text(std::string_view word, Span span) {
  // The characters that one begins with: most words are asked in vain.
  static constexpr CharacterSet kFirst("0123456789.+-nNiI");
  if (word.empty() || !kFirst.has(word[0])) return std::nullopt;
  if (is_plain_integer(word)) return std::string(word);
  const bool negative = word.starts_with('-');
  if (negative || word.starts_with('+')) word.remove_prefix(1);
  if (word.empty()) return std::nullopt;
  if (!is_digit(word[0]) && word[0] != '.') return special(word, negative);
  if (auto text = integer(word, negative, span)) return text;
  const std::string digits = without_underscores(word);
  if (auto text = integer(digits, negative, span)) return text;
  if (auto text = based(digits, negative, span)) return text;
  return floating(digits, negative);
}

bool is_number(std::string_view word) {
  try {
    return number_text(word, {}).has_value();
  } catch (const Failure&) {
    return true;
  }
}

std::optional<std::uint64_t> index_value(std::string_view digits) {
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  if (digits.empty() || end != digits.data() + digits.size() || error != std::errc()) {
    return std::nullopt;
  }
  return value;
}

void append_json_string(std::string& out, std::string_view text) {
  constexpr std::string_view kPlain = "\"\\\b\f\n\r\t";
  constexpr std::string_view kLetter = "\"\\bfnrt";
  constexpr std::string_view kDigits = "0123456789abcdef";
  const auto escape = [&out, kDigits](std::uint32_t unit) {
    out += "\\u";
    for (int shift = 12; shift >= 0; shift -= 4) out += kDigits[unit >> shift & 15U];
  };
  out += '"';
  for (std::size_t at = 0; at < text.size();) {
    const char c = text[at];
    std::size_t length = 1;
    if (const std::size_t named = kPlain.find(c); named != std::string_view::npos) {
      out += '\\';
      out += kLetter[named];
    } else if (c >= 0x20 && c < 0x7F) {
      out += c;
    } else {
      const std::uint32_t value = decode_code_point(text.substr(at), length);
      if (value >= 0x10000) {
        escape(0xD800 + ((value - 0x10000) >> 10U));
        escape(0xDC00 + ((value - 0x10000) & 0x3FFU));
      } else {
        escape(value);
      }
    }
    at += length;
  }
  out += '"';
}

}  // namespace relaunch::migrate
