#include "precompiled/binary/msgpack.hpp"

namespace relaunch::binary {
namespace {

bool within(std::uint8_t head, std::uint8_t first, std::uint8_t last) {
  return head >= first && head <= last;
}

}  // namespace

std::uint8_t MsgPack::head() const {
  if (at_ < bytes_.size()) return std::to_integer<std::uint8_t>(bytes_[at_]);
  throw BinaryError(Fault::truncated, where(), "a value", "the end of the metadata");
}

void MsgPack::refuse(const char* expected) const {
  throw BinaryError(Fault::malformed, where(), expected, "a value that begins with " + hex(head()));
}

std::uint64_t MsgPack::take(std::uint64_t width, const char* what) {
  if (width > bytes_.size() - at_) {
    throw BinaryError(Fault::truncated, where(),
                      std::string(what) + " of " + std::to_string(width) + " bytes",
                      std::to_string(bytes_.size() - at_) + " bytes of the metadata");
  }
  std::uint64_t value = 0;  // big-endian
  for (std::uint64_t i = 0; i < width; ++i) {
    value = value << 8U | std::to_integer<std::uint64_t>(bytes_[at_ + i]);
  }
  at_ += width;
  return value;
}

std::uint64_t MsgPack::take_length(std::uint64_t width, std::uint64_t inside, const char* what) {
  ++at_;
  return width == 0 ? inside : take(width, what);
}

std::uint64_t MsgPack::checked_count(std::uint64_t count, std::uint64_t each) const {
  const std::uint64_t room = bytes_.size() - at_;
  if (count <= room / each) return count;
  throw BinaryError(Fault::truncated, where(), std::to_string(count * each) + " values",
                    std::to_string(room) + " bytes of the metadata");
}

std::uint64_t MsgPack::read_map() {
  const std::uint8_t first = head();
  std::uint64_t count = 0;
  if (within(first, 0x80, 0x8f)) {
    count = take_length(0, first & 0x0fU, "");
  } else if (first == 0xde) {
    count = take_length(2, 0, "a map's length");
  } else if (first == 0xdf) {
    count = take_length(4, 0, "a map's length");
  } else {
    refuse("a map");
  }
  return checked_count(count, 2);
}

std::uint64_t MsgPack::read_array() {
  const std::uint8_t first = head();
  std::uint64_t count = 0;
  if (within(first, 0x90, 0x9f)) {
    count = take_length(0, first & 0x0fU, "");
  } else if (first == 0xdc) {
    count = take_length(2, 0, "an array's length");
  } else if (first == 0xdd) {
    count = take_length(4, 0, "an array's length");
  } else {
    refuse("an array");
  }
  return checked_count(count, 1);
}

std::string_view MsgPack::read_text() {
  const std::uint8_t first = head();
  std::uint64_t size = 0;
  if (within(first, 0xa0, 0xbf)) {
    size = take_length(0, first & 0x1fU, "");
  } else if (within(first, 0xd9, 0xdb)) {
    size = take_length(std::uint64_t{1} << (first - 0xd9U), 0, "a text's length");
  } else {
    refuse("a text");
  }
  const Where start = where();
  if (size > bytes_.size() - at_) {
    throw BinaryError(Fault::truncated, start, "a text of " + std::to_string(size) + " bytes",
                      std::to_string(bytes_.size() - at_) + " bytes of the metadata");
  }
  const std::string_view text = as_text(bytes_.subspan(at_, size));
  at_ += size;
  return text;
}

std::uint64_t MsgPack::read_number() {
  const std::uint8_t first = head();
  if (first <= 0x7f) return take_length(0, first, "");
  const bool is_signed = within(first, 0xd0, 0xd3);
  if (!is_signed && !within(first, 0xcc, 0xcf)) refuse("an integer from 0 on");
  const std::uint64_t width = std::uint64_t{1} << (first - (is_signed ? 0xd0U : 0xccU));
  const std::uint64_t start = at_;
  const std::uint64_t value = take_length(width, 0, "an integer");
  if (is_signed && (value >> (8 * width - 1)) != 0) {
    at_ = start;
    refuse("an integer from 0 on");
  }
  return value;
}

/// Passes one head with what is no value of its own; the number of values that it holds.
std::uint64_t MsgPack::skip_one() {
  const std::uint8_t first = head();
  if (within(first, 0x80, 0x8f) || first == 0xde || first == 0xdf) return 2 * read_map();
  if (within(first, 0x90, 0x9f) || first == 0xdc || first == 0xdd) return read_array();
  if (within(first, 0xa0, 0xbf) || within(first, 0xd9, 0xdb)) {
    read_text();
    return 0;
  }
  std::uint64_t size = 0;
  ++at_;
  if (within(first, 0xc4, 0xc6)) {  // binary
    size = take(std::uint64_t{1} << (first - 0xc4U), "a length");
  } else if (within(first, 0xc7, 0xc9)) {  // extension: length, then a type
    size = take(std::uint64_t{1} << (first - 0xc7U), "a length") + 1;
  } else if (within(first, 0xca, 0xcb)) {  // floats
    size = std::uint64_t{4} << (first - 0xcaU);
  } else if (within(first, 0xcc, 0xcf)) {
    size = std::uint64_t{1} << (first - 0xccU);
  } else if (within(first, 0xd0, 0xd3)) {
    size = std::uint64_t{1} << (first - 0xd0U);
  } else if (within(first, 0xd4, 0xd8)) {  // extension of a known size, behind its type
    size = 1 + (std::uint64_t{1} << (first - 0xd4U));
  } else if (first == 0xc1) {
    --at_;
    refuse("a value");
  }
  if (size > bytes_.size() - at_) {
    throw BinaryError(Fault::truncated, where(), "a value of " + std::to_string(size) + " bytes",
                      std::to_string(bytes_.size() - at_) + " bytes of the metadata");
  }
  at_ += size;
  return 0;
}

void MsgPack::skip() {
  // Counts are at most the bytes that are left, so the sum cannot wrap.
  for (std::uint64_t waiting = 1; waiting > 0; --waiting) waiting += skip_one();
}

}  // namespace relaunch::binary
