#include "precompiled/core/types.hpp"

namespace relaunch {
namespace {

constexpr std::uint32_t kMostDimensions = 1000;  // of an input_rank that is believed

struct Word {
  std::string_view name;
  std::string_view aliases;
};

constexpr Word kWords[] = {
#define RELAUNCH_TYPE(code, id, name, aliases, size, alignment) {name, aliases},
#define RELAUNCH_POINTEE(name, aliases) {name, aliases},
#include "precompiled/core/types.def"
#undef RELAUNCH_TYPE
#undef RELAUNCH_POINTEE
};

bool lists(std::string_view aliases, std::string_view word) {
  while (!aliases.empty()) {
    const std::size_t blank = aliases.find(' ');
    if (aliases.substr(0, blank) == word) return true;
    if (blank == std::string_view::npos) break;
    aliases.remove_prefix(blank + 1);
  }
  return false;
}

std::optional<std::string> canonical_element(std::string_view word) {
  if (word == "*" || word == "constexpr" || word.starts_with("tensordesc")) return std::nullopt;
  for (const Word& known : kWords) {
    if (known.name == word || lists(known.aliases, word)) return std::string(known.name);
  }
  return std::nullopt;
}

constexpr std::string_view kIm2col = "tensordesc_im2col<";

bool is_descriptor(std::string_view word) {
  return word.starts_with("tensordesc<") || word.starts_with(kIm2col);
}

bool is_digit(char c) { return c >= '0' && c <= '9'; }

/// How many sizes `64, 64` lists; empty where it is no such list.
std::optional<std::uint32_t> count_sizes(std::string_view text) {
  std::uint32_t count = 1;
  bool digits = false;
  for (const char c : text) {
    if (is_digit(c)) {
      digits = true;
    } else if (c == ',' && digits) {
      ++count;
      digits = false;
    } else if (c != ' ') {
      return std::nullopt;
    }
  }
  return digits ? std::optional(count) : std::nullopt;
}

/// The N of `,input_rank=N` at the start of what follows an im2col descriptor's block.
std::optional<std::uint32_t> input_rank(std::string_view rest) {
  constexpr std::string_view kKey = "input_rank=";
  if (!rest.starts_with(',')) return std::nullopt;
  rest.remove_prefix(1);
  while (rest.starts_with(' ')) rest.remove_prefix(1);
  if (!rest.starts_with(kKey)) return std::nullopt;
  std::uint32_t rank = 0;
  for (const char c : rest.substr(kKey.size())) {
    if (!is_digit(c)) break;
    rank = rank * 10 + static_cast<std::uint32_t>(c - '0');
    if (rank > kMostDimensions) return std::nullopt;
  }
  return rank > 0 ? std::optional(rank) : std::nullopt;
}

}  // namespace

std::optional<std::string> canonical_type(std::string_view word) {
  if (word == "constexpr" || word == info(Type::tdm_desc).name) return std::string(word);
  if (is_descriptor(word)) {
    if (!parse_descriptor(word)) return std::nullopt;
    return std::string(word);
  }
  std::size_t stars = 0;
  while (stars < word.size() && word[stars] == '*') ++stars;
  std::string prefix(stars, '*');
  std::string_view element = word.substr(stars);
  if (auto canonical = canonical_element(element)) return prefix + *canonical;
  if (stars > 0 && element.starts_with('k')) {
    if (auto canonical = canonical_element(element.substr(1))) return prefix + "k" + *canonical;
  }
  return std::nullopt;
}

std::optional<Type> find_type(std::string_view canonical) {
  if (canonical.starts_with('*')) return Type::pointer;
  if (is_descriptor(canonical)) return Type::tensordesc;
  for (const TypeInfo& entry : kTypes) {
    if (entry.name == canonical && entry.type != Type::tensordesc) return entry.type;
  }
  return std::nullopt;
}

const TypeInfo& info(Type type) { return kTypes[static_cast<std::size_t>(type) - 1]; }

std::optional<DescriptorType> parse_descriptor(std::string_view token) {
  if (!is_descriptor(token) || !token.ends_with('>')) return std::nullopt;
  const std::size_t open = token.find('<');
  const std::size_t bracket = token.find('[', open);
  const std::size_t close = token.find(']', open);
  if (bracket == std::string_view::npos || close == std::string_view::npos) return std::nullopt;
  if (close < bracket) return std::nullopt;
  auto element = canonical_element(token.substr(open + 1, bracket - open - 1));
  const auto block = count_sizes(token.substr(bracket + 1, close - bracket - 1));
  if (!element || !block) return std::nullopt;
  const bool is_im2col = token.starts_with(kIm2col);
  const auto rank = is_im2col ? input_rank(token.substr(close + 1)) : std::nullopt;
  return DescriptorType{*element, rank.value_or(*block), is_im2col};
}

}  // namespace relaunch
