// Lists of values, and lists of PyKernelArg with their types.

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "migrate/emit.hpp"
#include "migrate/source.hpp"

namespace relaunch::migrate {
namespace {

// The first code of warnings about trees, which have tests of their own.
constexpr std::string_view kSurprise = "RL106";

std::string read(std::string_view text, Form form) {
  const Parsed parsed = parse(text);
  EXPECT_EQ(form_name(parsed.form), form_name(form));
  std::string out = parsed.ok() ? dump(parsed.tree) : "";
  for (const Diagnostic& found : parsed.diagnostics) {
    if (found.code >= kSurprise) continue;
    out += (out.empty() ? "" : " | ") + found.code + " " + std::to_string(found.span.begin) + "-" +
           std::to_string(found.span.end);
  }
  return out;
}

std::string values(std::string_view text) { return read(text, Form::values); }
std::string lists(std::string_view text) { return read(text, Form::tree); }

std::string as_values(std::string_view text) {
  const Parsed parsed = parse(text, Form::values);
  return parsed.ok() ? dump(parsed.tree)
                     : parsed.error().code + " " + std::to_string(parsed.error().span.begin) + "-" +
                           std::to_string(parsed.error().span.end);
}

TEST(Values, Integers) {
  EXPECT_EQ(values("[0, 1, 2, -1, 16, 17, -32]"),
            "i32:16, constexpr=1, i32, i32, i32:16, i32, i32:16");
  EXPECT_EQ(values("[2147483647, 2147483648, -2147483648, -2147483649]"),
            "i32, i64:16, i32:16, i64");
  EXPECT_EQ(values("[9223372036854775807, 9223372036854775808, 18446744073709551615]"),
            "i64, u64:16, u64");
  EXPECT_EQ(values("[-9223372036854775808, 0x7f]"), "i64:16, i32");
  EXPECT_EQ(values("[18446744073709551616]"), "RL008 1-21");
  EXPECT_EQ(values("[-9223372036854775809]"), "RL008 1-21");
}

TEST(Values, OtherValues) {
  EXPECT_EQ(values("[2.5, nan, 1e300, True, False, None]"),
            "fp32, fp32, fp32, u1, u1, constexpr=null");
  EXPECT_EQ(as_values("['fast', 3]"), "constexpr=\"fast\", i32");
}

TEST(Values, Tensors) {
  EXPECT_EQ(values("(torch.float16, torch.bfloat16, tl.int64, torch.bool, torch.float8_e4m3fn)"),
            "*fp16, *bf16, *i64, *i1, *fp8e4nv");
  EXPECT_EQ(values("[torch.empty(4, dtype=torch.float32), MockTensor(tl.uint8), 3]"),
            "*fp32, *u8, i32");
  EXPECT_EQ(as_values("[float32, x.int32]"), "*fp32, *i32");
}

TEST(Values, TuplesAndNames) {
  EXPECT_EQ(values("[(7, (None,)), [], Point(x=2, y=1.5)]"),
            "(i32, (constexpr=null,)), (), (x: i32, y: fp32)");
  EXPECT_EQ(as_values("{'x': torch.float32, 'n': 64, 'BLOCK': 1}"),
            "x: *fp32, n: i32:16, BLOCK: constexpr=1");
}

TEST(Values, WhatSaysNoType) {
  EXPECT_EQ(as_values("[x]"), "RL016 1-2");
  EXPECT_EQ(as_values("[torch.zeros(3)]"), "RL016 1-15");
  EXPECT_EQ(as_values("[1 + 2]"), "RL016 1-6");
  EXPECT_EQ(as_values("[(1) * 2]"), "RL016 1-8");
  EXPECT_EQ(as_values("3"), "RL004 0-1");
  EXPECT_EQ(as_values(""), "RL001 0-0");
  EXPECT_EQ(as_values("[3"), "RL005 0-1");
  EXPECT_EQ(as_values("[3] 4"), "RL004 4-5");
  EXPECT_EQ(as_values("[,]"), "RL004 1-2");
  EXPECT_EQ(as_values(std::string(300, '[') + std::string(300, ']')), "RL006 256-257");
}

TEST(Values, WhatIsNoListOfValues) {
  EXPECT_EQ(parse("(1, 2)").form, Form::csv);
  EXPECT_EQ(parse("[]").form, Form::dict);
  EXPECT_EQ(parse("['i32', 'i64']").form, Form::dict);
  EXPECT_EQ(parse("(i32, 1)").form, Form::csv);
}

TEST(Annotations, CallsAndTypes) {
  EXPECT_EQ(lists("arg_annotations = [\n  PyKernelArg(nested_tuple=None, type=ARG_KERNEL),\n"
                  "  PyKernelArg(nested_tuple=None, type=ARG_CONSTEXPR),\n"
                  "  PyKernelArg(nested_tuple=(PyKernelArg(None, 1), PyKernelArg(None, 0)), "
                  "type=driver.ARG_TUPLE),\n]\nflat_signature = [\"*fp32\", \"i32\"]\n"),
            "*fp32, constexpr, (i32, constexpr)");
  EXPECT_EQ(lists("[PyKernelArg(None, 1)], ['i64']"), "i64");
  EXPECT_EQ(lists("arg_annotations = []"), "{}");
  EXPECT_EQ(lists("[PyKernelArg(nested_tuple=[], type=2)]"), "()");
}

TEST(Annotations, Misfits) {
  EXPECT_EQ(lists("[PyKernelArg(None, 1)]"), "RL023 22-22");
  EXPECT_EQ(lists("[PyKernelArg(None, 1)], ['i64', 'i32']"), "RL023 38-38");
  EXPECT_EQ(lists("[PyKernelArg(None, 1)], ['i65']"), "RL010 26-29");
  EXPECT_EQ(lists("[PyKernelArg(None, 3)], []"), "RL004 1-21");
  EXPECT_EQ(lists("[PyKernelArg(None, ARG_TUPLE)], []"), "RL004 1-29");
  EXPECT_EQ(lists("[PyKernelArg, 1]"), "RL004 1-12");
  EXPECT_EQ(lists("[PyKernelArg(None, 1)"), "RL005 0-1");
  EXPECT_EQ(lists("PyKernelArg"), "RL004 11-11");
}

TEST(Annotations, WhatIsWrittenIsReadAgain) {
  const auto first =
      read_signatures("x: *fp32, (i32, (constexpr,), ()), constexpr\n{}\n", "f", Form::csv);
  std::string text;
  for (const Signature& one : first) text += to_python(one);
  for (const Form form : {Form::automatic, Form::tree}) {
    const auto again = read_signatures(text, "g", form);
    ASSERT_EQ(again.size(), 2U);
    EXPECT_EQ(again[0].source(), "g:2:1");
    EXPECT_EQ(dump(again[0].parsed.tree), "*fp32, (i32, (constexpr,), ()), constexpr");
    EXPECT_EQ(dump(again[1].parsed.tree), "{}");
  }
}

TEST(Annotations, HostileTextIsReadInLinearTime) {
  for (const std::string piece :
       {"arg_annotations = [", "arg_annotations = []\n", "PyKernelArg(", "[PyKernelArg(",
        "PyKernelArg((PyKernelArg(", "[torch.float32, ", "MockTensor(", "%x: i32,\n\n\n"}) {
    std::string text = "[";
    while (text.size() < 100'000) text += piece;
    for (const Form form : {Form::automatic, Form::tree, Form::values}) {
      read_signatures(text, "f", form);
      read_signatures(std::string_view(text).substr(1), "f", form);
    }
  }
}

}  // namespace
}  // namespace relaunch::migrate
