#pragma once
// One run of `relaunch migrate`: files in, what is written about them out. The command of the
// Python package and the native program are both this.

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "migrate/source.hpp"

namespace relaunch::migrate {

/// What a run can write instead of a report, in the order of the help.
std::vector<std::string_view> emitted_names();

class Session {
 public:
  using Write = std::function<void(std::string_view)>;

  /// `emit` is one of emitted_names(), or empty for the report. Everything goes to `out` (standard
  /// output) or `error`.
  Session(Form form, std::string emit, Write out, Write error);

  /// Reads the signatures of one file and writes what is to be written of each, as far as it is
  /// read: what `bytes` throws passes through.
  void read(ReadBytes bytes, const std::string& path);

  /// Says that a file could not be read, and why.
  void unreadable(std::string_view path, std::string_view reason);

  /// Writes what stands at the end. Returns the exit status: 2 where a file could not be read, 1
  /// where a signature has an error or cannot be written in the wanted form, else 0.
  int finish();

 private:
  void one(const Signature& signature);
  void write(const Signature& signature);
  std::string summary() const;

  Form form_;
  std::string emit_;
  Write out_;
  Write error_;
  std::size_t signatures_ = 0;
  std::size_t failed_ = 0;
  std::size_t warnings_ = 0;
  std::size_t written_ = 0;    // numbered so far
  std::size_t unwritten_ = 0;  // the wanted form has no place for them
  std::size_t unreadable_ = 0;
  std::vector<std::size_t> by_form_;
};

/// `path:line:col: CODE message` and a caret for everything that was found in a signature.
std::string findings(const Signature& signature);

/// A path as it is shown: bytes that are not UTF-8 as the escapes that Python shows for them.
std::string shown_path(std::string_view path);

}  // namespace relaunch::migrate
