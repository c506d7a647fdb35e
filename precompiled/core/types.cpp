#include "precompiled/core/types.hpp"

#include <algorithm>

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

/// Every spelling of an element type with its canonical one: a hash table with linear probing, for
/// types are looked up once a parameter in all that is read.
class Spellings {
 public:
  constexpr Spellings() {
    for (const Word& word : kWords) {
      if (word.name == "*" || word.name == "constexpr" || word.name.starts_with("tensordesc")) {
        continue;
      }
      add(word.name, word.name);
      std::string_view aliases = word.aliases;
      while (!aliases.empty()) {
        const std::size_t end = std::min(aliases.find(' '), aliases.size());
        add(aliases.substr(0, end), word.name);
        aliases.remove_prefix(std::min(end + 1, aliases.size()));
      }
    }
  }

  struct Slot {
    std::string_view spelling;
    std::string_view canonical;  // empty for a word that is no spelling
    bool is_alias;               // `canonical` is another word
  };

  constexpr const Slot& find(std::string_view word) const {
    std::size_t at = place(word);
    while (!slots_[at].spelling.empty() && !is_same(slots_[at].spelling, word)) {
      at = (at + 1) % kSlots;
    }
    return slots_[at];
  }

 private:
  static constexpr std::size_t kSlots = 256;

  /// For words so short that a call of memcmp costs more.
  static constexpr bool is_same(std::string_view spelling, std::string_view word) {
    if (spelling.size() != word.size()) return false;
    for (std::size_t i = 0; i < word.size(); ++i) {
      if (spelling[i] != word[i]) return false;
    }
    return true;
  }

  static constexpr std::size_t place(std::string_view word) {
    if (word.empty()) return 0;
    const auto at = [word](std::size_t i) { return static_cast<unsigned char>(word[i]); };
    return (3 * at(0) + 7 * at(word.size() / 2) + 29 * at(word.size() - 1) + 5 * word.size()) %
           kSlots;
  }

  constexpr void add(std::string_view spelling, std::string_view canonical) {
    std::size_t at = place(spelling);
    while (!slots_[at].spelling.empty()) at = (at + 1) % kSlots;
    slots_[at] = {spelling, canonical, spelling != canonical};
    if (++count_ > kSlots / 4) throw "types.def: more spellings than the table is made for";
  }

  Slot slots_[kSlots] = {};
  std::size_t count_ = 0;
};

constexpr Spellings kSpellings;

constexpr std::string_view kIm2col = "tensordesc_im2col<";

bool is_descriptor(std::string_view word) {
  return word.starts_with("tensordesc<") || word.starts_with(kIm2col);
}

/// A tab is a blank inside of a line.
bool is_control(char c) { return (static_cast<unsigned char>(c) < 0x20 && c != '\t') || c == 0x7F; }

/// Whether a descriptor is the same word wherever it stands in a line of text, whatever its layout
/// holds: no control characters, every quote closed, and the last '>' the one that closes the first
/// '<' outside of quotes.
bool stands_in_line(std::string_view token) {
  if (std::any_of(token.begin(), token.end(), is_control)) return false;
  std::size_t depth = 0;
  for (std::size_t at = token.find('<'); at < token.size(); ++at) {
    const char c = token[at];
    if (c == '<') {
      ++depth;
    } else if (c == '>' && --depth == 0) {
      return at + 1 == token.size();
    } else if (c == '\'' || c == '"') {
      at = token.find(c, at + 1);
      if (at == std::string_view::npos) return false;
    }
  }
  return false;
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

bool take_plain_type(std::string_view word, std::string& out) {
  std::size_t stars = 0;
  while (stars < word.size() && word[stars] == '*') ++stars;
  std::size_t prefix = stars;  // bytes before the element: stars, and the 'k' of a constant
  const Spellings::Slot* found = &kSpellings.find(word.substr(prefix));
  if (found->canonical.empty() && stars > 0 && word.substr(stars).starts_with('k')) {
    found = &kSpellings.find(word.substr(++prefix));
  }
  if (found->canonical.empty()) return false;
  if (!found->is_alias) {
    out = word;
  } else {
    out = word.substr(0, prefix);
    out += found->canonical;
  }
  return true;
}

std::optional<std::string> canonical_type(std::string_view word) {
  std::optional<std::string> out(std::in_place);
  if (take_plain_type(word, *out)) return out;
  const bool by_itself = word == "constexpr" || word == info(Type::tdm_desc).name ||
                         (is_descriptor(word) && parse_descriptor(word));
  return by_itself ? std::optional<std::string>(word) : std::nullopt;
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
  if (!stands_in_line(token)) return std::nullopt;
  const std::size_t open = token.find('<');
  const std::size_t bracket = token.find('[', open);
  const std::size_t close = token.find(']', open);
  if (bracket == std::string_view::npos || close == std::string_view::npos) return std::nullopt;
  if (close < bracket) return std::nullopt;
  const auto element = kSpellings.find(token.substr(open + 1, bracket - open - 1)).canonical;
  const auto block = count_sizes(token.substr(bracket + 1, close - bracket - 1));
  if (element.empty() || !block) return std::nullopt;
  const bool is_im2col = token.starts_with(kIm2col);
  const auto rank = is_im2col ? input_rank(token.substr(close + 1)) : std::nullopt;
  return DescriptorType{std::string(element), rank.value_or(*block), is_im2col};
}

}  // namespace relaunch
