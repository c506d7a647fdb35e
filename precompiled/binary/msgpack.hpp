#pragma once
// MessagePack, read value by value. A count is believed only as far as there are bytes for it, and
// nothing is read by recursion.

#include <cstdint>
#include <string>
#include <string_view>

#include "precompiled/binary/bytes.hpp"

namespace relaunch::binary {

class MsgPack {
 public:
  /// `offset` is where the bytes begin in their file, for messages.
  MsgPack(Bytes bytes, std::uint64_t offset) : bytes_(bytes), offset_(offset) {}

  Where where() const { return {offset_ + at_, 0}; }

  // Each throws BinaryError: truncated, or malformed where another kind of value stands here.
  std::uint64_t read_map();    // number of pairs, which follow
  std::uint64_t read_array();  // number of items, which follow
  std::string_view read_text();
  std::uint64_t read_number();  // an integer from 0
  /// Passes one value, whatever it holds.
  void skip();

 private:
  std::uint8_t head() const;
  [[noreturn]] void refuse(const char* expected) const;
  /// The `width` bytes of a number behind the head, and past them.
  std::uint64_t take(std::uint64_t width, const char* what);
  /// Takes the head and the length it is followed by; for heads with the length inside, `inside`.
  std::uint64_t take_length(std::uint64_t width, std::uint64_t inside, const char* what);
  std::uint64_t checked_count(std::uint64_t count, std::uint64_t each) const;
  std::uint64_t skip_one();

  Bytes bytes_;
  std::uint64_t offset_;
  std::uint64_t at_ = 0;
};

}  // namespace relaunch::binary
