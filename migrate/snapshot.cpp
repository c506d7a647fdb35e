#include "migrate/snapshot.hpp"

#include <fcntl.h>
#include <sys/xattr.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <utility>
#include <vector>

namespace relaunch::migrate {
namespace {

std::string reason_of(int error) { return std::strerror(error); }

class Descriptor {
 public:
  explicit Descriptor(int number) : number_(number) {}
  ~Descriptor() {
    if (number_ >= 0) ::close(number_);
  }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  int number() const { return number_; }
  bool close() { return ::close(std::exchange(number_, -1)) == 0; }

 private:
  int number_;
};

/// False with errno set.
bool read_all(int descriptor, std::string& out) {
  constexpr std::size_t kPiece = std::size_t{1} << 16U;
  constexpr std::size_t kMost = std::size_t{1} << 30U;
  std::size_t size = out.size();
  while (true) {
    out.resize(size + kPiece);
    const ssize_t count = ::read(descriptor, out.data() + size, kPiece);
    out.resize(size + static_cast<std::size_t>(count < 0 ? 0 : count));
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return count == 0;
    size = out.size();
    if (size > kMost) {
      errno = EFBIG;
      return false;
    }
  }
}

/// False with errno set.
bool write_all(int descriptor, std::string_view text) {
  while (!text.empty()) {
    const ssize_t count = ::write(descriptor, text.data(), text.size());
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return false;
    text.remove_prefix(static_cast<std::size_t>(count));
  }
  return true;
}

/// Access lists, labels and the like. Those of the system that may not be set are set by it.
std::string copy_attributes(const std::string& from, int to) {
  std::vector<char> names(static_cast<std::size_t>(XATTR_LIST_MAX));
  const ssize_t size = ::listxattr(from.c_str(), names.data(), names.size());
  for (ssize_t at = 0; at < size;) {
    const std::string name(names.data() + at);
    at += static_cast<ssize_t>(name.size()) + 1;
    std::vector<char> value(static_cast<std::size_t>(XATTR_SIZE_MAX));
    const ssize_t length = ::getxattr(from.c_str(), name.c_str(), value.data(), value.size());
    const bool copied = length >= 0 && ::fsetxattr(to, name.c_str(), value.data(),
                                                   static_cast<std::size_t>(length), 0) == 0;
    const bool needed = name.starts_with("user.") || name.starts_with("system.posix_acl");
    if (!copied && needed) return "its attribute " + name + " cannot be kept: " + reason_of(errno);
  }
  return {};
}

bool same_time(const timespec& a, const timespec& b) {
  return a.tv_sec == b.tv_sec && a.tv_nsec == b.tv_nsec;
}

/// Makes a rename last. Some file systems have no way to; the rename is done all the same.
void flush_folder(const std::string& folder) {
  const Descriptor opened(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (opened.number() >= 0) ::fsync(opened.number());
}

}  // namespace

std::optional<Snapshot> Snapshot::of(const std::string& path, std::string& reason) {
  Snapshot out;
  out.path_ = path;
  const Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (file.number() < 0 || ::fstat(file.number(), &out.status_) != 0 ||
      !read_all(file.number(), out.bytes_)) {
    reason = reason_of(errno);
    return std::nullopt;
  }
  return out;
}

bool Snapshot::is_unchanged(const std::string& target) const {
  const Descriptor file(::open(target.c_str(), O_RDONLY | O_CLOEXEC));
  struct stat now = {};
  std::string bytes;
  return file.number() >= 0 && ::fstat(file.number(), &now) == 0 && now.st_dev == status_.st_dev &&
         now.st_ino == status_.st_ino && now.st_size == status_.st_size &&
         same_time(now.st_mtim, status_.st_mtim) && same_time(now.st_ctim, status_.st_ctim) &&
         read_all(file.number(), bytes) && bytes == bytes_;
}

std::string Snapshot::replace(std::string_view text) const {
  if (!S_ISREG(status_.st_mode)) return "it is no regular file";
  if (status_.st_nlink > 1) {
    return "it has " + std::to_string(status_.st_nlink) +
           " names (hard links), and only one of them would be changed";
  }
  const std::unique_ptr<char, decltype(&std::free)> resolved(::realpath(path_.c_str(), nullptr),
                                                             &std::free);
  if (!resolved) return reason_of(errno);
  const std::string target(resolved.get());
  if (::faccessat(AT_FDCWD, target.c_str(), W_OK, AT_EACCESS) != 0) return reason_of(errno);
  const std::string folder = target.substr(0, target.rfind('/') + 1);
  std::string beside = folder + ".relaunch-XXXXXX";
  const int descriptor = ::mkostemp(beside.data(), O_CLOEXEC);
  if (descriptor < 0) return "its folder takes no new file: " + reason_of(errno);
  std::string reason = write_beside(target, beside, descriptor, text);
  if (reason.empty()) {
    flush_folder(folder);
  } else {
    ::unlink(beside.c_str());
  }
  return reason;
}

std::string Snapshot::write_beside(const std::string& target, const std::string& beside,
                                   int descriptor, std::string_view text) const {
  Descriptor file(descriptor);
  struct stat made = {};
  if (::fstat(descriptor, &made) != 0) return reason_of(errno);
  const bool owned = made.st_uid == status_.st_uid && made.st_gid == status_.st_gid;
  if (!owned && ::fchown(descriptor, status_.st_uid, status_.st_gid) != 0) {
    return "its owner cannot be kept: " + reason_of(errno);
  }
  if (std::string reason = copy_attributes(target, descriptor); !reason.empty()) return reason;
  if (::fchmod(descriptor, status_.st_mode & 07777U) != 0) {
    return "its mode cannot be kept: " + reason_of(errno);
  }
  if (!write_all(descriptor, text) || ::fsync(descriptor) != 0 || !file.close()) {
    return reason_of(errno);
  }
  if (!is_unchanged(target)) return "it has changed since it was read";
  if (::rename(beside.c_str(), target.c_str()) != 0) return reason_of(errno);
  return {};
}

}  // namespace relaunch::migrate
