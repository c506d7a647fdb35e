#include "migrate/owners.hpp"

#include <utility>

#include "migrate/number.hpp"

namespace relaunch::migrate {

std::string Key::spelled() const {
  if (path.empty()) return name;
  if (path.size() == 1) return std::to_string(path[0]);
  std::string out = "(" + std::to_string(path[0]);
  for (std::size_t i = 1; i < path.size(); ++i) out += ", " + std::to_string(path[i]);
  return out + ")";
}

std::optional<Key> key_of(const Literal& literal) {
  if (literal.kind == Literal::Kind::string) {
    if (const auto index = index_value(literal.text.bytes)) return Key{{}, {*index}};
    return Key{literal.text.bytes, {}};
  }
  std::vector<std::uint64_t> path;
  const auto add = [&path](const Literal& number) {
    const auto index = index_value(number.value);
    if (index) path.push_back(*index);
    return index.has_value();
  };
  if (literal.kind == Literal::Kind::number) {
    if (add(literal)) return Key{{}, std::move(path)};
    return std::nullopt;
  }
  const bool sequence = literal.kind == Literal::Kind::tuple || literal.kind == Literal::Kind::list;
  if (!sequence || literal.items.empty()) return std::nullopt;
  for (const Literal& item : literal.items) {
    if (item.kind != Literal::Kind::number || !add(item)) return std::nullopt;
  }
  return Key{{}, std::move(path)};
}

Owners::Owners(Entries& entries) : entries_(entries) {
  for (std::size_t i = 0; i < entries.parameters.size(); ++i) {
    if (!entries.parameters[i].name.empty()) by_name_.emplace(entries.parameters[i].name, i);
    if (i < entries.indices.size() && entries.indices[i]) {
      by_index_.emplace(*entries.indices[i], i);
    }
  }
}

PyKernelArg* Owners::find(const Key& key) {
  if (key.path.empty()) {
    const auto found = by_name_.find(key.name);
    return found == by_name_.end() ? nullptr : &entries_.parameters[found->second];
  }
  std::uint64_t first = key.path[0];
  if (!by_index_.empty()) {
    const auto found = by_index_.find(first);
    const bool mixed = !by_name_.empty();  // names beside indices: a name's index is its position
    if (found == by_index_.end() && !mixed) return nullptr;
    if (found != by_index_.end()) first = found->second;
  }
  std::vector<PyKernelArg>* level = &entries_.parameters;
  PyKernelArg* owner = nullptr;
  for (std::size_t i = 0; i < key.path.size(); ++i) {
    const std::uint64_t at = i == 0 ? first : key.path[i];
    if (at >= level->size()) return nullptr;
    owner = &(*level)[at];
    level = &owner->nested_tuple;
  }
  return owner;
}

}  // namespace relaunch::migrate
