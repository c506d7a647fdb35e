#pragma once
// Numbers and strings as JSON text.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "precompiled/core/tree.hpp"

namespace relaunch::migrate {

/// The JSON text of a word that is a number: what Python's int() or float() reads, 0x10, 0o7 and
/// 0b1 besides. Floats keep a point or an exponent, as repr() writes them; nan and inf become
/// `{"float": "nan"}`. Empty where the word is no number. Throws Failure (RL008, at `span`) for an
/// integer of more than 4300 digits, which Python's json module refuses too.
std::optional<std::string> number_text(std::string_view word, Span span);

/// Whether a word is a number; one that number_text refuses as too large is one as well.
bool is_number(std::string_view word);

/// The value of a text of decimal digits alone; empty for every other text, and over 64 bits.
std::optional<std::uint64_t> index_value(std::string_view digits);

/// A string as JSON text in ASCII, other code points escaped. `text` is valid UTF-8.
void append_json_string(std::string& out, std::string_view text);

}  // namespace relaunch::migrate
