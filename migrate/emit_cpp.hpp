#pragma once
// Signatures as a C++ header of constexpr tables, for relaunch.hpp.

#include <cstddef>
#include <string>

#include "migrate/source.hpp"

namespace relaunch::migrate {

/// What the header begins with: include guard, includes, and the structs of its tables.
std::string cpp_begin();

/// One signature, the `number`th from 1: `signature_1`, with its text for relaunch::launcher and a
/// table of its kernel parameters. Only for a signature without errors.
std::string to_cpp(const Signature& signature, std::size_t number);

/// What the header ends with: the table of all `count` signatures.
std::string cpp_end(std::size_t count);

}  // namespace relaunch::migrate
