#pragma once
// The lines of AMDGPU metadata in assembly, each taken apart: `  - .offset:  8` is an item that
// begins in column 2, whose key `.offset` stands in column 4.

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "precompiled/binary/error.hpp"

namespace relaunch::binary {

struct MetadataLine {
  Where where;                          // of the first dash, or else of the key
  std::optional<std::size_t> dash;      // column of `- `, the last one where there are several
  std::size_t column = 0;               // of what follows
  std::optional<std::string_view> key;  // without quotes
  std::string_view value;               // as written, blanks around it off; may be empty
};

class MetadataLines {
 public:
  /// `text` begins at `where` of its file.
  MetadataLines(std::string_view text, Where where) : text_(text), where_(where) {}

  /// The next line that says something; false at the end. Throws BinaryError (malformed).
  bool next(MetadataLine& line);
  /// Passes the lines that belong to a text block (`|`, `>`) of a key in that column.
  void skip_block(std::size_t column);

  Where where() const { return where_; }

 private:
  std::string_view take_line();

  std::string_view text_;
  Where where_;
};

/// A scalar without its quotes. Throws BinaryError (malformed) where a quote is not closed.
std::string plain_text(std::string_view value, Where where);

/// Throws BinaryError (malformed) for what is no integer from 0 on.
std::uint64_t plain_number(std::string_view value, Where where);

}  // namespace relaunch::binary
