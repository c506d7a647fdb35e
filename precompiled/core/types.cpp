#include "precompiled/core/types.hpp"

#include <cctype>

namespace relaunch {
namespace {

struct Word {
  std::string_view name;
  std::string_view aliases;
};

constexpr Word kWords[] = {
#define RELAUNCH_TYPE(code, id, name, aliases, size, alignment, converter) {name, aliases},
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
  if (word == "*" || word == "tensordesc" || word == "constexpr") return std::nullopt;
  for (const Word& known : kWords) {
    if (known.name == word || lists(known.aliases, word)) return std::string(known.name);
  }
  return std::nullopt;
}

bool is_descriptor(std::string_view word) {
  return word.starts_with("tensordesc<") || word.starts_with("tensordesc_im2col<");
}

}  // namespace

std::optional<std::string> canonical_type(std::string_view word) {
  if (word == "constexpr") return std::string(word);
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
  if (bracket == std::string_view::npos) return std::nullopt;
  auto element = canonical_element(token.substr(open + 1, bracket - open - 1));
  if (!element) return std::nullopt;
  std::uint32_t rank = 1;
  bool digits = false;
  for (std::size_t i = bracket + 1; i < token.size(); ++i) {
    const char c = token[i];
    if (c == ']') return digits ? std::optional<DescriptorType>({*element, rank}) : std::nullopt;
    if (std::isdigit(static_cast<unsigned char>(c)) != 0) {
      digits = true;
    } else if (c == ',' && digits) {
      ++rank;
      digits = false;
    } else if (c != ' ') {
      return std::nullopt;
    }
  }
  return std::nullopt;
}

}  // namespace relaunch
