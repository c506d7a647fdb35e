// Findings mended: what is rewritten, what is left and why, and that nothing else changes.

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "migrate/fix.hpp"
#include "migrate/line_diff.hpp"
#include "migrate/meant_type.hpp"
#include "migrate/snapshot.hpp"

namespace relaunch::migrate {
namespace {

using namespace std::string_literals;

/// The bytes of a file after mending, which must hold what it promises; before where it is left.
std::string fixed(const std::string& before, Form form = Form::automatic) {
  const FixedFile out = fix(before, "f", form);
  if (out.findings == 0) {
    EXPECT_EQ(out.bytes, "");
    return before;
  }
  EXPECT_EQ(broken_promise(before, out.bytes, "f", form), std::nullopt);
  EXPECT_EQ(fix(out.bytes, "f", form).findings, 0U) << out.bytes;
  return out.bytes;
}

/// Why the findings of the first signature are left.
std::vector<std::string> reasons(const std::string& bytes, Form form = Form::automatic) {
  SignatureReader reader(bytes, "f", form);
  const auto signature = reader.next();
  std::vector<std::string> out;
  for (const Remedy& remedy : mend(*signature, bytes).remedies) {
    EXPECT_TRUE(remedy.edits.empty());
    out.emplace_back(remedy.reason);
  }
  return out;
}

using Strings = std::vector<std::string>;

TEST(MeantType, IsTheOnlyOneThatAWordCanMean) {
  const std::vector<std::pair<std::string, std::string>> words = {
      {"FP32", "fp32"},           {"*Float16", "*fp16"},
      {"fp32*", "*fp32"},         {"float**", "**fp32"},
      {"* FP32", "*fp32"},        {"INT32_T", "i32"},
      {"uint8_t*", "*u8"},        {"tl.constexpr", "constexpr"},
      {"nvtmadesc", "nvTmaDesc"}, {"*KFP16", "*kfp16"},
      {"\xC2\xA0i32", "i32"},     {"\xEF\xBB\xBF*bf16\xE2\x80\x8B", "*bf16"},
  };
  for (const auto& [word, type] : words) EXPECT_EQ(meant_type(word), type) << word;
  for (const std::string word :
       {"", "*", "i32", "i33", "*fp32*", "torch.float32", "size_t", "TensorDesc", "*tl.constexpr",
        "TENSORDESC<FP16[4]>", "i32\xEF\xBF\xBD", "\xE2\x80\x9Ci32\xE2\x80\x9D", "*nvtmadesc"}) {
    EXPECT_EQ(meant_type(word), std::nullopt) << word;
  }
}

TEST(Fix, TypesInOtherWords) {
  EXPECT_EQ(fixed("*float32, n: int64, (half, * double)"), "*fp32, n: i64, (fp16, *fp64)");
  EXPECT_EQ(fixed("x: FP32*, BLOCK: tl.constexpr, n: Int32:16"),
            "x: *fp32, BLOCK: constexpr, n: i32:16");
  EXPECT_EQ(fixed("i32,\xC2\xA0*fp32"), "i32, *fp32");
  EXPECT_EQ(fixed("{'a': 'F32',\n 'b': (r\"Half\", u'i32')}\n"),
            "{'a': 'fp32',\n 'b': (r\"fp16\", u'i32')}\n");
  EXPECT_EQ(fixed("\"I32, *FP16\"\n"), "\"i32, *fp16\"\n");
  EXPECT_EQ(fixed("[\"I32\"]", Form::json), "[\"i32\"]");
}

TEST(Fix, ACommaBehindTheLastEntry) {
  EXPECT_EQ(fixed("*fp32, i32,"), "*fp32, i32");
  EXPECT_EQ(fixed("i32 ,  # the last\n\ni64,\n# end\n"), "i32   # the last\n\ni64\n# end\n");
  EXPECT_EQ(fixed("'*fp32, i32, '"), "'*fp32, i32 '");
  EXPECT_EQ(fixed("{\"text\": \"i32, i64,\", \"constants\": \"N=1\"}\ni8"),
            "{\"text\": \"i32, i64\", \"constants\": \"N=1\"}\ni8");
  EXPECT_EQ(fixed("{\"x\": \"i32\", \"y\": [\"i8\", ],}", Form::json),
            "{\"x\": \"i32\", \"y\": [\"i8\" ]}");
  EXPECT_EQ(fixed("{\"x\": \"i32\",\n}", Form::json), "{\"x\": \"i32\"\n}");
}

TEST(Fix, ACommaThatTheNextLineMayFollowIsLeft) {
  EXPECT_EQ(reasons("*fp32, i32,\ni64"), Strings{"the next line may go on with it"});
  EXPECT_EQ(reasons("*fp32, i32,\n# more\ni64"), Strings{"the next line may go on with it"});
  EXPECT_EQ(reasons("i32,,"), Strings{"what was meant is not known"});
  EXPECT_EQ(reasons(","), Strings{"what was meant is not known"});
}

TEST(Fix, ACommaIsLeftWhereAnotherEntryMayBeMeant) {
  EXPECT_EQ(reasons(R"({"text": "i32, i64,", "constants": "{2: 5}"})"),
            Strings{"mended so, it would be read otherwise"});
}

TEST(Fix, ControlCharactersThatSeparateNothing) {
  EXPECT_EQ(fixed("i32, i64\x0c\n"), "i32, i64\n");
  EXPECT_EQ(fixed("\0i32 ,\0 i64\0\0"s), "i32 , i64");
  EXPECT_EQ(fixed("i32, \x1b FP16 ,"), "i32,  fp16 ");
  EXPECT_EQ(reasons("i3\0002"s), Strings{"it may separate what it stands between"});
  EXPECT_EQ(reasons("{'a\0': 'i32'}"s), Strings{"it may separate what it stands between"});
  EXPECT_EQ(reasons("\x1b[1mi32\x1b[0m"),
            Strings{"another error of this signature cannot be mended"});
}

TEST(Fix, AHintThatTheAheadOfTimeCompilerDrops) {
  EXPECT_EQ(fixed("*fp32 :a, i32:16, i8: b", Form::aot), "*fp32 , i32:16, i8");
  EXPECT_EQ(reasons("i32:1", Form::aot),
            Strings{"the constant 1 would take the argument from the C function as well"});
}

TEST(Fix, InsideSourceCode) {
  EXPECT_EQ(fixed("import triton\nsrc = ASTSource(fn=k, signature={0: '*FP32', 'n': 'int32'},\n"
                  "                constants={1: N})  # I32\nx = 'FP32,'\n"),
            "import triton\nsrc = ASTSource(fn=k, signature={0: '*fp32', 'n': 'i32'},\n"
            "                constants={1: N})  # I32\nx = 'FP32,'\n");
  EXPECT_EQ(fixed("import torch\n@triton_heuristics.pointwise(\n  triton_meta={'signature': "
                  "{'a': '*float32', 'b': 'i32'}, 'constants': {}},\n)\n"),
            "import torch\n@triton_heuristics.pointwise(\n  triton_meta={'signature': "
            "{'a': '*fp32', 'b': 'i32'}, 'constants': {}},\n)\n");
}

TEST(Fix, WhatAProgramWroteIsLeft) {
  const std::string why = "it is written by a program: mend what it was made from";
  EXPECT_EQ(reasons("%x: !tt.ptr<f32> {tt.divisibility = 4 : i32}"), Strings{why});
  EXPECT_EQ(reasons("%x: i33"), Strings{why});
  const std::string line =
      R"({"text": "float32", "parameters": [{"name": null, "kind": "ARG_KERNEL", "type": "fp32"}], )"
      R"("diagnostics": [{"code": "RL113", "severity": "warning", "message": "", "span": [0, 7]}]})";
  EXPECT_EQ(reasons(line), Strings{why});
}

TEST(Fix, ASignatureWithAnErrorThatStaysIsLeftWhole) {
  const std::string left = "another error of this signature cannot be mended";
  EXPECT_EQ(reasons("FP32, i33"), (Strings{left, "what was meant is not known"}));
  EXPECT_EQ(reasons("tl.constexpr:16"), Strings{"mended so, it would still have an error"});
}

TEST(Fix, MoreErrorsThanAreListedAtOnce) {
  std::string many;
  std::string meant;
  for (int i = 0; i < 100; ++i) {
    many += "FP32, int8_t*, ";
    meant += "fp32, *i8, ";
  }
  EXPECT_EQ(fixed(many), meant.substr(0, meant.size() - 2) + " ");
  EXPECT_EQ(fixed(many + "i33"), many + "i33");
  for (int i = 0; i < 200; ++i) many += "FP32, ";
  EXPECT_EQ(fixed(many + "i8"), many + "i8");  // past all belief
}

TEST(Fix, WhatIsWrittenWithEscapesIsLeft) {
  const std::string why = "it is written with escapes";
  EXPECT_EQ(reasons(R"({"text": "i32, \u0046P32", "constants": ""})"), Strings{why});
  EXPECT_EQ(reasons(R"({"text": "i32\u0000", "constants": ""})"), Strings{why});
  EXPECT_EQ(fixed("'''*\nFP32'''"), "'''*\nFP32'''");  // every line keeps its number
}

TEST(Fix, OtherBytesAreKept) {
  const std::string before = "\xEF\xBB\xBF# \xFF\xFE \0\r\nFP32,\xC2\xA0i32\r\n\t\xC3 i32\r\n"s;
  EXPECT_EQ(fixed(before), "\xEF\xBB\xBF# \xFF\xFE \0\r\nfp32, i32\r\n\t\xC3 i32\r\n"s);
  EXPECT_EQ(fixed("FP32"), "fp32");
  EXPECT_EQ(fixed("FP32\n\n\n"), "fp32\n\n\n");
}

TEST(Fix, AWarningIsMendedForTheWholeSignature) {
  std::string many;
  std::string meant;
  for (int i = 0; i < 5000; ++i) {
    many += i == 0 ? "float" : ", float";
    meant += i == 0 ? "fp32" : ", fp32";
  }
  EXPECT_EQ(fix(many, "f", Form::automatic).findings, 1U);
  EXPECT_EQ(fixed(many), meant);
}

TEST(Fix, ABrokenPromiseIsFound) {
  const auto broken = [](std::string_view before, std::string_view after) {
    return broken_promise(before, after, "f", Form::automatic).value_or("");
  };
  EXPECT_EQ(broken("i32\nFP16, i8\n", "i32\nfp16, i8\n"), "");
  const std::string otherwise = "the signature at 2:1 would be read otherwise than meant";
  EXPECT_EQ(broken("i32\nFP16, i8\n", "i32\nbf16, i8\n"), otherwise);
  EXPECT_EQ(broken("i32\nFP16, i8\n", "i32\nfp16, i16\n"), otherwise);
  EXPECT_EQ(broken("i32\nFP16, i8\n", "i32\nFP16, i8\n"), otherwise);
  EXPECT_EQ(broken("i32\nFP16, i8\n", "i32\n"), "there would be another number of signatures");
  EXPECT_EQ(broken("i32\ni8\n", "i32\ni8\n\ni8"), "there would be another number of signatures");
  EXPECT_EQ(broken("i32,\ni64", "i32,\n\ni64"), "the signature at 1:1 would be changed again");
  EXPECT_EQ(broken("*fp32:16", "*fp32"), "the signature at 1:1 would be read otherwise than meant");
  EXPECT_EQ(broken("x: i32=1", "x: i32=2"),
            "the signature at 1:1 would be read otherwise than meant");
  EXPECT_EQ(broken("float32, i32", "f32, i32"),
            "the signature at 1:1 would be read otherwise than meant");
}

TEST(LineDiff, HunksAndContext) {
  std::string before;
  for (int i = 1; i <= 20; ++i) before += std::to_string(i) + "\n";
  const auto with = [&before](std::vector<int> changed) {
    std::string out;
    for (int i = 1; i <= 20; ++i) {
      const bool is = std::find(changed.begin(), changed.end(), i) != changed.end();
      out += (is ? "x" : std::to_string(i)) + "\n";
    }
    return unified_diff(before, out, "p");
  };
  EXPECT_EQ(with({}), "");
  EXPECT_EQ(with({1}), "--- p\n+++ p\n@@ -1,4 +1,4 @@\n-1\n+x\n 2\n 3\n 4\n");
  EXPECT_EQ(with({20}), "--- p\n+++ p\n@@ -17,4 +17,4 @@\n 17\n 18\n 19\n-20\n+x\n");
  EXPECT_EQ(with({5, 6, 12}),
            "--- p\n+++ p\n@@ -2,14 +2,14 @@\n 2\n 3\n 4\n-5\n-6\n+x\n+x\n 7\n 8\n 9\n 10\n 11\n"
            "-12\n+x\n 13\n 14\n 15\n");
  EXPECT_EQ(with({5, 13}),
            "--- p\n+++ p\n@@ -2,7 +2,7 @@\n 2\n 3\n 4\n-5\n+x\n 6\n 7\n 8\n"
            "@@ -10,7 +10,7 @@\n 10\n 11\n 12\n-13\n+x\n 14\n 15\n 16\n");
  EXPECT_EQ(unified_diff("a", "b", "p"),
            "--- p\n+++ p\n@@ -1 +1 @@\n-a\n\\ No newline at end of file\n+b\n\\ No newline at end "
            "of file\n");
}

TEST(Snapshot, SaysWhyAFileCannotBeReadOrReplaced) {
  std::string reason;
  EXPECT_FALSE(Snapshot::of("/nowhere/at/all", reason));
  EXPECT_EQ(reason, "No such file or directory");
  EXPECT_FALSE(Snapshot::of("/", reason));
  EXPECT_EQ(reason, "Is a directory");
  const auto null = Snapshot::of("/dev/null", reason);
  ASSERT_TRUE(null);
  EXPECT_EQ(null->replace("x"), "it is no regular file");
}

}  // namespace
}  // namespace relaunch::migrate
