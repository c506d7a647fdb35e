#pragma once
// Whom a constant or a hint is for: parameters of a signature by name, index or path of indices.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "migrate/literal.hpp"
#include "migrate/signature_literal.hpp"

namespace relaunch::migrate {

/// A name, or a path of indices: `(1, 0)` is the first item of the second parameter.
struct Key {
  std::string name;
  std::vector<std::uint64_t> path;

  /// As it is written: the name, `3`, or `(1, 0)`.
  std::string spelled() const;
};

/// The key that a literal is: a string (of digits: an index), a number, a tuple or list of numbers.
std::optional<Key> key_of(const Literal& literal);

/// Integer keys mean the integer keys of the signature where it has them, positions otherwise.
class Owners {
 public:
  explicit Owners(Entries& entries);

  /// The parameter, or null.
  PyKernelArg* find(const Key& key);

 private:
  Entries& entries_;
  std::unordered_map<std::string, std::size_t> by_name_;
  std::unordered_map<std::uint64_t, std::size_t> by_index_;
};

}  // namespace relaunch::migrate
