// TTIR and TTGIR: parameters of functions, and the functions of whole files.

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "migrate/source.hpp"

namespace relaunch::migrate {
namespace {

// The first code of warnings about trees, which have tests of their own.
constexpr std::string_view kSurprise = "RL106";

/// The canonical line and every finding as `CODE begin-end`.
std::string read(std::string_view text, Form form = Form::automatic) {
  const Parsed parsed = parse(text, form);
  EXPECT_EQ(parsed.form, Form::ttir);
  std::string out = parsed.ok() ? dump(parsed.tree) : "";
  for (const Diagnostic& found : parsed.diagnostics) {
    if (found.code >= kSurprise) continue;
    if (!out.empty()) out += " | ";
    out +=
        found.code + " " + std::to_string(found.span.begin) + "-" + std::to_string(found.span.end);
  }
  return out;
}

/// `line:col dump` of every signature, or `line:col CODE@line:col`.
std::vector<std::string> file(std::string_view bytes, Form form = Form::automatic) {
  std::vector<std::string> out;
  for (const Signature& one : read_signatures(bytes, "f", form)) {
    std::string line = std::to_string(one.place.line) + ":" + std::to_string(one.place.column);
    if (one.parsed.ok()) line += " " + dump(one.parsed.tree);
    for (std::size_t i = 0; i < one.places.size(); ++i) {
      if (one.parsed.diagnostics[i].code >= kSurprise) continue;
      line += " " + one.parsed.diagnostics[i].code + "@" + std::to_string(one.places[i].line) +
              ":" + std::to_string(one.places[i].column);
    }
    out.push_back(line);
  }
  return out;
}

using Lines = std::vector<std::string>;

TEST(Mlir, ScalarsAndPointers) {
  EXPECT_EQ(read("%a: i1, %b: i8, %c: i16, %d: i32, %e: i64"),
            "a: i1, b: i8, c: i16, d: i32, e: i64");
  EXPECT_EQ(read("%a: ui8, %b: si64, %c: f16, %d: bf16, %e: f32, %f: f64"),
            "a: u8, b: i64, c: fp16, d: bf16, e: fp32, f: fp64");
  EXPECT_EQ(read("%a: !tt.ptr<f32>, %b: !tt.ptr<f16, 1>, %c: !tt.ptr<i8, \"descriptor\">"),
            "a: *fp32, b: *fp16, c: *i8");
  EXPECT_EQ(read("%a: !tt.ptr<!tt.ptr<i32>, 1>"), "a: **i32");
  EXPECT_EQ(read("%a: !tt.ptr<f8E4M3FN>, %b: !tt.ptr<f8E4M3FNUZ>, %c: !tt.ptr<f8E5M2>, "
                 "%d: !tt.ptr<f8E5M2FNUZ>, %e: !tt.ptr<f8E4M3B11FNUZ>"),
            "a: *fp8e4nv, b: *fp8e4b8, c: *fp8e5, d: *fp8e5b16, e: *fp8e4b15");
}

TEST(Mlir, Descriptors) {
  EXPECT_EQ(read("%d: !tt.tensordesc<tensor<128x64xf16>>"), "d: tensordesc<fp16[128, 64]>");
  EXPECT_EQ(read("%d: !tt.tensordesc<64xbf16, #ttg.nvmma_shared<{swizzlingByteWidth = 64, t = "
                 "false}>>, %n: i32"),
            "d: tensordesc<bf16[64]>, n: i32");
  EXPECT_EQ(read("% desc : !tt.tensordesc<tensor<1x256x64xui8, #s>>,\n % ub : i32"),
            "desc: tensordesc<u8[1, 256, 64]>, ub: i32");
  EXPECT_EQ(read("%d: !ttng.tensordesc_im2col<tensor<16x32xf16, #s>>"),
            "d: tensordesc_im2col<fp16[16, 32]>");
  EXPECT_EQ(read("%d: !tt.ptr<i8, 0> {tt.nv_tma_desc = 1 : i32}"), "d: nvTmaDesc");
  EXPECT_EQ(read("%d: !tt.ptr<i8, 0> {tt.nv_tma_desc = 0 : i32}"), "d: *i8");
}

TEST(Mlir, AttributesAndLocations) {
  EXPECT_EQ(read("%x: !tt.ptr<f32> {tt.divisibility = 16 : i32, tt.pointer_range = 32 : i32} "
                 "loc(\"x\"(#loc)), %n: i32 {\"tt.divisibility\" = 16 : i32} loc(unknown)"),
            "x: *fp32:16, n: i32:16");
  EXPECT_EQ(read("%x: i32 loc(\"/a b/(c).py\":568:0\n), %y: i64 loc(fused<{k = 1}>[\"a\", #loc1])"),
            "x: i32, y: i64");
  EXPECT_EQ(read("%x: i32 {a, b = [1, 2], c = affine_map<(d0) -> (d0)>, tt.divisibility = 1}"),
            "x: i32:1");
  EXPECT_EQ(read("%x: i32 {tt.divisibility = 8 : i32}"), "x: i32 | RL103 9-34");
}

TEST(Mlir, NamesOfParameters) {
  EXPECT_EQ(read("%d.shape.0: i32, %0: i64, %_x9: i8"), "d.shape.0: i32, i64, _x9: i8");
  EXPECT_EQ(read("%d.shape.0_1: i32, %d.2x: i64"), "d.shape.0_1: i32, d.2x: i64");
  EXPECT_EQ(dump(parse("d.shape.0_1: i32").tree), "d.shape.0_1: i32");
  EXPECT_EQ(read("%d.: i32"), "RL013 1-3");
  EXPECT_EQ(read("%x: i32, %x: i64"), "RL014 10-11");
  EXPECT_EQ(read("%a$b: i32"), "RL013 1-4");
}

TEST(Mlir, WhatAKernelDoesNotTake) {
  EXPECT_EQ(read("%x: i128, %y: tensor<16xf32>, %z: !tt.ptr<index>, %p: !tt.ptr, %q: !llvm.ptr<3>"),
            "RL010 4-8 | RL010 14-28 | RL010 42-47 | RL010 54-61 | RL010 67-79");
  EXPECT_EQ(read("%d: !tt.tensordesc<f16>"), "RL010 4-23");
  EXPECT_EQ(read("%d: !tt.ptr<!tt.tensordesc<4xf16>>"), "RL010 12-33");
}

TEST(Mlir, WhatCannotBeReadOn) {
  EXPECT_EQ(read("%x: i32,"), "RL004 8-8");
  EXPECT_EQ(read("%x: i32 i64"), "RL004 8-11");
  EXPECT_EQ(read("%x i32", Form::ttir), "RL004 3-6");
  EXPECT_EQ(read("%x: !tt.ptr<f32"), "RL004 15-15");
  EXPECT_EQ(read("%x: i32 {tt.divisibility = 16"), "RL005 8-9");
  EXPECT_EQ(read("%x: i32 loc(\"x"), "RL005 11-12");
  EXPECT_EQ(read("%x: tensor<4x", Form::ttir), "RL005 10-11");
  EXPECT_EQ(read("x: i32", Form::ttir), "RL004 0-1");
  EXPECT_EQ(read("", Form::ttir), "RL001 0-0");
  EXPECT_EQ(read("tt.func @f(%x: i32\n"), "RL005 0-18");
}

TEST(Mlir, Functions) {
  EXPECT_EQ(read("tt.func public @k(%x: i32)"), "x: i32");
  EXPECT_EQ(read("tt.func @\"a b(\"() attributes {noinline = false}"), "{}");
  EXPECT_EQ(read("module {\n tt.func private @h(%t: tensor<4xf32>) {}\n tt.func @k(%x: i64) {}}"),
            "x: i64");
  EXPECT_EQ(read("tt.func @a(%x: i32) {}\ntt.func @b(%x: i32) {}"), "RL004 23-42");
  EXPECT_EQ(read("tt.func  public  @k(%x: i32)"), "x: i32");
}

TEST(Mlir, FunctionsOfOtherDialects) {
  EXPECT_EQ(read("func public @k_0d1(%x: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %n: i32) {"),
            "x: *fp32:16, n: i32");
  EXPECT_EQ(read("func.func @k(%x: i8) {\n  return\n}"), "x: i8");
  EXPECT_EQ(file("module {\n  llvm.func @k(%x: i8)\n  func.func private @h(%t: f32)\n"
                 "  func.func @k(%x: i16)\n  %0 = call @h(%x)\n}\n"),
            Lines{"4:3 x: i16"});
  EXPECT_EQ(file("import x\nfunc @k(1)\nmyfunc public @k(%x: i32)\n"), Lines{"1:1 RL001@1:1"});
}

constexpr std::string_view kModule =
    "#loc = loc(\"k.py\":1:0)\n"
    "#blocked = #ttg.blocked<{order = [0]}>\n"
    "module attributes {\"ttg.num-warps\" = 4 : i32} {\n"
    "  // CHECK: tt.func @commented(%x: i8)\n"
    "  tt.func public @first(%x: !tt.ptr<f32> loc(\"x\"(#loc)),\n"
    "                        %y: i129) attributes {noinline = false} {\n"
    "    %0 = tt.call @helper() : () -> i32\n"
    "    tt.return loc(#loc)\n"
    "  }\n"
    "  tt.func private @helper(%t: tensor<4xf32>) -> i32 {\n  }\n"
    "  tt.func @second(%n: i32) {\n"
    "    tt.return\n"
    "  }\n"
    "}\n";

TEST(Mlir, EveryFunctionOfAModule) {
  EXPECT_EQ(file(kModule), (Lines{"5:3 RL010@6:29", "12:3 n: i32"}));
  EXPECT_EQ(file(kModule, Form::ttir), file(kModule));
}

TEST(Mlir, CommentsAroundFunctions) {
  EXPECT_EQ(file("// RUN: triton-opt %s | FileCheck %s\n\n" + std::string(kModule) +
                 "\n// -----\n\n// CHECK: tt.func @no(%x: i8)\ntt.func @k(%x: i64) {\n}\n//"),
            (Lines{"7:3 RL010@8:29", "14:3 n: i32", "22:1 x: i64"}));
}

TEST(Mlir, BetweenOtherSignatures) {
  const std::string mixed = "*fp32, i32\n" + std::string(kModule) +
                            "{'a': 'i32'}\n%x: i32,\n  %y: i64\n"
                            "tt.func @k(%z: f16) {\n  tt.return\n}\ni8\n";
  EXPECT_EQ(file(mixed), (Lines{"1:1 *fp32, i32", "6:3 RL010@7:29", "13:3 n: i32", "17:1 a: i32",
                                "18:1 x: i32, y: i64", "20:1 z: fp16", "23:1 i8"}));
}

TEST(Mlir, InsideCode) {
  EXPECT_EQ(file("import triton\nir = '''\nmodule {\n  tt.func @k(%x: f64) {\n  }\n}\n'''\ni32\n"),
            Lines{"4:3 x: fp64"});
  EXPECT_EQ(file("import triton\ni32\n"), Lines{"1:1 RL001@1:1"});
}

TEST(Mlir, FilesCutShort) {
  EXPECT_EQ(file("module {\n tt.func @a(%x: i32) {\n tt.func @b(%y: i64"),
            (Lines{"2:2 x: i32", "3:2 RL005@3:2"}));
  EXPECT_EQ(file("tt.func @a(%x: i32) {\ni8\n"), (Lines{"1:1 x: i32", "2:1 i8"}));
}

TEST(Mlir, HostileTextIsReadInLinearTime) {
  for (const std::string piece :
       {"tt.func @a(", "tt.func ", "module {\n", "%x: i32,\n", "!tt.ptr<", "tt.func @a(%x: \"",
        "\"\n", "// tt.func @a() ", "func(", "func public @"}) {
    std::string text = "%x: ";
    while (text.size() < 100'000) text += piece;
    read_signatures(text, "f", Form::automatic);
    read_signatures(text.substr(4), "f", Form::automatic);
    read_signatures(text.substr(4), "f", Form::ttir);
  }
}

}  // namespace
}  // namespace relaunch::migrate
