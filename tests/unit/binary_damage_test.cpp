// Damaged files: whatever is cut off or changed, reading ends with tables or with a BinaryError.
// The bytes lie in memory of exactly their size, so that AddressSanitizer sees every step outside.

#include <memory>
#include <random>

#include "precompiled/binary/error.hpp"
#include "tests/unit/binary_files.hpp"

namespace relaunch::binary {
namespace {

/// "" where the file is read, else the word of its fault.
std::string_view outcome(const std::string& file, std::size_t size) {
  const auto exact = std::make_unique<std::byte[]>(size);
  std::memcpy(exact.get(), file.data(), size);
  try {
    return read_kernels({exact.get(), size}).empty() ? "empty" : "";
  } catch (const BinaryError& error) {
    return fault_name(error.fault());
  }
}

std::vector<std::filesystem::path> some_of_each() {
  std::vector<std::filesystem::path> out;
  for (const char* name : {"add-3.6.0-sm90.cubin", "add-3.6.0-sm90.ptx", "add-3.6.0-gfx942.hsaco",
                           "add-3.6.0-gfx942.amdgcn", "others/several-sm70.cubin"}) {
    out.push_back(binaries() / name);
  }
  return out;
}

TEST(Damage, CutOffAnywhere) {
  for (const auto& path : some_of_each()) {
    const std::string file = read_file(path);
    EXPECT_EQ(outcome(file, file.size()), "") << path;
    for (std::size_t size = 0; size < file.size(); ++size) outcome(file, size);
  }
}

TEST(Damage, ACubinThatIsCutOffIsNeverRead) {
  // Its section table is followed by the segments alone.
  const std::string file = example("add-3.6.0-sm90.cubin");
  for (std::size_t size = 0; size < 3008; ++size) EXPECT_NE(outcome(file, size), "") << size;
}

TEST(Damage, ChangedBytes) {
  for (const auto& path : some_of_each()) {
    std::string file = read_file(path);
    const bool is_text = path.extension() == ".ptx" || path.extension() == ".amdgcn";
    for (std::size_t i = 0; i < file.size(); i += is_text ? 7 : 1) {
      const char was = file[i];
      file[i] = static_cast<char>(i % 2 == 0 ? 0xff : was ^ 1);
      outcome(file, file.size());
      file[i] = was;
    }
  }
}

TEST(Damage, ManyBytesChanged) {
  std::mt19937 random(6);
  for (const auto& path : some_of_each()) {
    const std::string whole = read_file(path);
    for (int round = 0; round < 200; ++round) {
      std::string file = whole;
      const std::size_t changes = 1 + random() % 16;
      for (std::size_t i = 0; i < changes; ++i) {
        file[random() % file.size()] = static_cast<char>(random());
      }
      outcome(file, 1 + random() % file.size());
      outcome(file, file.size());
    }
  }
}

TEST(Damage, LargeFilesOfOneByte) {
  for (const char byte : {'\0', '\x7f', '{', '/', '"', '.', '\n', ' '}) {
    for (const char* head :
         {"", ".version 8.0\n", ".version 8.0 .entry k(", "\t.amdgpu_metadata\n"}) {
      const std::string file = head + std::string(200'000, byte);
      EXPECT_NE(outcome(file, file.size()), "") << head << byte;
    }
  }
}

}  // namespace
}  // namespace relaunch::binary
