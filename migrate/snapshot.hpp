#pragma once
// A file read whole, and replaced whole or not at all.

#include <sys/stat.h>

#include <optional>
#include <string>
#include <string_view>

namespace relaunch::migrate {

class Snapshot {
 public:
  /// Reads a file to its end. Empty, with `reason` set, where it cannot be read.
  static std::optional<Snapshot> of(const std::string& path, std::string& reason);

  std::string_view bytes() const { return bytes_; }

  /// Puts `text` in the file's place: written beside it, flushed to the disk, and renamed over it,
  /// with its mode, owner and extended attributes. A link is followed. Returns why that was not
  /// done, and the file is as it was; empty when it was. A file is left alone that is no regular
  /// one, may not be written, has a second name (hard link), or has changed since it was read.
  std::string replace(std::string_view text) const;

 private:
  std::string path_;
  std::string bytes_;
  struct stat status_ = {};

  bool is_unchanged(const std::string& target) const;
  std::string write_beside(const std::string& target, const std::string& beside, int descriptor,
                           std::string_view text) const;
};

}  // namespace relaunch::migrate
