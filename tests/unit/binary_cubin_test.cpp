// Cubins: the parameter records, and what is said of records that cannot be.

#include "tests/unit/binary_files.hpp"

namespace relaunch::binary {
namespace {

constexpr std::uint32_t kInfoType = 0x70000000;

std::string record(std::uint8_t attribute, const std::string& value) {
  return little_endian(std::uint8_t{4}) + little_endian(attribute) +
         little_endian(static_cast<std::uint16_t>(value.size())) + value;
}

std::string parameter(std::uint16_t ordinal, std::uint16_t offset, std::uint32_t size) {
  return record(0x17, little_endian(std::uint32_t{0}) + little_endian(ordinal) +
                          little_endian(offset) + little_endian(size << 18U | 0x1f000U));
}

std::string block(std::uint16_t base, std::uint16_t bytes) {
  return record(0x0a, little_endian(std::uint32_t{7}) + little_endian(base) + little_endian(bytes));
}

std::string cubin(const std::string& info) {
  return ElfFile(kMachineCuda).add(".nv.info.k", kInfoType, info, 9).make();
}

TEST(Cubin, KernelsOfTriton) {
  EXPECT_EQ(summaries(example("add-3.6.0-sm90.cubin")),
            Texts{"add(48): 0+8 8+8 16+8 24+4 32+8 40+8"});
  EXPECT_EQ(summaries(example("scalars-3.0.0-sm90.cubin")),
            Texts{"scalars(57): 0+8 8+1 9+1 10+2 12+2 16+4 20+4 24+8 32+8 40+2 44+4 48+8 56+1"});
}

TEST(Cubin, AlignmentCountsFromTheBank) {
  // The same declarations: the block begins at 0x160, 0x210 and 0x380 of the bank.
  EXPECT_EQ(summaries(example("others/several-sm70.cubin")),
            (Texts{"mix(163): 0+1 8+8 32+128 160+2 162+1", "bare(0):", "none(0):"}));
  EXPECT_EQ(summaries(example("others/several-sm100.cubin")),
            (Texts{"mix(195): 0+1 8+8 64+128 192+2 194+1", "bare(0):", "none(0):"}));
  EXPECT_EQ(summaries(example("others/several-sm120.cubin")),
            summaries(example("others/several-sm100.cubin")));
  const std::string file = example("desc_copy-3.6.0-sm90.cubin");
  const KernelParameters kernel = read_kernels(bytes_of(file)).front();
  EXPECT_EQ(kernel.base, 0x210U);
  EXPECT_EQ(kernel.parameters[0].offset, 48U);
}

TEST(Cubin, LargeParametersHaveRecordsOfTheirOwn) {
  EXPECT_EQ(summaries(example("others/large-sm90.cubin")),
            Texts{"z(20033): 0+20000 20000+8 20016+16 20032+1"});
}

TEST(Cubin, DeviceFunctionsAreNoKernels) {
  EXPECT_EQ(summaries(example("others/functions-sm90.cubin")), (Texts{"mix(8): 0+8", "bare(0):"}));
}

TEST(Cubin, RecordsMayComeInAnyOrder) {
  EXPECT_EQ(summaries(cubin(block(0, 12) + parameter(1, 8, 4) + parameter(0, 0, 8))),
            Texts{"k(12): 0+8 8+4"});
}

TEST(Cubin, OneByteAndTwoByteRecordsArePassed) {
  const std::string others("\1\x04\0\0\2\x4a\1\0\3\x1b\xff\0", 12);
  EXPECT_EQ(summaries(cubin(others + parameter(0, 0, 8) + block(0, 8) + others)),
            Texts{"k(8): 0+8"});
}

TEST(Cubin, AKernelWithoutParametersIsTheOneWithConstants) {
  ElfFile file(kMachineCuda);
  file.add(".nv.info.k", kInfoType, "", 9).add(".nv.info.f", kInfoType, "", 8);
  file.add(".nv.constant0.k", 1, "", 9);
  EXPECT_EQ(summaries(file.make()), Texts{"k(0):"});
}

TEST(Cubin, Contradictions) {
  const std::string damaged = "; the file is damaged: compile the kernel again";
  EXPECT_EQ(failure(cubin(parameter(0, 0, 8) + parameter(2, 8, 8) + block(0, 16))),
            "contradictory: kernel 'k': byte 80: expected the record of parameter 1, found that of "
            "parameter 2" +
                damaged);
  EXPECT_EQ(failure(cubin(parameter(0, 0, 8) + parameter(0, 8, 8) + block(0, 16))),
            "contradictory: kernel 'k': byte 80: expected the record of parameter 1, found that of "
            "parameter 0" +
                damaged);
  EXPECT_EQ(
      failure(cubin(parameter(0, 0, 8) + parameter(1, 4, 8) + block(0, 16))),
      "contradictory: kernel 'k': byte 64: expected parameter 1 behind the one before it, which "
      "ends at 8, found offset 4" +
          damaged);
  EXPECT_EQ(
      failure(cubin(parameter(0, 0, 8) + block(0, 7))),
      "contradictory: kernel 'k': byte 64: expected parameters within a block of 7 bytes, found "
      "one that ends at 8" +
          damaged);
  EXPECT_EQ(
      failure(cubin(parameter(0, 0, 0) + block(0, 7))),
      "contradictory: kernel 'k': byte 64: expected parameter 0 of at least one byte, found a size "
      "of 0" +
          damaged);
  EXPECT_EQ(failure(cubin(parameter(0, 0, 8))),
            "malformed: kernel 'k': byte 64: expected a record CBANK_PARAM_SIZE beside those of "
            "parameters, found none" +
                damaged);
  EXPECT_EQ(
      failure(cubin(block(0, 8) + block(0, 9))),
      "contradictory: kernel 'k': byte 76: expected parameters of 8 bytes, as before, found 9 "
      "bytes" +
          damaged);
}

TEST(Cubin, BrokenRecords) {
  EXPECT_EQ(
      failure(cubin(std::string("\5\x17\0\0", 4))),
      "malformed: kernel 'k': byte 64: expected a record that begins with 1, 2, 3 or 4, found 5; "
      "the file is damaged: compile the kernel again");
  EXPECT_EQ(
      failure(cubin(record(0x17, "12345678"))),
      "malformed: kernel 'k': byte 64: expected a record KPARAM_INFO of 12 bytes, found 8; the "
      "file is damaged: compile the kernel again");
  EXPECT_EQ(
      failure(cubin(parameter(0, 0, 8) + std::string("\4\x0a\x80\0", 4))),
      "truncated: kernel 'k': byte 80: expected a record of 132 bytes, found the section's end at "
      "byte 84; the file is cut off or damaged: compile the kernel again");
}

TEST(Cubin, SectionsThatShareBytes) {
  std::string file = ElfFile(kMachineCuda)
                         .add(".nv.info.a", kInfoType, std::string(256, '\1'))
                         .add(".nv.info.b", kInfoType, "")
                         .add(".nv.info.c", kInfoType, "")
                         .make();
  const std::size_t table = file.size() - std::size_t{5} * 64;
  for (const std::size_t index : {1, 2, 3}) {
    put(file, table + index * 64 + 24, std::uint64_t{64});
    put(file, table + index * 64 + 32, std::uint64_t{256});
  }
  EXPECT_EQ(
      failure(file),
      "contradictory: byte 64: expected sections and names beside each other, found more of them "
      "than the file has bytes; the file is damaged: compile the kernel again");
}

TEST(Cubin, TwoKernelsOfOneName) {
  const std::string info = parameter(0, 0, 8) + block(0, 8);
  ElfFile file(kMachineCuda);
  file.add(".nv.info.k", kInfoType, info).add(".nv.info.k", kInfoType, info);
  EXPECT_EQ(
      failure(file.make()),
      "contradictory: kernel 'k': byte 0: expected kernels of different names, found two of the "
      "same; the file is damaged: compile the kernel again");
}

TEST(Cubin, NoKernel) {
  EXPECT_EQ(
      failure(ElfFile(kMachineCuda).make()),
      "no_kernel: expected at least one kernel, found none; give the file that holds the kernel");
}

}  // namespace
}  // namespace relaunch::binary
