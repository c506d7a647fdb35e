#pragma once
// One run of `relaunch migrate`: files in, what is written about them out. The command of the
// Python package and the native program are both this.

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "migrate/fix.hpp"
#include "migrate/snapshot.hpp"
#include "migrate/source.hpp"

namespace relaunch::migrate {

/// What a run can write instead of a report, in the order of the help.
std::vector<std::string_view> emitted_names();

/// Where a run writes: standard output and standard error.
struct Streams {
  using Write = std::function<void(std::string_view)>;

  Write out;
  Write error;
  Write raw_out;  // bytes of files, whatever they are
  Write raw_error;
  std::function<bool()> flush;  // both; false where what was written could not be
};

/// What is done about findings that can be mended: nothing, a diff, or a diff and then the change.
enum class Fixing { none, show, apply };

class Session {
 public:
  /// `emit` is one of emitted_names(), or empty for the report.
  Session(Form form, std::string emit, Streams streams, Fixing fixing = Fixing::none);

  /// Reads the signatures of one file and writes what is to be written of each, as far as it is
  /// read: what `bytes` throws passes through.
  void read(ReadBytes bytes, const std::string& path);

  /// The same with Fixing::show or ::apply, of a file by its name in the file system, or of
  /// standard input, which becomes the mended text on standard output.
  void fix_file(const std::string& name);
  void fix_input(std::string_view bytes);

  /// Says that a file could not be read, and why.
  void unreadable(std::string_view path, std::string_view reason);

  /// Writes what stands at the end. Returns the exit status: 2 where a file could not be read or
  /// replaced, 1 where a signature has an error or cannot be written in the wanted form, or where
  /// Fixing::show has shown a change, else 0.
  int finish();

 private:
  void one(const Signature& signature);
  void count(const Parsed& parsed);
  void write(const Signature& signature);
  std::string summary() const;

  bool writes_text() const;
  bool replaced(const std::string& path, std::string_view before, const FixedFile& fixed,
                const Snapshot* snapshot);
  void fix(std::string_view bytes, const std::string& path, const Snapshot* snapshot);
  void mended(const Pair& pair);

  Form form_;
  std::string emit_;
  Streams streams_;
  Fixing fixing_;
  bool quiet_;  // standard output has diffs or a mended text
  std::size_t signatures_ = 0;
  std::size_t failed_ = 0;
  std::size_t warnings_ = 0;
  std::size_t written_ = 0;    // numbered so far
  std::size_t unwritten_ = 0;  // the wanted form has no place for them
  std::size_t unreadable_ = 0;
  std::size_t fixed_ = 0;  // findings
  std::size_t fixed_files_ = 0;
  std::size_t unfixed_ = 0;  // files that could not be replaced
  std::size_t refused_ = 0;  // files whose mended text is not what it must be
  std::vector<std::size_t> by_form_;
};

/// `path:line:col: CODE message` and a caret for everything that was found in a signature, and why
/// it is not mended, where `remedies` are given.
std::string findings(const Signature& signature, const std::vector<Remedy>* remedies = nullptr);

/// A path as it is shown: bytes that are not UTF-8 as the escapes that Python shows for them.
std::string shown_path(std::string_view path);

}  // namespace relaunch::migrate
