#include "precompiled/binary/metadata_lines.hpp"

#include <charconv>

namespace relaunch::binary {
namespace {

std::string_view trimmed(std::string_view text) {
  while (!text.empty() && (text.back() == ' ' || text.back() == '\t' || text.back() == '\r')) {
    text.remove_suffix(1);
  }
  const std::size_t begin = text.find_first_not_of(" \t");
  return begin == std::string_view::npos ? std::string_view() : text.substr(begin);
}

/// Where a scalar ends that begins with a quote: behind the closing one; npos where there is none.
std::size_t end_of_quoted(std::string_view text) {
  for (std::size_t i = 1; i < text.size(); ++i) {
    if (text[0] == '"' && text[i] == '\\') {
      ++i;
    } else if (text[i] == text[0]) {
      if (text[0] == '"' || text.substr(i, 2) != "''") return i + 1;
      ++i;
    }
  }
  return std::string_view::npos;
}

bool is_quoted(std::string_view text) { return text.starts_with('\'') || text.starts_with('"'); }

/// Where the colon behind a key stands; npos where the line has no key.
std::size_t find_colon(std::string_view text) {
  std::size_t from = 0;
  if (is_quoted(text)) from = end_of_quoted(text);
  while (from < text.size()) {
    const std::size_t colon = text.find(':', from);
    if (colon == std::string_view::npos) return colon;
    if (colon + 1 == text.size() || text[colon + 1] == ' ' || text[colon + 1] == '\t') return colon;
    from = colon + 1;
  }
  return std::string_view::npos;
}

/// Without the comment that a blank and `#` begin.
std::string_view without_comment(std::string_view value) {
  std::size_t from = 0;
  if (is_quoted(value)) from = std::min(end_of_quoted(value), value.size());
  for (std::size_t i = from; i < value.size(); ++i) {
    if (value[i] == '#' && (i == 0 || value[i - 1] == ' ' || value[i - 1] == '\t')) {
      return trimmed(value.substr(0, i));
    }
  }
  return value;
}

}  // namespace

std::string_view MetadataLines::take_line() {
  const std::size_t end = text_.find('\n');
  const std::string_view line = text_.substr(0, end);
  const std::size_t taken = end == std::string_view::npos ? text_.size() : end + 1;
  text_.remove_prefix(taken);
  where_.offset += taken;
  ++where_.line;
  return line;
}

bool MetadataLines::next(MetadataLine& line) {
  while (!text_.empty()) {
    const Where start = where_;
    const std::string_view whole = take_line();
    std::size_t at = whole.find_first_not_of(' ');
    const std::string_view content = trimmed(whole);
    if (content.empty() || content.starts_with('#')) continue;
    if (at == 0 && (content == "---" || content == "...")) continue;
    if (whole[at] == '\t') {
      throw BinaryError(Fault::malformed, start, "metadata that is indented by blanks", "a tab");
    }
    line = {};
    line.where = {start.offset + at, start.line};
    while (at < whole.size() && whole[at] == '-' &&
           (at + 1 == whole.size() || whole[at + 1] == ' ')) {
      line.dash = at;
      at = std::min(whole.find_first_not_of(' ', at + 1), whole.size());
    }
    line.column = at;
    const std::string_view rest = without_comment(trimmed(whole.substr(at)));
    const std::size_t colon = find_colon(rest);
    if (colon == std::string_view::npos) {
      line.value = rest;
      return true;
    }
    std::string_view key = trimmed(rest.substr(0, colon));
    if (is_quoted(key) && key.size() > 1) key = key.substr(1, key.size() - 2);
    line.key = key;
    line.value = trimmed(rest.substr(colon + 1));
    return true;
  }
  return false;
}

void MetadataLines::skip_block(std::size_t column) {
  while (!text_.empty()) {
    const std::string_view line = text_.substr(0, text_.find('\n'));
    const std::size_t begin = line.find_first_not_of(" \r");
    if (begin != std::string_view::npos && begin <= column) return;
    take_line();
  }
}

std::string plain_text(std::string_view value, Where where) {
  if (!is_quoted(value)) return std::string(value);
  const std::size_t end = end_of_quoted(value);
  if (end != value.size()) {
    throw BinaryError(Fault::malformed, where, "a text that ends with its quote", quoted(value));
  }
  std::string out;
  const std::string_view inside = value.substr(1, value.size() - 2);
  for (std::size_t i = 0; i < inside.size(); ++i) {
    // A doubled quote stands for one; a backslash, between double quotes, for what follows it.
    if (inside[i] == '\'' || (inside[i] == '\\' && value[0] == '"')) {
      if (value[0] == '\'' || inside[i] == '\\') ++i;
    }
    if (i < inside.size()) out += inside[i];
  }
  return out;
}

std::uint64_t plain_number(std::string_view value, Where where) {
  std::string_view digits = value;
  const int base = digits.starts_with("0x") ? 16 : 10;
  if (base == 16) digits.remove_prefix(2);
  std::uint64_t number = 0;
  const auto [end, error] =
      std::from_chars(digits.data(), digits.data() + digits.size(), number, base);
  if (error == std::errc() && end == digits.data() + digits.size()) return number;
  throw BinaryError(Fault::malformed, where, "an integer from 0 on", quoted(value));
}

}  // namespace relaunch::binary
