#pragma once
// Binaries for tests: those of tests/binaries, and ELF files put together piece by piece.

#include <gtest/gtest.h>

#include <cstdint>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <string_view>
#include <vector>

#include "precompiled/binary/elf.hpp"
#include "precompiled/binary/read.hpp"

namespace relaunch::binary {

inline Bytes bytes_of(std::string_view text) { return std::as_bytes(std::span(text)); }

inline std::string read_file(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  EXPECT_TRUE(file) << path;
  return {std::istreambuf_iterator<char>(file), {}};
}

inline std::filesystem::path binaries() {
  return std::filesystem::path(RELAUNCH_SOURCE_DIR) / "tests/binaries";
}

inline std::string example(std::string_view name) { return read_file(binaries() / name); }

/// `add(48): 0+8 8+8 24+4h`: name, bytes of the block, then offset and size of each; h is hidden.
inline std::string summary(const KernelParameters& kernel) {
  std::string out = kernel.kernel + "(" + std::to_string(kernel.bytes) + "):";
  for (const KernelParameter& each : kernel.parameters) {
    out += " " + std::to_string(each.offset) + "+" + std::to_string(each.size);
    if (each.hidden) out += "h";
  }
  return out;
}

using Texts = std::vector<std::string>;

inline Texts summaries(std::string_view file) {
  Texts out;
  for (const KernelParameters& kernel : read_kernels(bytes_of(file)))
    out.push_back(summary(kernel));
  return out;
}

/// `fault: what()` of the error that reading gives, or "read".
inline std::string failure(std::string_view file) {
  try {
    read_kernels(bytes_of(file));
    return "read";
  } catch (const BinaryError& error) {
    return std::string(fault_name(error.fault())) + ": " + error.what();
  }
}

template <typename T>
std::string little_endian(T value) {
  std::string out(sizeof value, '\0');
  std::memcpy(out.data(), &value, sizeof value);
  return out;
}

template <typename T>
void put(std::string& file, std::size_t offset, T value) {
  ASSERT_LE(offset + sizeof value, file.size());
  std::memcpy(file.data() + offset, &value, sizeof value);
}

/// A 64-bit ELF file: header, contents, names, then the section table.
class ElfFile {
 public:
  explicit ElfFile(std::uint16_t machine) : machine_(machine) { add("", 0, ""); }

  ElfFile& add(const std::string& name, std::uint32_t type, const std::string& contents,
               std::uint32_t info = 0) {
    sections_.push_back({static_cast<std::uint32_t>(names_.size()), type, info,
                         kHeaderBytes + contents_.size(), contents.size()});
    names_ += name + '\0';
    contents_ += contents;
    return *this;
  }

  std::string make() {
    const std::size_t names_size = names_.size() + 7;
    const std::uint64_t names_at = kHeaderBytes + contents_.size();
    sections_.push_back({static_cast<std::uint32_t>(names_.size()), 3, 0, names_at, names_size});
    names_ += std::string(".names") + '\0';
    std::string file(kHeaderBytes, '\0');
    file.replace(0, 7,
                 std::string("\x7f"
                             "ELF\2\1\1",
                             7));
    put(file, 18, machine_);
    put(file, 40, std::uint64_t{names_at + names_size});
    put(file, 58, std::uint16_t{64});
    put(file, 60, static_cast<std::uint16_t>(sections_.size()));
    put(file, 62, static_cast<std::uint16_t>(sections_.size() - 1));
    file += contents_ + names_;
    for (const Entry& each : sections_) {
      std::string header(64, '\0');
      put(header, 0, each.name);
      put(header, 4, each.type);
      put(header, 24, each.offset);
      put(header, 32, each.size);
      put(header, 44, each.info);
      file += header;
    }
    return file;
  }

 private:
  static constexpr std::size_t kHeaderBytes = 64;
  struct Entry {
    std::uint32_t name;
    std::uint32_t type;
    std::uint32_t info;
    std::uint64_t offset;
    std::uint64_t size;
  };
  std::uint16_t machine_;
  std::vector<Entry> sections_;
  std::string names_;
  std::string contents_;
};

}  // namespace relaunch::binary
