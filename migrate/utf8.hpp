#pragma once
// UTF-8: validity, counting, and single code points.

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace relaunch::migrate {

/// Bytes of the valid sequence that `text` starts with; 0 where it starts with none. Surrogates,
/// overlong forms and code points over 10FFFF are not valid.
std::size_t sequence_length(std::string_view text);

/// Whether all is ASCII, without control characters but tabs and ends of lines: nearly every text.
bool is_plain_ascii(std::string_view text);

/// Offset of the first byte that belongs to no valid sequence; npos where all do.
std::size_t first_invalid(std::string_view text);

/// `text` with every invalid byte replaced by U+FFFD.
std::string replace_invalid(std::string_view text);

/// Code points; an invalid byte counts as one.
std::size_t count_code_points(std::string_view text);

void append_code_point(std::string& out, std::uint32_t code_point);

/// The code point that valid UTF-8 `text` starts with; `length` is set to its bytes.
std::uint32_t decode_code_point(std::string_view text, std::size_t& length);

/// Offset of the code point `count` further on than `offset`, or the end.
std::size_t advance(std::string_view text, std::size_t offset, std::size_t count);

}  // namespace relaunch::migrate
