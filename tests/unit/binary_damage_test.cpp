// Damaged files: whatever is cut off or changed, reading ends with tables or with a BinaryError.
// The bytes lie in memory of exactly their size, so that AddressSanitizer sees every step outside.

#include <algorithm>
#include <filesystem>
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

std::vector<std::filesystem::path> all_of(std::initializer_list<std::string_view> suffixes) {
  std::vector<std::filesystem::path> out;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(binaries())) {
    const std::string suffix = entry.path().extension();
    if (std::find(suffixes.begin(), suffixes.end(), suffix) != suffixes.end()) {
      out.push_back(entry.path());
    }
  }
  return out;
}

TEST(Damage, NoCubinOrCodeObjectThatIsCutOffIsRead) {
  const auto files = all_of({".cubin", ".hsaco"});
  EXPECT_GE(files.size(), 41U);
  for (const auto& path : files) {
    const std::string file = read_file(path);
    ASSERT_EQ(outcome(file, file.size()), "") << path;
    for (std::size_t size = 0; size < file.size(); ++size) {
      ASSERT_NE(outcome(file, size), "") << path << " of " << size << " bytes";
    }
  }
}

TEST(Damage, TextThatIsCutOffHasTheKernelsBeforeTheCutOrNone) {
  const auto files = all_of({".ptx", ".amdgcn"});
  EXPECT_GE(files.size(), 39U);
  for (const auto& path : files) {
    const std::string file = read_file(path);
    const Texts whole = summaries(file);
    const std::size_t end = file.find_last_not_of('\n') + 1;
    // Each byte of what declares kernels, then the code in strides.
    for (std::size_t size = 0; size < end; size += size < 3000 || end - size < 300 ? 1 : 211) {
      const std::string cut = file.substr(0, size);
      if (!outcome(cut, size).empty()) continue;
      const Texts found = summaries(cut);
      ASSERT_LT(found.size(), whole.size()) << path << " of " << size << " bytes";
      ASSERT_TRUE(std::equal(found.begin(), found.end(), whole.begin())) << path << " " << size;
    }
  }
}

TEST(Damage, SectionsThatTakeNoRoomMayLieOutside) {
  // As ptxas writes `.nv.shared` and `.nv.global`: a type of its own, and a size but no bytes.
  ElfFile file(kMachineCuda);
  file.add(".nv.constant0.k", 1, "x").add(".nv.info.k", 0x70000000, "");
  std::string cubin = file.make();
  EXPECT_EQ(summaries(cubin), Texts{"k(0):"});
  const std::size_t constants = cubin.size() - std::size_t{3} * 64;
  put(cubin, constants + 32, std::uint64_t{40'000});
  EXPECT_EQ(outcome(cubin, cubin.size()), "truncated");
  put(cubin, constants + 4, std::uint32_t{0x7000000a});
  EXPECT_EQ(summaries(cubin), Texts{"k(0):"});
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
