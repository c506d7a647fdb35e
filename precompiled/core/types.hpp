#pragma once
// The type table of signatures, from types.def.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace relaunch {

enum class Type : std::uint8_t {
#define RELAUNCH_TYPE(code, id, name, aliases, size, alignment) id = code,
#define RELAUNCH_POINTEE(name, aliases)
#include "precompiled/core/types.def"
#undef RELAUNCH_TYPE
#undef RELAUNCH_POINTEE
};

struct TypeInfo {
  Type type;
  std::string_view name;
  std::string_view aliases;  // separated by blanks
  std::uint32_t size;        // bytes
  std::uint32_t alignment;   // bytes
};

inline constexpr TypeInfo kTypes[] = {
#define RELAUNCH_TYPE(code, id, name, aliases, size, alignment) \
  {Type::id, name, aliases, size, alignment},
#define RELAUNCH_POINTEE(name, aliases)
#include "precompiled/core/types.def"
#undef RELAUNCH_TYPE
#undef RELAUNCH_POINTEE
};
static_assert(sizeof(kTypes) / sizeof(kTypes[0]) == 19, "types.def: append only; update the count");

/// The canonical spelling of a type word: `float32` -> `fp32`, `* float16` is not a word,
/// `*kfloat16` -> `*kfp16`, `**i8` -> `**i8`. `tensordesc<...>` and `tensordesc_im2col<...>` keep
/// their text. Empty where the word names no type. A pointee-only word (`fp8e4nv`, `void`) by
/// itself is canonical too: whether it can be a parameter is the plan's question.
std::optional<std::string> canonical_type(std::string_view word);

/// The same into `out`, of what is spelled with the words of the table and stars alone. False, and
/// nothing is written, for every other word, `constexpr` and descriptors too.
bool take_plain_type(std::string_view word, std::string& out);

/// The table entry of a canonical type; empty for pointee-only words.
std::optional<Type> find_type(std::string_view canonical);

const TypeInfo& info(Type type);

/// A descriptor's token taken apart: `tensordesc<fp16[64, 64]>`, which may go on behind the block
/// (`,layout>`), or `tensordesc_im2col<fp16[64, 32],input_rank=4>`.
struct DescriptorType {
  std::string element;  // canonical
  std::uint32_t rank;   // of shape and strides, >= 1: the block's, or the input's where it is given
  bool is_im2col = false;
};
/// Empty where the text is none.
std::optional<DescriptorType> parse_descriptor(std::string_view token);

}  // namespace relaunch
