// AMDGPU code objects and assembly: the same metadata in MessagePack and in YAML.

#include "tests/unit/binary_files.hpp"

namespace relaunch::binary {
namespace {

const std::string kDamaged = "; the file is damaged: compile the kernel again";
const std::string kCutOff = "; the file is cut off or damaged: compile the kernel again";

TEST(Amd, KernelsOfTriton) {
  const Texts add{"add(48): 0+8 8+8 16+8 24+4 32+8 40+8"};
  EXPECT_EQ(summaries(example("add-3.6.0-gfx942.hsaco")), add);
  EXPECT_EQ(summaries(example("add-3.6.0-gfx942.amdgcn")), add);
}

TEST(Amd, NoteAndAssemblySayTheSame) {
  std::size_t pairs = 0;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(binaries())) {
    if (entry.path().extension() != ".hsaco") continue;
    std::filesystem::path assembly = entry.path();
    assembly.replace_extension(".amdgcn");
    EXPECT_EQ(summaries(read_file(entry.path())), summaries(read_file(assembly))) << entry.path();
    ++pairs;
  }
  EXPECT_EQ(pairs, 19U);
}

TEST(Amd, ArgumentsOfTheRuntimeAreHidden) {
  const Texts expected{
      "mix(128): 0+1 8+8 16+48 64+2 68+4 72+8h 80+8h 88+8h 96+8h 104+8h 112+8h 120+8h",
      "none(0):", "second(20): 0+8 8+8 16+1"};
  EXPECT_EQ(summaries(example("others/several-gfx90a-v4.hsaco")), expected);
  const std::string file = example("others/several-gfx1100-v5.hsaco");
  const KernelParameters kernel = read_kernels(bytes_of(file)).front();
  ASSERT_GT(kernel.parameters.size(), 5U);
  EXPECT_EQ(kernel.parameters[4].kind, "dynamic_shared_pointer");
  EXPECT_EQ(kernel.parameters[5].kind, "hidden_block_count_x");
  EXPECT_TRUE(kernel.parameters[5].hidden);
}

// --- The note ------------------------------------------------------------------------------------

std::string text(const std::string& value) {
  return std::string(1, static_cast<char>(0xa0 | value.size())) + value;
}

std::string note(const std::string& metadata) {
  std::string body = little_endian(std::uint32_t{7}) +
                     little_endian(static_cast<std::uint32_t>(metadata.size())) +
                     little_endian(std::uint32_t{32}) + std::string("AMDGPU\0\0", 8) + metadata;
  body.resize((body.size() + 3) / 4 * 4);
  return ElfFile(kMachineAmdgpu).add(".note", 7, body).make();
}

/// The note of one kernel `k`; the metadata begins at byte 84 of the file.
std::string kernel_note(const std::string& arguments) {
  return note("\x81" + text("amdhsa.kernels") + "\x91\x83" + text(".args") + arguments + "\xb5" +
              ".kernarg_segment_size" + "\x10" + text(".name") + text("k"));
}

std::string argument(const std::string& offset, const std::string& size) {
  return "\x83" + text(".offset") + offset + text(".size") + size + text(".value_kind") +
         text("by_value");
}

TEST(AmdNote, NumbersOfEveryWidth) {
  EXPECT_EQ(summaries(kernel_note(
                "\x92" + argument(std::string("\xcc\x00", 2), "\xcd" + std::string("\0\4", 2)) +
                argument(std::string("\xd3\0\0\0\0\0\0\0\x08", 9), "\4"))),
            Texts{"k(16): 0+4 8+4"});
}

TEST(AmdNote, ValuesOfNoInterestArePassed) {
  const std::string all =
      std::string("\xc0\xc2\xc3\xca....\xcb........\xd0\xff\xd1..\xd2....\xd3........", 36) +
      std::string("\xc4\2..\xc5\0\1.\xc6\0\0\0\1.\xc7\1..\xc8\0\1..\xc9\0\0\0\1..", 30) +
      std::string("\xd4..\xd5...\xd6.....\xd7.........\xd8.................", 41) +
      std::string("\xd9\1.\xda\0\1.\xdb\0\0\0\1.\x91\x81\1\2\xdc\0\1\5\xdd\0\0\0\1\5\xde\0\1\1\2",
                  32);
  const std::string note_text =
      note("\x82" + text("other") + "\xdc" + std::string("\0\x1c", 2) + all +
           std::string("\xdf\0\0\0\1\1\2", 7) + text("amdhsa.kernels") + "\x90");
  EXPECT_EQ(
      failure(note_text),
      "no_kernel: expected at least one kernel, found none; give the file that holds the kernel");
}

TEST(AmdNote, CountsThatNothingIsThereFor) {
  EXPECT_EQ(
      failure(note("\xdf\xff\xff\xff\xff")),
      "truncated: byte 89: expected 8589934590 values, found 0 bytes of the metadata" + kCutOff);
  EXPECT_EQ(
      failure(note("\x81" + text("amdhsa.kernels") + "\xdd\xff\xff\xff\xff....")),
      "truncated: byte 105: expected 4294967295 values, found 4 bytes of the metadata" + kCutOff);
  EXPECT_EQ(
      failure(note("\x81" + std::string("\xdb\xff\xff\xff\xff", 5))),
      "truncated: byte 90: expected a text of 4294967295 bytes, found 0 bytes of the metadata" +
          kCutOff);
  EXPECT_EQ(
      failure(note("\x81" + text("x") + std::string("\xc6\x7f\xff\xff\xff", 5))),
      "truncated: byte 92: expected a value of 2147483647 bytes, found 0 bytes of the metadata" +
          kCutOff);
}

TEST(AmdNote, NestedWithoutEnd) {
  EXPECT_EQ(failure(note("\x81" + text("x") + std::string(100000, '\x91'))),
            "truncated: byte 100087: expected 1 values, found 0 bytes of the metadata" + kCutOff);
}

TEST(AmdNote, ValuesOfAnotherKind) {
  EXPECT_EQ(failure(note("\x01")),
            "malformed: byte 84: expected a map, found a value that begins with 0x1" + kDamaged);
  EXPECT_EQ(failure(note("\x81\x01\x01")),
            "malformed: byte 85: expected a text, found a value that begins with 0x1" + kDamaged);
  EXPECT_EQ(
      failure(kernel_note("\x80")),
      "malformed: byte 108: expected an array, found a value that begins with 0x80" + kDamaged);
  EXPECT_EQ(
      failure(kernel_note("\x91" + argument("\xff", "\4"))),
      "malformed: byte 118: expected an integer from 0 on, found a value that begins with 0xff" +
          kDamaged);
  EXPECT_EQ(
      failure(kernel_note("\x91" + argument("\xd0\xff", "\4"))),
      "malformed: byte 118: expected an integer from 0 on, found a value that begins with 0xd0" +
          kDamaged);
  EXPECT_EQ(failure(note("\x81" + text("x") + "\xc1")),
            "malformed: byte 87: expected a value, found a value that begins with 0xc1" + kDamaged);
}

TEST(AmdNote, WhatIsMissing) {
  EXPECT_EQ(failure(kernel_note("\x91\x80")),
            "malformed: byte 109: expected '.offset' of argument 0, found none" + kDamaged);
  EXPECT_EQ(failure(kernel_note("\x91\x81" + text(".offset") + "\1")),
            "malformed: byte 109: expected '.size' of argument 0, found none" + kDamaged);
  EXPECT_EQ(failure(kernel_note("\x91\x82" + text(".offset") + "\1" + text(".size") + "\1")),
            "malformed: byte 109: expected '.value_kind' of argument 0, found none" + kDamaged);
  EXPECT_EQ(failure(note("\x81" + text("amdhsa.kernels") + "\x91\x80")),
            "malformed: byte 101: expected a kernel's '.name', found none" + kDamaged);
  EXPECT_EQ(
      failure(note("\x81" + text("amdhsa.kernels") + "\x91\x81" + text(".name") + text("k"))),
      "malformed: kernel 'k': byte 101: expected '.kernarg_segment_size' below 2**32, found none" +
          kDamaged);
}

TEST(AmdNote, Contradictions) {
  EXPECT_EQ(
      failure(kernel_note("\x92" + argument(std::string(1, '\0'), "\x08") + argument("\4", "\4"))),
      "contradictory: kernel 'k': byte 101: expected parameter 1 behind the one before it, which "
      "ends "
      "at 8, found offset 4" +
          kDamaged);
  EXPECT_EQ(failure(kernel_note("\x91" + argument("\x10", "\4"))),
            "contradictory: kernel 'k': byte 101: expected parameters within a block of 16 bytes, "
            "found one "
            "that ends at 20" +
                kDamaged);
  EXPECT_EQ(failure(kernel_note("\x91" + argument(std::string("\xcf\0\0\0\1\0\0\0\0", 9), "\4"))),
            "malformed: byte 109: expected '.offset' of argument 0 below 2**32, found 4294967296" +
                kDamaged);
  EXPECT_EQ(
      failure(kernel_note("\x90" + text(".args") + "\x90")),
      "contradictory: byte 115: expected one '.args' of a kernel, found a second one" + kDamaged);
}

// --- Assembly ------------------------------------------------------------------------------------

std::string assembly(const std::string& yaml) {
  return "\t.amdgcn_target \"x\"\n\t.amdgpu_metadata\n" + yaml + "\n\t.end_amdgpu_metadata\n";
}

const std::string kArguments =
    "    .args:\n"
    "      - .offset: 0\n"
    "        .size: 0x8\n"
    "        .value_kind: 'global_buffer'\n"
    "      - .name: \"it''s \\\"n\\\"\" # its name\n"
    "        .offset: 8\n"
    "        .size: 4\n"
    "        .value_kind: by_value\n";

TEST(AmdAssembly, YamlInEverySpelling) {
  const std::string file = assembly(
      "---\n# a comment\namdhsa.kernels:\n  - .kernarg_segment_size: 16\n" + kArguments +
      "    .reqd_workgroup_size:\n      - 1\n      - 2\n    .language: |\n      .name: no\n\n"
      "      more\n    '.name': 'a: b'\n  -\n    .name: none\n    .args: []\n"
      "    .kernarg_segment_size: 0\namdhsa.printf:\n  - - x\n  - - y\n  - '1:2 # 3'\n"
      "amdhsa.version:\n  - 1\n  - 2\n...\n");
  EXPECT_EQ(summaries(file), (Texts{"a: b(16): 0+8 8+4", "none(0):"}));
  EXPECT_EQ(read_kernels(bytes_of(file)).front().parameters[1].name, "it''s \"n\"");
}

TEST(AmdAssembly, SequencesInTheColumnOfTheirKey) {
  EXPECT_EQ(summaries(assembly(
                "amdhsa.kernels:\n- .args:\n  - .offset: 0\n    .size: 8\n    .value_kind: x\n"
                "  .name: k\n  .kernarg_segment_size: 8\n- .name: l\n"
                "  .kernarg_segment_size: 0\nother:\n- .name: no\n")),
            (Texts{"k(8): 0+8", "l(0):"}));
}

TEST(AmdAssembly, CarriageReturns) {
  std::string file =
      assembly("amdhsa.kernels:\n  - .kernarg_segment_size: 16\n" + kArguments + "    .name: k\n");
  for (std::size_t i = 0; (i = file.find('\n', i)) != std::string::npos; i += 2)
    file.insert(i, 1, '\r');
  EXPECT_EQ(summaries(file), Texts{"k(16): 0+8 8+4"});
}

TEST(AmdAssembly, BrokenYaml) {
  EXPECT_EQ(
      failure(assembly("amdhsa.kernels:\n\t- .name: k")),
      "malformed: line 4, byte 54: expected metadata that is indented by blanks, found a tab" +
          kDamaged);
  EXPECT_EQ(failure(assembly("amdhsa.kernels: {a: b}")),
            "malformed: line 3, byte 38: expected a list below 'amdhsa.kernels', found '{a: b}'" +
                kDamaged);
  EXPECT_EQ(failure(assembly("words")),
            "malformed: line 3, byte 38: expected a key with ':', found 'words'" + kDamaged);
  EXPECT_EQ(failure(assembly("amdhsa.kernels:\n  - .name: 'k")),
            "malformed: line 4, byte 56: expected a text that ends with its quote, found ''k'" +
                kDamaged);
  EXPECT_EQ(failure(assembly("amdhsa.kernels:\n  - .kernarg_segment_size: -1")),
            "malformed: line 4, byte 56: expected an integer from 0 on, found '-1'" + kDamaged);
  EXPECT_EQ(failure(assembly("amdhsa.kernels:\n  - .args:\n      - .offset: 1\n    .args:\n")),
            "malformed: line 5, byte 71: expected '.size' of argument 0, found none" + kDamaged);
  EXPECT_EQ(failure(assembly("amdhsa.kernels:\n  - .args: []\n    .args: []\n")),
            "contradictory: line 5, byte 72: expected one '.args' of a kernel, found a second one" +
                kDamaged);
  std::string deep;
  for (std::size_t i = 0; i < 100; ++i) deep += std::string(i, ' ') + "a:\n";
  EXPECT_EQ(failure(assembly(deep)),
            "malformed: line 67, byte 2310: expected at most 64 levels, found more" + kDamaged);
}

TEST(AmdAssembly, WithoutMetadata) {
  EXPECT_EQ(failure("\t.amdgcn_target \"x\"\nk:\n  s_endpgm\n"),
            "unsupported: byte 0: expected '.amdgpu_metadata' in AMDGPU assembly, found none; give "
            "assembly "
            "for the amdhsa target, with its metadata");
  EXPECT_EQ(
      failure("\t.amdgpu_metadata\namdhsa.kernels:\n"),
      "truncated: line 2, byte 18: expected '.end_amdgpu_metadata', found the end of the text" +
          kCutOff);
}

}  // namespace
}  // namespace relaunch::binary
