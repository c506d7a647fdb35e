#pragma once
// The findings of a signature, and of a file, mended where that is safe.
//
// A signature with warnings alone keeps its tree. One with errors is rewritten only where all of
// its errors can be, and gets the tree that a second way of mending them gives too. Whatever else
// stands in the file keeps its bytes, and every line its number.

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "migrate/remedy.hpp"
#include "migrate/source.hpp"

namespace relaunch::migrate {

/// One signature, mended or left as it was.
struct Mended {
  std::string chunk;             // what stands in the file then
  Parsed after;                  // what that is read as
  std::vector<Remedy> remedies;  // of each finding before: edits only where they were made
  std::size_t findings = 0;      // mended; more than remedies where one hid another
};

/// `bytes` is the file that the signature was read from.
Mended mend(const Signature& signature, std::string_view bytes);

struct FixedFile {
  std::string bytes;         // empty where there is nothing to mend
  std::size_t findings = 0;  // mended
};

/// A file with all its signatures mended.
FixedFile fix(std::string_view bytes, const std::string& path, Form form);

/// A signature of a file before and after.
struct Pair {
  const Signature& before;
  const Mended& promised;
  const Signature& after;
  const Mended& rest;  // what mending once more does: nothing, and why
};
using Compare = std::function<void(const Pair&)>;

/// Reads both side by side. Returns where they are not what was promised, signature by signature,
/// or where mending once more would change something again; nothing where all is well.
std::optional<std::string> broken_promise(std::string_view before, std::string_view after,
                                          const std::string& path, Form form,
                                          const Compare& compare = {});

}  // namespace relaunch::migrate
