#include "migrate/hints.hpp"

#include <optional>
#include <string_view>

namespace relaunch::migrate {
namespace {

using Kind = Literal::Kind;

bool is_sequence(const Literal& literal) {
  return literal.kind == Kind::list || literal.kind == Kind::tuple;
}

void set(Owners& owners, const Key& key, std::string_view hint) {
  PyKernelArg* const owner = owners.find(key);
  if (owner != nullptr && owner->type == ArgKind::ARG_KERNEL) owner->hint = hint;
}

/// The hint that a property of that name gives to the parameters it lists; empty for others.
std::string_view hint_of(std::string_view property) {
  if (property == "divisible_by_16" || property == "tt.divisibility") return "16";
  if (property == "equal_to_1" || property == "tt.equal_to") return "1";
  return {};
}

/// `(0, 1)` under `divisible_by_16`.
bool set_listed(std::string_view property, const Literal& list, Owners& owners) {
  const std::string_view hint = hint_of(property);
  if (hint.empty()) return true;
  if (!is_sequence(list)) return list.kind == Kind::none;
  for (const Literal& item : list.items) {
    const auto key = key_of(item);
    if (!key) return false;
    set(owners, *key, hint);
  }
  return true;
}

/// `16`, or `[["tt.divisibility", 16], ...]`, under a parameter.
bool set_one(const Key& key, const Literal& value, Owners& owners) {
  if (value.kind == Kind::number) {
    if (value.value == "16" || value.value == "1") set(owners, key, value.value);
    return true;
  }
  if (!is_sequence(value)) return false;
  for (const Literal& property : value.items) {
    if (!is_sequence(property) || property.items.size() != 2) return false;
    const Literal& name = property.items[0];
    const Literal& number = property.items[1];
    if (name.kind == Kind::string && name.text.bytes == "tt.divisibility" && number.value == "16") {
      set(owners, key, "16");
    }
  }
  return true;
}

bool set_dict(const Literal& dict, Owners& owners) {
  bool all = true;
  for (std::size_t i = 0; i < dict.items.size(); ++i) {
    const Literal& name = dict.keys[i];
    const Literal& value = dict.items[i];
    const bool named = name.kind == Kind::string;
    if (named && name.text.bytes == "arg_properties" && value.kind == Kind::dict) {
      all = set_dict(value, owners) && all;
    } else if (named && !hint_of(name.text.bytes).empty()) {
      all = set_listed(name.text.bytes, value, owners) && all;
    } else if (const auto key = key_of(name); key && (!named || is_sequence(value))) {
      all = set_one(*key, value, owners) && all;
    } else {
      all = all && named;  // "cls" and the like
    }
  }
  return all;
}

bool set_call(const Literal& call, Owners& owners) {
  const std::string_view name = call.value;
  const std::string_view last = name.substr(name.rfind('.') + 1);
  if (last == "from_dict" || last == "from_hints") {
    return call.items.size() == 1 && call.items[0].kind == Kind::dict &&
           set_dict(call.items[0], owners);
  }
  const bool known = last == "AttrsDescriptor" || last == "instance_descriptor" ||
                     last == "AttrsDescriptorWrapper";  // of Inductor, over both
  if (!known) return false;
  constexpr std::string_view kPositions[] = {"divisible_by_16", "equal_to_1"};
  bool all = true;
  for (std::size_t i = 0; i < call.items.size(); ++i) {
    const bool positional = call.names[i].empty();
    if (positional && i >= std::size(kPositions)) continue;
    const std::string_view property = positional ? kPositions[i] : call.names[i];
    all = set_listed(property, call.items[i], owners) && all;
  }
  return all;
}

}  // namespace

bool set_hints(const Literal& attributes, Owners& owners) {
  if (attributes.kind == Kind::none) return true;
  if (attributes.kind == Kind::dict) return set_dict(attributes, owners);
  if (attributes.kind == Kind::call) return set_call(attributes, owners);
  if (!is_sequence(attributes)) return false;
  return attributes.items.empty() || set_hints(attributes.items[0], owners);
}

bool set_hints(const Literal& keys, const Literal& values, Owners& owners) {
  if (!is_sequence(keys) || !is_sequence(values) || keys.items.size() != values.items.size()) {
    return false;
  }
  bool all = true;
  for (std::size_t i = 0; i < keys.items.size(); ++i) {
    const auto key = key_of(keys.items[i]);
    all = key && set_one(*key, values.items[i], owners) && all;
  }
  return all;
}

}  // namespace relaunch::migrate
