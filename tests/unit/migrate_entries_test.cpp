// Comma text to trees: what is read, and code and place of what is not.

#include <gtest/gtest.h>

#include <string>

#include "migrate/parse.hpp"

namespace relaunch::migrate {
namespace {

// The first code of warnings about trees, which have tests of their own.
constexpr std::string_view kSurprise = "RL106";

/// `CODE begin-end` of the first error, or the canonical line.
std::string read(std::string_view text, Form form = Form::csv) {
  const Parsed parsed = parse(text, form);
  EXPECT_EQ(parsed.tree.text, text);
  if (parsed.ok()) return dump(parsed.tree);
  EXPECT_TRUE(parsed.tree.parameters.empty());
  const Diagnostic& error = parsed.error();
  return error.code + " " + std::to_string(error.span.begin) + "-" + std::to_string(error.span.end);
}

TEST(CommaText, EveryKindOfEntry) {
  const Parsed parsed = parse("*fp32, n: i32:16, constexpr, (i32, *fp16)", Form::csv);
  ASSERT_TRUE(parsed.ok());
  const auto& nodes = parsed.tree.parameters;
  ASSERT_EQ(nodes.size(), 4U);
  EXPECT_EQ(nodes[0].type, ArgKind::ARG_KERNEL);
  EXPECT_EQ(nodes[0].dtype, "*fp32");
  EXPECT_EQ(nodes[1].name, "n");
  EXPECT_EQ(nodes[1].hint, "16");
  EXPECT_EQ(nodes[2].type, ArgKind::ARG_CONSTEXPR);
  EXPECT_EQ(nodes[2].dtype, "");
  EXPECT_EQ(nodes[3].type, ArgKind::ARG_TUPLE);
  ASSERT_EQ(nodes[3].nested_tuple.size(), 2U);
  EXPECT_EQ(nodes[3].nested_tuple[1].dtype, "*fp16");
}

TEST(CommaText, SpansAreThoseOfTheTypes) {
  const std::string text = " *fp32:16, n: i32, (i32, *fp16), 128";
  const Parsed parsed = parse(text, Form::csv);
  ASSERT_TRUE(parsed.ok());
  const auto piece = [&](const PyKernelArg& node) {
    return text.substr(node.span.begin, node.span.end - node.span.begin);
  };
  const auto& nodes = parsed.tree.parameters;
  EXPECT_EQ(piece(nodes[0]), "*fp32");
  EXPECT_EQ(piece(nodes[1]), "i32");
  EXPECT_EQ(piece(nodes[2]), "(i32, *fp16)");
  EXPECT_EQ(piece(nodes[2].nested_tuple[1]), "*fp16");
  EXPECT_EQ(piece(nodes[3]), "128");
}

TEST(CommaText, TypesBecomeCanonical) {
  EXPECT_EQ(read("*float32,half,*kbfloat16 ,float64, * fp16, * *i8, uint8"),
            "*fp32, fp16, *kbf16, fp64, *fp16, **i8, u8");
}

TEST(CommaText, ADescriptorIsOneWord) {
  const std::string layout =
      "tensordesc_im2col<fp16[64, 64],input_rank=4,NVMMASharedLayout(swizzle_byte_width=128, "
      "cga_layout=[])>";
  EXPECT_EQ(read(layout + ", i32"), layout + ", i32");
  EXPECT_EQ(read("tensordesc<fp16[64],'a > b'>,i32"), "tensordesc<fp16[64],'a > b'>, i32");
  EXPECT_EQ(read("tensordesc<fp16[64],a<b>>,i32"), "tensordesc<fp16[64],a<b>>, i32");
}

TEST(CommaText, ConstantsStandByThemselvesOrAsValues) {
  EXPECT_EQ(read("1024, -3, 1.5, True, None, nan, -inf, 1_000, 0x10, +7, 007, .5, 5."),
            "constexpr=1024, constexpr=-3, constexpr=1.5, constexpr=true, constexpr=null, "
            R"(constexpr={"float": "nan"}, constexpr={"float": "-inf"}, constexpr=1000, )"
            "constexpr=16, constexpr=7, constexpr=7, constexpr=0.5, constexpr=5.0");
  EXPECT_EQ(
      read("1e3, 1e15, 1e16, 1e-4, 1e-5, -0.0, 1e400, 1e-400, 123456789012345678901234567890"),
      "constexpr=1000.0, constexpr=1000000000000000.0, constexpr=1e+16, constexpr=0.0001, "
      R"(constexpr=1e-05, constexpr=-0.0, constexpr={"float": "inf"}, constexpr=0.0, )"
      "constexpr=123456789012345678901234567890");
  EXPECT_EQ(read("x: constexpr=[1, 'é', {\"a\": None}], i32=1, (i32,)=(1,)"),
            R"(x: constexpr=[1, "\u00e9", {"a": null}], i32=1, (i32,)=[1])");
}

TEST(CommaText, Tuples) {
  EXPECT_EQ(read("(), (i32), (i32,), ((), (a: i32, b: (constexpr,)))"),
            "(), (i32,), (i32,), ((), (a: i32, b: (constexpr,)))");
}

TEST(CommaText, AKernelWithoutArguments) {
  EXPECT_EQ(read("{}"), "{}");
  EXPECT_EQ(read(" { } "), "{}");
}

TEST(CommaText, ErrorsHaveCodeAndPlace) {
  EXPECT_EQ(read(""), "RL001 0-0");
  EXPECT_EQ(read(" \t# nothing"), "RL001 11-11");
  EXPECT_EQ(read("*fp33, i32"), "RL010 0-5");
  EXPECT_EQ(read("i32, *"), "RL010 5-6");
  EXPECT_EQ(read("i32,"), "RL004 4-4");
  EXPECT_EQ(read("i32,,i32"), "RL004 4-5");
  EXPECT_EQ(read("i32 i32"), "RL004 4-7");
  EXPECT_EQ(read("i32)"), "RL005 3-4");
  EXPECT_EQ(read("i32, (i32, (i64)"), "RL005 5-6");
  EXPECT_EQ(read("(i32]"), "RL004 4-5");
  EXPECT_EQ(read("*fp32:8"), "RL012 6-7");
  EXPECT_EQ(read("constexpr:16"), "RL012 10-12");
  EXPECT_EQ(read("i32:16:1"), "RL004 6-7");
  EXPECT_EQ(read("a-b: i32"), "RL013 0-3");
  EXPECT_EQ(read("a: i32, b: i32, a: i64"), "RL014 16-17");
  EXPECT_EQ(read("x: (a: i32, a: i64)"), "RL014 12-13");
  EXPECT_EQ(read("x: 16"), "RL010 0-1");
  EXPECT_EQ(read("constexpr=foo"), "RL016 10-13");
  EXPECT_EQ(read("constexpr=f(1)"), "RL004 10-14");
  EXPECT_EQ(read("constexpr="), "RL004 10-10");
  EXPECT_EQ(read("1=2"), "RL004 1-2");
  EXPECT_EQ(read("i32, 'x'"), "RL004 5-8");
  EXPECT_EQ(read("i32, 'x"), "RL007 5-7");
  EXPECT_EQ(read(std::string(4301, '9')), "RL008 0-4301");
  EXPECT_EQ(read("0x10000000000000000"), "RL008 0-19");
  EXPECT_EQ(read("tensordesc<...>"), "RL011 0-15");
  EXPECT_EQ(read("tensordesc<fp16[64]"), "RL005 0-19");
  EXPECT_EQ(read("tensordesc<fp16[4]><x>"), "RL004 19-22");
}

TEST(CommaText, PlaceholdersAreCalledThat) {
  EXPECT_EQ(read("*fp32, %topk"), "RL015 7-12");
  EXPECT_EQ(read("$BLOCK"), "RL015 0-6");
  EXPECT_EQ(read("*{dtype}:16"), "RL015 1-8");
  EXPECT_EQ(read("i32{ha}"), "RL015 3-7");
  EXPECT_EQ(read("i32, {H}"), "RL015 5-8");
  EXPECT_EQ(read("tensordesc<{inner}[4]>"), "RL015 0-22");
  EXPECT_EQ(read("tensordesc<fp16[4],{layout!r}>"), "RL015 0-30");
}

TEST(CommaText, ControlCharactersAndOtherBytes) {
  EXPECT_EQ(read(std::string_view("i32, i\0"
                                  "32",
                                  9)),
            "RL003 6-7");
  EXPECT_EQ(read("i32\x1b"), "RL003 3-4");
  EXPECT_EQ(read("\xEF\xBB\xBFi32"), "i32");
  EXPECT_EQ(read("i32,\xEF\xBB\xBFi32"), "RL010 4-10");
  EXPECT_EQ(read("i32\r\n,\tfp32\r\n"), "i32, fp32");
  const Parsed parsed = parse("i32, \xC3, \xFF", Form::csv);
  EXPECT_EQ(parsed.tree.text, "i32, \xEF\xBF\xBD, \xEF\xBF\xBD");
  EXPECT_EQ(parsed.error().code, "RL002");
  EXPECT_EQ(parsed.error().span.begin, 5U);
  EXPECT_EQ(parsed.error().span.end, 8U);
}

TEST(CommaText, DepthIsBounded) {
  const auto nested = [](std::size_t depth) {
    std::string close;
    for (std::size_t i = 0; i < depth; ++i) close += ",)";
    return std::string(depth, '(') + "i32" + close;
  };
  EXPECT_EQ(read(nested(kMaxTupleDepth)), nested(kMaxTupleDepth));
  EXPECT_EQ(read(nested(kMaxTupleDepth + 1)), "RL006 256-257");
  EXPECT_EQ(read(std::string(100'000, '(')), "RL006 256-257");
  EXPECT_EQ(read("constexpr=" + std::string(100'000, '[')), "RL006 267-268");
}

TEST(CommaText, ManyArgumentsAndManyErrors) {
  std::string text = "i32";
  for (int i = 1; i < 5000; ++i) text += ", i32";
  EXPECT_EQ(read(text), text);
  std::string wrong = "x1";
  for (int i = 1; i < 5000; ++i) wrong += ", x1";
  const Parsed parsed = parse(wrong, Form::csv);
  ASSERT_EQ(parsed.diagnostics.size(), Diagnostics::kMost + 1);
  EXPECT_EQ(parsed.diagnostics.back().code, "RL022");
}

TEST(Aot, HintsAndConstants) {
  const auto aot = [](std::string_view text) {
    const Parsed parsed = parse(text, Form::aot);
    std::string out = parsed.ok() ? dump(parsed.tree) : "";
    for (const Diagnostic& found : parsed.diagnostics) {
      if (found.code >= kSurprise) continue;
      out += " " + found.code + " " + std::to_string(found.span.begin) + "-" +
             std::to_string(found.span.end);
    }
    return out;
  };
  EXPECT_EQ(aot("*fp32:16, i32:1, 1024, -3, 1.5, nullopt, nan"),
            "*fp32:16, i32:1, constexpr=1024, constexpr=-3, constexpr=1.5, constexpr=null, "
            "constexpr={\"float\": \"nan\"} RL105 14-15");
  EXPECT_EQ(aot("i32:x, i64"), "i32, i64 RL103 4-5");
  EXPECT_EQ(aot("i32:8"), " RL012 4-5");
  EXPECT_EQ(aot("(i32, i64)"), " RL004 0-1");
  EXPECT_EQ(aot("i32=4"), " RL004 3-4");
  EXPECT_EQ(aot("*fp32:{x}"), " RL015 6-9");
  EXPECT_EQ(aot(""), " RL001 0-0");
}

TEST(Aot, IsToldFromOtherCommaText) {
  const auto form = [](std::string_view text) { return form_name(parse(text).form); };
  EXPECT_EQ(form("*fp32:16, i32"), "aot");
  EXPECT_EQ(form("*fp32, 128"), "aot");
  EXPECT_EQ(form("*fp32, i32"), "csv");
  EXPECT_EQ(form("x: *fp32:16, 128"), "csv");
  EXPECT_EQ(form("(i32, *fp32:16)"), "csv");
  EXPECT_EQ(form("constexpr=128"), "csv");
}

}  // namespace
}  // namespace relaunch::migrate
