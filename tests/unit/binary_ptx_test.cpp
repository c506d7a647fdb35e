// PTX: declarations of parameters in every spelling, and what is said of broken text.

#include "precompiled/binary/ptx.hpp"
#include "tests/unit/binary_files.hpp"

namespace relaunch::binary {
namespace {

const std::string kHead = ".version 8.7\n.target sm_90\n.address_size 64\n";

Texts entries(const std::string& text) { return summaries(kHead + text); }
std::string refusal(const std::string& text) { return failure(kHead + text); }

TEST(Ptx, KernelsOfTriton) {
  EXPECT_EQ(summaries(example("add-3.6.0-sm90.ptx")),
            Texts{"add(48): 0+8 8+8 16+8 24+4 32+8 40+8"});
  const std::string file = example("scalars-3.0.0-sm90.ptx");
  const KernelParameters kernel = read_kernels(bytes_of(file)).front();
  EXPECT_EQ(kernel.parameters[9].name, "scalars_param_9");
  EXPECT_EQ(kernel.parameters[9].kind, ".b8[2]");
  EXPECT_EQ(kernel.parameters[9].alignment, 2U);
  EXPECT_EQ(summaries(example("desc_copy-3.6.0-sm90.ptx")),
            Texts{"desc_copy(360): 0+128 128+4 132+4 136+8 144+8 192+128 320+4 324+4 328+8 336+8 "
                  "344+8 352+8"});
}

TEST(Ptx, TypesAndTheirSizes) {
  EXPECT_EQ(
      entries(".entry k(.param .b8 a, .param .s8 b, .param .u16 c, .param .f16 d, .param .bf16 e, "
              ".param .f16x2 f, .param .f32 g, .param .b64 h, .param .b128 i) { ret; }"),
      Texts{"k(48): 0+1 1+1 2+2 4+2 6+2 8+4 12+4 16+8 32+16"});
}

TEST(Ptx, AlignmentIsTheParametersOwn) {
  EXPECT_EQ(entries(".visible .entry k(.param .u8 a, .param .u64 .ptr .global .align 256 p, "
                    ".param .align 32 .b8 d[40], .param .u32 .ptr .shared .align 16 q)\n{ ret; }"),
            Texts{"k(76): 0+1 8+8 32+40 72+4"});
}

TEST(Ptx, ArraysAndNumbers) {
  EXPECT_EQ(
      entries(
          ".entry k(.param .b32 a[3], .param .b8 b[2][5], .param .b8 c[0x10], .param .b8 d[010], "
          ".param .b8 e[0b11], .param .b8 f[4U]) { ret; }"),
      Texts{"k(53): 0+12 12+10 22+16 38+8 46+3 49+4"});
}

TEST(Ptx, CommentsStringsAndBodiesAreNoDeclarations) {
  EXPECT_EQ(entries("// .entry a(.param .u8 x)\n/* .entry b(.param .u8 x) */\n"
                    ".entry k /* ( */ (.param // .u8 y,\n .u64 x) .maxntid 128, 1, 1\n"
                    "{ .pragma \".entry c(.param .u8 x) { \\\" {\"; { .entry d(.param .u8 x) } }\n"
                    ".entry l { ret; }\n.file 1 \"}.entry m\"\n.section .debug_str { .b8 0 }"),
            (Texts{"k(8): 0+8", "l(0):"}));
}

TEST(Ptx, DeclaredThenDefined) {
  EXPECT_EQ(entries(".entry k(.param .u8 a);\n.entry k(.param .u8 a) { ret; }"),
            Texts{"k(1): 0+1"});
  EXPECT_EQ(refusal(".entry k(.param .u8 a);\n.entry k(.param .u16 a) { ret; }"),
            "contradictory: kernel 'k': line 5, byte 75: expected the parameters that it was "
            "declared with "
            "before, found others; the file is damaged: compile the kernel again");
}

TEST(Ptx, BrokenDeclarations) {
  const std::string damaged = "; the file is damaged: compile the kernel again";
  const auto in_k = [&](const std::string& parameters) {
    return refusal(".entry k(" + parameters + ") {}");
  };
  const std::string place = "malformed: kernel 'k': line 4, byte ";
  EXPECT_EQ(refusal(".entry (.param .u8 a) {}"),
            "malformed: line 4, byte 51: expected the name of an entry, found '('" + damaged);
  EXPECT_EQ(in_k("a"), place + "53: expected '.param' or ')', found 'a'" + damaged);
  EXPECT_EQ(in_k(".param a"), place + "60: expected a type such as '.u64', found 'a'" + damaged);
  EXPECT_EQ(in_k(".param .u8"), place + "63: expected the parameter's name, found ')'" + damaged);
  EXPECT_EQ(in_k(".param .u8 a,"), place + "66: expected '.param', found ')'" + damaged);
  EXPECT_EQ(in_k(".param .u8 a b"), place + "66: expected ',' or ')', found 'b'" + damaged);
  EXPECT_EQ(in_k(".param .u8 .u8 a"), place + "64: expected one type, found '.u8'" + damaged);
  EXPECT_EQ(in_k(".param .b8 a[]"), place + "66: expected a number, found ']'" + damaged);
  EXPECT_EQ(in_k(".param .b8 a[0]"),
            place + "66: expected an array's length from 1 on, found '0'" + damaged);
  EXPECT_EQ(in_k(".param .b8 a[99999999999999999999]"),
            place + "66: expected a number, found '99999999999999999999'" + damaged);
  EXPECT_EQ(in_k(".param .align 3 .b8 a[4]"),
            place + "67: expected an alignment that is a power of two, found '3'" + damaged);
  const std::string too_large =
      "expected parameters of at most 1073741824 bytes, found more" + damaged;
  EXPECT_EQ(in_k(".param .b8 a[65536][65536][65536][65536][2]"), place + "64: " + too_large);
  EXPECT_EQ(in_k(".param .b8 a[1073741824], .param .u8 b"), place + "90: " + too_large);
  EXPECT_EQ(in_k(".param .align 0x80000000 .b8 a"), place + "82: " + too_large);
}

TEST(Ptx, TypesThatAreNotRead) {
  EXPECT_EQ(
      refusal(".entry k(.param .texref t) {}"),
      "unsupported: kernel 'k': line 4, byte 60: expected a parameter of a fundamental type or an "
      "array, found '.texref'; verify the cubin made from it instead");
}

TEST(Ptx, TextThatEnds) {
  const std::string cut_off = "; the file is cut off or damaged: compile the kernel again";
  EXPECT_EQ(
      refusal(".entry k(.param .u8 a"),
      "truncated: kernel 'k': line 4, byte 65: expected ',' or ')', found the end of the text" +
          cut_off);
  EXPECT_EQ(refusal(".entry"),
            "truncated: line 4, byte 50: expected the name of an entry, found the end of the text" +
                cut_off);
  for (const std::string head : {".entry k", ".entry k(.param .u8 a)", ".entry k .maxntid 1"}) {
    EXPECT_EQ(refusal(head),
              "truncated: kernel 'k': line 4, byte " + std::to_string(kHead.size() + head.size()) +
                  ": expected the entry's body, found the end of the text" + cut_off);
  }
  EXPECT_EQ(refusal(".entry k {\n{ }"),
            "truncated: line 4, byte 53: expected the closing '}' of this block, found the end of "
            "the text" +
                cut_off);
  EXPECT_EQ(refusal("\n/* "),
            "truncated: line 5, byte 45: expected the end '*/' of this comment, found the end of "
            "the text" +
                cut_off);
  EXPECT_EQ(refusal(".file \"a"),
            "truncated: line 4, byte 50: expected the closing '\"' of this string, found the end "
            "of the text" +
                cut_off);
}

}  // namespace
}  // namespace relaunch::binary
