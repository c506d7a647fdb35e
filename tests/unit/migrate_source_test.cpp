// Files: where signatures begin and end, what line and column they and their errors have.

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "migrate/source.hpp"

namespace relaunch::migrate {
namespace {

// The first code of warnings about trees, which have tests of their own.
constexpr std::string_view kSurprise = "RL106";

/// Every signature as `line:col dump`, or `line:col CODE@line:col ...`.
std::vector<std::string> read(std::string_view bytes, Form form = Form::automatic) {
  std::vector<std::string> out;
  for (const Signature& one : read_signatures(bytes, "f", form)) {
    std::string line = std::to_string(one.place.line) + ":" + std::to_string(one.place.column);
    if (one.parsed.ok()) line += " " + dump(one.parsed.tree);
    EXPECT_EQ(one.places.size(), one.parsed.diagnostics.size());
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

TEST(Source, OneSignatureALine) {
  EXPECT_EQ(read("*fp32, i32\n\n# comment\n  i64  \nfp16"),
            (Lines{"1:1 *fp32, i32", "4:3 i64", "5:1 fp16"}));
}

TEST(Source, LineEndsAndByteOrderMark) {
  const auto found = read_signatures("\xEF\xBB\xBFi32\r\n\r\n\ti64\r\n", "f", Form::automatic);
  ASSERT_EQ(found.size(), 2U);
  EXPECT_EQ(found[0].source(), "f:1:1");
  EXPECT_EQ(found[0].parsed.tree.text, "i32");
  EXPECT_EQ(found[1].source(), "f:3:2");
  EXPECT_EQ(found[1].parsed.tree.text, "i64");
}

TEST(Source, NothingAtAllIsAnError) {
  EXPECT_EQ(read(""), Lines{"1:1 RL001@1:1"});
  EXPECT_EQ(read("\n# only a comment\n"), Lines{"1:1 RL001@1:1"});
}

TEST(Source, LiteralsRunOverLines) {
  EXPECT_EQ(
      read("{\n  'a': 'i32',  # }\n  'b': ('*fp32',\n  'i64')\n}\n(\n'i32',\n)\ni8\n"
           "'''*fp32,\ni32'''\n[\n]\n"),
      (Lines{"1:1 a: i32, b: (*fp32, i64)", "6:1 i32", "9:1 i8", "10:1 *fp32, i32", "12:1 {}"}));
}

TEST(Source, ErrorsInsideLiteralsHaveTheirOwnLine) {
  EXPECT_EQ(read("{\n  'é': 'i33',\n  'ü': ('ë' \"33\",),\n}\ni32"),
            (Lines{"1:1 RL010@2:9 RL010@3:10", "5:1 i32"}));
}

TEST(Source, ABadLineStopsNothing) {
  EXPECT_EQ(read("(i32, *fp32\n*fp32, i32\n{'a': 'i32',\n{'b': 'i64'}\ni32, i64)\n'abc\n[[\nfp32"),
            (Lines{"1:1 RL005@1:1", "2:1 *fp32, i32", "3:1 RL005@3:1", "4:1 b: i64",
                   "5:1 RL005@5:9", "6:1 RL007@6:1", "7:1 RL005@7:2", "8:1 fp32"}));
  EXPECT_EQ(read("'''\ni32\n"), (Lines{"1:1 RL007@1:1", "2:1 i32"}));
  EXPECT_EQ(read("{'a': ('i32',\n}\ni64"), (Lines{"1:1 RL005@1:7", "2:1 RL004@2:1", "3:1 i64"}));
}

TEST(Source, BytesThatAreNotUtf8CostTheirLine) {
  EXPECT_EQ(read("i32\n  i\xC3, x\n{'a':\n '\xFF'}\nfp32"),
            (Lines{"1:1 i32", "2:3 RL002@2:4", "3:1 RL002@4:3", "5:1 fp32"}));
  EXPECT_EQ(read(std::string_view("\xFF\xFE"
                                  "i\0"
                                  "8\0",
                                  6)),
            Lines{"1:1 RL002@1:1"});
  EXPECT_EQ(read(std::string_view("i32\ni\0\x38\nfp32", 12)),
            (Lines{"1:1 i32", "2:1 RL003@2:2", "3:1 fp32"}));
}

TEST(Source, ColumnsAreCodePoints) {
  EXPECT_EQ(read("é: i32, 😀: *fp33"), Lines{"1:1 RL010@1:12"});
}

TEST(Source, FormsThatAreAskedFor) {
  EXPECT_EQ(read("{'a':\n'i32'}", Form::dict), Lines{"1:1 a: i32"});
  EXPECT_EQ(read("*fp32", Form::dict), Lines{"1:1 RL016@1:1"});
  EXPECT_EQ(read("{\"a\":\n\"i32\"}\n[\"i64\"]", Form::json), (Lines{"1:1 a: i32", "3:1 i64"}));
  EXPECT_EQ(read("{'a': 'i32'}\n{'a':\n 'i32'}", Form::csv),
            (Lines{"1:1 RL015@1:1", "2:1 RL015@2:1", "3:2 RL004@3:2"}));
}

TEST(Source, RowsOfACollection) {
  EXPECT_EQ(read(R"({"id": "x", "text": "*fp32, N: constexpr", "constants": "{\"N\": 4, 'M': 1}"}
{"text": "{'a': 'i32'}", "constants": {"a": 1}, "source": "a:1"}
{"text": "i32"}
{"text": "i32", "constants": null, "form": "aot"}
{"text": "*fp32", "n": "i32"})"),
            (Lines{"1:1 *fp32, N: constexpr=4", "2:1 a: i32=1", "3:1 i32", "4:1 i32",
                   "5:1 text: *fp32, n: i32"}));
}

TEST(Source, ErrorsOfARowStandInItsLine) {
  EXPECT_EQ(
      read("i32\n  {\"text\": \"\\u00e9: i32,\\n *fp33\", \"source\": \"a\"}\n{\"text\": \"\"}"),
      (Lines{"1:1 i32", "2:3 RL010@2:28", "3:1 RL001@3:11"}));
  EXPECT_EQ(read(R"({"text": "{'a': 'i33'}", "source": "a b"})"), Lines{"1:1 RL010@1:18"});
  EXPECT_EQ(read(R"({"text": "*fp32", "source": "a b"})", Form::dict), Lines{"1:1 RL016@1:11"});
}

TEST(Source, UnclosedBracketsCostLinearTime) {
  std::string bytes;
  for (int i = 0; i < 20'000; ++i) bytes += "{'a': 'i32',\n";
  const auto found = read_signatures(bytes, "f", Form::automatic);
  ASSERT_EQ(found.size(), 20'000U);
  EXPECT_EQ(found.back().parsed.error().code, "RL005");
  EXPECT_EQ(found.back().source(), "f:20000:1");
}

}  // namespace
}  // namespace relaunch::migrate
