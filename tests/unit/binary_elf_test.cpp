// ELF headers, sections and notes; and files of other kinds.

#include "precompiled/binary/elf.hpp"
#include "tests/unit/binary_files.hpp"

namespace relaunch::binary {
namespace {

const std::string kDamaged = "; the file is damaged: compile the kernel again";
const std::string kCutOff = "; the file is cut off or damaged: compile the kernel again";

std::string elf() { return example("add-3.6.0-sm90.cubin"); }

template <typename T>
std::string with(std::string file, std::size_t offset, T value) {
  put(file, offset, value);
  return file;
}

TEST(Elf, HeadersThatCannotBe) {
  EXPECT_EQ(failure(elf().substr(0, 40)),
            "truncated: byte 0: expected an ELF header of 64 bytes, found 40 bytes before the end" +
                kCutOff);
  EXPECT_EQ(failure(with(elf(), 4, std::uint8_t{1})),
            "unsupported: byte 4: expected a 64-bit ELF file (class 2), found class 1; give the "
            "kernel in "
            "another form");
  EXPECT_EQ(
      failure(with(elf(), 5, std::uint8_t{2})),
      "unsupported: byte 5: expected a little-endian ELF file (1), found 2; give the kernel in "
      "another form");
  EXPECT_EQ(
      failure(with(elf(), 18, std::uint16_t{62})),
      "unsupported: byte 18: expected an ELF file for CUDA (machine 190) or AMD GPUs (224), found "
      "machine 62; give the kernel's own file, not that of a program");
  EXPECT_EQ(failure(with(elf(), 58, std::uint16_t{40})),
            "malformed: byte 58: expected section headers of 64 bytes, found 40" + kDamaged);
  EXPECT_EQ(
      failure(with(elf(), 62, std::uint16_t{12})),
      "malformed: byte 62: expected the names in one of 12 sections, found section 12" + kDamaged);
}

TEST(Elf, SectionTablesOutsideTheFile) {
  EXPECT_EQ(failure(with(elf(), 40, ~std::uint64_t{0})),
            "truncated: byte 18446744073709551615: expected a section table of 64 bytes, found the "
            "end at "
            "byte 3288" +
                kCutOff);
  EXPECT_EQ(
      failure(with(elf(), 60, std::uint16_t{0xff00})),
      "truncated: byte 2240: expected a table of 65280 sections, found room for 16" + kCutOff);
  // No number in the header: section 0 has it, here one that nothing could hold.
  std::string file = with(elf(), 60, std::uint16_t{0});
  put(file, 2240 + 32, ~std::uint64_t{0});
  EXPECT_EQ(
      failure(file),
      "truncated: byte 2240: expected a table of 18446744073709551615 sections, found room for 16" +
          kCutOff);
}

TEST(Elf, NumbersThatTheHeaderHasNoRoomFor) {
  std::string file = with(with(elf(), 60, std::uint16_t{0}), 62, std::uint16_t{0xffff});
  put(file, 2240 + 32, std::uint64_t{12});
  put(file, 2240 + 40, std::uint32_t{1});
  EXPECT_EQ(summaries(file), Texts{"add(48): 0+8 8+8 16+8 24+4 32+8 40+8"});
}

TEST(Elf, SectionsOutsideTheFile) {
  const std::size_t info = 2240 + std::size_t{6} * 64;
  EXPECT_EQ(failure(with(elf(), info + 24, std::uint64_t{3287})),
            "truncated: byte 3287: expected a section of 164 bytes, found 1 bytes before the end" +
                kCutOff);
  EXPECT_EQ(failure(with(elf(), info + 32, ~std::uint64_t{0} - 900)),
            "truncated: byte 908: expected a section of 18446744073709550715 bytes, found 2380 "
            "bytes before "
            "the end" +
                kCutOff);
}

TEST(Elf, NamesThatDoNotEnd) {
  std::string file = ElfFile(kMachineCuda).add(".nv.info.k", 1, "").make();
  const std::size_t names = file.find(".names");
  file.replace(names, 7, "xxxxxxx");
  const std::size_t table = file.size() - std::size_t{3} * 64;
  put(file, table + 64 + 32, std::uint64_t{0});
  std::string prefixed = file;
  prefixed.replace(names - 11, 18, ".nv.info.kxxxxxxxx");
  EXPECT_EQ(failure(prefixed),
            "truncated: byte " + std::to_string(names - 11) +
                ": expected a section's name that ends, found 18 bytes without a zero" + kCutOff);
}

TEST(Elf, NotesOfSectionsWhereThereAreNoSegments) {
  std::string file = example("add-3.6.0-gfx942.hsaco");
  const Texts expected{"add(48): 0+8 8+8 16+8 24+4 32+8 40+8"};
  EXPECT_EQ(summaries(file), expected);
  put(file, 32, std::uint64_t{0});
  EXPECT_EQ(summaries(file), expected);
  put(file, 40, std::uint64_t{0});
  EXPECT_EQ(
      failure(file),
      "unsupported: byte 0: expected a metadata note of an AMDGPU code object, found an ELF file "
      "for "
      "AMD GPUs without one; give a linked code object of version 3 or later, with its metadata");
}

TEST(Elf, NotesOutsideTheirFile) {
  std::string file = example("add-3.6.0-gfx942.hsaco");
  EXPECT_EQ(failure(with(file, 0x200, ~std::uint32_t{0})),
            "truncated: byte 524: expected a note's owner of 4294967295 bytes, found 4548 bytes "
            "before the "
            "end" +
                kCutOff);
  EXPECT_EQ(
      failure(with(file, 0x204, ~std::uint32_t{0})),
      "truncated: byte 532: expected a note of 4294967295 bytes, found 4540 bytes before the end" +
          kCutOff);
  EXPECT_EQ(failure(with(file, 32, ~std::uint64_t{0})),
            "truncated: byte 18446744073709551615: expected a segment table of 448 bytes, found "
            "the end at "
            "byte 5072" +
                kCutOff);
}

TEST(Elf, SegmentTables) {
  const std::string file = elf();
  EXPECT_EQ(failure(file.substr(0, 3200)),
            "truncated: byte 3008: expected a segment table of 280 bytes, found 192 bytes before "
            "the end" +
                kCutOff);
  EXPECT_EQ(failure(with(file, 54, std::uint16_t{32})),
            "malformed: byte 54: expected segment headers of 56 bytes, found 32" + kDamaged);
  EXPECT_EQ(failure(with(file, 3008 + 32, std::uint64_t{4000})),
            "truncated: byte 3008: expected a segment of 4000 bytes, found 280 bytes before the "
            "end" +
                kCutOff);
  // No number in the header: section 0 has it, as that of sections.
  std::string extended = with(file, 56, std::uint16_t{0xffff});
  put(extended, 2240 + 44, std::uint32_t{5});
  EXPECT_EQ(summaries(extended), Texts{"add(48): 0+8 8+8 16+8 24+4 32+8 40+8"});
  put(extended, 2240 + 44, std::uint32_t{6});
  EXPECT_EQ(failure(extended),
            "truncated: byte 3008: expected a segment table of 336 bytes, found 280 bytes before "
            "the end" +
                kCutOff);
}

TEST(Format, OtherFiles) {
  const std::string expected =
      "expected a cubin, PTX, or an AMDGPU code object or assembly, found ";
  const std::string advice =
      "; give the file that Triton's cache or compiler wrote: .cubin, .ptx, .hsaco, .amdgcn";
  EXPECT_EQ(failure(""), "unknown_format: byte 0: " + expected + "an empty file" + advice);
  EXPECT_EQ(
      failure(std::string("ab\0\x7f"
                          "cd",
                          6)),
      "unknown_format: byte 0: " + expected + "a file that begins with 'ab\\x00\\x7fcd'" + advice);
  EXPECT_EQ(failure("\x50\xed\x55\xba....."),
            "unsupported: byte 0: " + expected +
                "a CUDA fat binary; take the cubin out of it: cuobjdump -xelf all FILE");
  EXPECT_EQ(failure("__CLANG_OFFLOAD_BUNDLE__...."),
            "unsupported: byte 0: " + expected +
                "a bundle of code objects; take the code object out of it: clang-offload-bundler "
                "--unbundle");
  EXPECT_EQ(failure("BC\xc0\xde"),
            "unsupported: byte 0: " + expected + "LLVM bitcode; give what was compiled from it");
}

TEST(Format, KernelsByName) {
  const std::string file = example("others/several-sm70.cubin");
  const auto kernels = read_kernels(bytes_of(file));
  EXPECT_EQ(find_kernel(kernels, "none").kernel, "none");
  EXPECT_EQ(find_kernel({kernels[0]}, "").kernel, "mix");
  const auto refusal = [&](std::string_view name) -> std::string {
    try {
      return find_kernel(kernels, name).kernel;
    } catch (const BinaryError& error) {
      return std::string(fault_name(error.fault())) + ": " + error.what();
    }
  };
  EXPECT_EQ(
      refusal(""),
      "several_kernels: expected the name of one kernel, found none, and there are 'mix', 'bare', "
      "'none'; name one of them");
  EXPECT_EQ(refusal("nine"),
            "no_such_kernel: expected a kernel 'nine', found 'mix', 'bare', 'none'; name one that "
            "is there");
}

}  // namespace
}  // namespace relaunch::binary
