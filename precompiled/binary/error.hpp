#pragma once
// What can be wrong with a binary, as a type: where it is, what was expected there and what to do.

#include <cstdint>
#include <stdexcept>
#include <string>
#include <string_view>

namespace relaunch::binary {

enum class Fault : std::uint8_t {
  unknown_format,   // none of the formats that are read
  unsupported,      // a known format, or a part of one, that is not read
  truncated,        // something lies behind the end
  malformed,        // bytes that the format has no meaning for
  contradictory,    // two statements of the binary exclude each other
  no_kernel,        // it holds none
  no_such_kernel,   // none of that name
  several_kernels,  // more than one, and no name given
};

/// The word for a fault in machine-readable output: `truncated`.
std::string_view fault_name(Fault fault);

/// Where something was found: bytes from the start, and in text also the line, from 1 (0: no text).
struct Where {
  std::uint64_t offset = 0;
  std::uint64_t line = 0;
};

class BinaryError : public std::runtime_error {
 public:
  /// `kernel` is empty where the fault is not that of one kernel, `advice` where the fault's own
  /// will do. what() holds all of it in one line, without the file's name, which readers do not
  /// know.
  BinaryError(Fault fault, Where where, std::string expected, std::string found,
              std::string kernel = {}, std::string_view advice = {});

  Fault fault() const { return fault_; }
  Where where() const { return where_; }
  const std::string& expected() const { return expected_; }
  const std::string& found() const { return found_; }
  const std::string& kernel() const { return kernel_; }

  /// The same fault, said of one kernel.
  BinaryError of_kernel(std::string kernel) const;

 private:
  Fault fault_;
  Where where_;
  std::string expected_;
  std::string found_;
  std::string kernel_;
  std::string advice_;
};

/// At most 60 bytes of a text in quotes, with what is not printable shown as `\xNN`.
std::string quoted(std::string_view text);

}  // namespace relaunch::binary
