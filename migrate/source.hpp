#pragma once
// Files and standard input: where each signature begins and ends, and what line it stands on.

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "migrate/parse.hpp"
#include "migrate/window.hpp"

namespace relaunch::migrate {

/// One signature of a file.
struct Signature {
  std::string path;
  Place place;  // where it begins
  Parsed parsed;
  std::vector<Place> places;       // in the file, of each of parsed.diagnostics
  Span bytes;                      // in the file
  Form read_as = Form::automatic;  // what read_chunk() was asked for

  /// `path:line:col`.
  std::string source() const;
};

/// Reads the signatures of a file one by one, in order: what it holds at a time is one of them.
///
/// A file of source code (Python, C) or IR is searched for the signatures embedded in it. Any other
/// file is a list: comma text has one signature on a line. A literal (Python or JSON) may run over
/// lines to its closing bracket; one that is never closed is an error on its first line, and
/// reading goes on with the next. Blank lines and comments (`#`, and IR's `//`) are passed over, a
/// line ends in LF or CRLF, a leading byte order mark is no part of the text. A function or module
/// of IR between other lines is read, its body passed over. A JSON line of a collection (`{"text":
/// ..., "constants": ...}`) gives the signature in it: with form csv or dict its text is read so,
/// with any other by what it looks like. A file without a signature gives one RL001.
///
/// What a file is, the first Window::kSize of it tell. A signature longer than kLongestSignature is
/// RL024; reading goes on behind its line. Linear in the bytes, and what is held of a file at a
/// time is one window, however long its lines are. Never throws for what they hold.
class SignatureReader {
 public:
  /// `bytes` must live as long as the reader.
  SignatureReader(std::string_view bytes, std::string path, Form form);
  /// What `read` throws passes through here and through next(); the reader can then only be
  /// destroyed.
  SignatureReader(ReadBytes read, std::string path, Form form);
  ~SignatureReader();
  SignatureReader(SignatureReader&&) noexcept;
  SignatureReader& operator=(SignatureReader&&) noexcept;

  /// The next signature; none at the end.
  std::optional<Signature> next();

 private:
  class State;
  std::unique_ptr<State> state_;
};

/// What a reader makes of the bytes of one signature: a line of a collection, or any other text.
Parsed read_chunk(std::string_view chunk, Form form);

/// All of them.
std::vector<Signature> read_signatures(std::string_view bytes, std::string path, Form form);

}  // namespace relaunch::migrate
