// Python literals and JSON to trees, with the constants that stand beside them.

#include <gtest/gtest.h>

#include <string>

#include "migrate/parse.hpp"

namespace relaunch::migrate {
namespace {

// The first code of warnings about trees, which have tests of their own.
constexpr std::string_view kSurprise = "RL106";

std::string read(std::string_view text, Form form = Form::automatic) {
  const Parsed parsed = parse(text, form);
  if (parsed.ok()) return dump(parsed.tree);
  const Diagnostic& error = parsed.error();
  return error.code + " " + std::to_string(error.span.begin) + "-" + std::to_string(error.span.end);
}

TEST(PythonLiteral, DictsByNameAndIndex) {
  EXPECT_EQ(read("{'x': '*fp32', \"BLOCK\": 'constexpr', 't': ('i32', ['*fp16'])}"),
            "x: *fp32, BLOCK: constexpr, t: (i32, (*fp16,))");
  EXPECT_EQ(read("{0: '*fp32', 2: 'i32'}"), "*fp32, i32");
  EXPECT_EQ(read("{}"), "{}");
  EXPECT_EQ(read("{0: ()}"), "()");
}

TEST(PythonLiteral, Sequences) {
  EXPECT_EQ(read("['*fp32', 'i32']"), "*fp32, i32");
  EXPECT_EQ(read("('*fp32', ('i32',),)"), "*fp32, (i32,)");
  EXPECT_EQ(read("'*fp32', 'i32'"), "*fp32, i32");
  EXPECT_EQ(read("[]"), "{}");
  EXPECT_EQ(read("()"), "()");  // comma text: one empty tuple
}

TEST(PythonLiteral, ParenthesesAloneMakeNoTuple) {
  EXPECT_EQ(read("{0: ('i32')}"), "i32");
  EXPECT_EQ(read("('*fp32, i32')"), "*fp32, i32");
  EXPECT_EQ(read("('*fp32',)"), "*fp32");
}

TEST(PythonLiteral, NamedTuples) {
  EXPECT_EQ(
      read("{'f': Function(fn='constexpr', captured=('*fp32',)), 'p': Point(\"i32\", 'fp64')}"),
      "f: (fn: constexpr, captured: (*fp32,)), p: (i32, fp64)");
  EXPECT_EQ(read("a.b.Point(x='i32', y='*fp32')"), "x: i32, y: *fp32");
  EXPECT_EQ(read("Point(x='i32', x='i32')"), "RL014 17-22");
}

TEST(PythonLiteral, StringsAsPythonWritesThem) {
  EXPECT_EQ(read("{'a': r'*fp32', u'b': '''i32''', 'c': 'i' \"32\", 'd': '\\x69\\u00332'}"),
            "a: *fp32, b: i32, c: i32, d: i32");
  EXPECT_EQ(read("\"*fp32, %s, \"\n  'i32'"), "RL015 8-10");
  EXPECT_EQ(read("'*fp32, ' # first\n 'i32'"), "*fp32, i32");
  EXPECT_EQ(read("{'a': f'i32'}"), "a: i32");
  EXPECT_EQ(read("{'a': f'*{t}'}"), "RL015 9-10");
  EXPECT_EQ(read("{'a': b'i32'}"), "RL016 6-12");
}

TEST(PythonLiteral, HintsInsideTypesAndBesideThem) {
  EXPECT_EQ(read("{'x': '*fp32:16', 'n': ('i32', 16)}"), "x: *fp32:16, n: i32:16");
  EXPECT_EQ(read("{'x': ('*fp32', 8)}"), "RL012 16-17");
  EXPECT_EQ(read("{'lse': '*fp32:16[2]'}"), "RL004 17-18");
}

TEST(PythonLiteral, SpansAreTheTypesBetweenTheQuotes) {
  const std::string text = "{'x': ' *fp32', 'y': ('i' '32', ),}";
  const Parsed parsed = parse(text);
  ASSERT_TRUE(parsed.ok());
  const auto piece = [&](Span span) { return text.substr(span.begin, span.end - span.begin); };
  EXPECT_EQ(piece(parsed.tree.parameters[0].span), "*fp32");
  EXPECT_EQ(piece(parsed.tree.parameters[1].span), "('i' '32', )");
  EXPECT_EQ(piece(parsed.tree.parameters[1].nested_tuple[0].span), "i' '32");
}

TEST(PythonLiteral, ErrorsHaveCodeAndPlace) {
  EXPECT_EQ(read("{'a': 'i32'"), "RL005 0-1");
  EXPECT_EQ(read("{'a': ('i32'}"), "RL005 12-13");
  EXPECT_EQ(read("{'a': 'i32'}}"), "RL005 12-13");
  EXPECT_EQ(read("{'a': 'i32'} 'b'"), "RL004 13-16");
  EXPECT_EQ(read("{'a' 'i32'}"), "RL004 10-11");
  EXPECT_EQ(read("{'a': 'i32' 'b': 'i32'}"), "RL004 15-16");
  EXPECT_EQ(read("{'a': 'i33'}"), "RL010 7-10");
  EXPECT_EQ(read("{'a': ''}"), "RL016 7-8");
  EXPECT_EQ(read("{'a': 'i32, i32'}"), "RL004 10-11");
  EXPECT_EQ(read("{'a': 5}"), "RL016 6-7");
  EXPECT_EQ(read("{'a': None}"), "RL016 6-10");
  EXPECT_EQ(read("{'a': {'b': 'i32'}}"), "RL016 6-18");
  EXPECT_EQ(read("{'a': i32}"), "RL016 6-9");
  EXPECT_EQ(read("{'a b': 'i32'}"), "RL013 1-6");
  EXPECT_EQ(read("{'a': 'i32', 'a': 'i64'}"), "RL014 13-16");
  EXPECT_EQ(read("{1: 'i32', 1: 'i64'}"), "RL014 11-12");
  EXPECT_EQ(read("{-1: 'i32'}"), "RL013 1-3");
  EXPECT_EQ(read("{1.5: 'i32'}"), "RL013 1-4");
  EXPECT_EQ(read("{99999999999999999999: 'i32'}"), "RL013 1-21");
  EXPECT_EQ(read("{'a': 'i32"), "RL007 6-10");
  EXPECT_EQ(read("'''i32"), "RL007 0-6");
  EXPECT_EQ(read("'\\xZZ'"), "RL007 1-3");
  EXPECT_EQ(read("'\\ud800'"), "RL007 1-7");
  EXPECT_EQ(read("'\\U00110000'"), "RL007 1-11");
  EXPECT_EQ(read("'\\N{DASH}'"), "RL007 1-3");
  EXPECT_EQ(read("['i\\x0032']"), "RL010 2-3");
}

TEST(PythonLiteral, DepthIsBounded) {
  EXPECT_EQ(read("['i32', " + std::string(100'000, '(')), "RL006 264-265");
  EXPECT_EQ(read(std::string(100'000, '[')), "RL006 257-258");
  const std::string open(kMaxTupleDepth, '[');
  const std::string close(kMaxTupleDepth, ']');
  EXPECT_TRUE(parse("[" + open + "'i32'" + close + "]").ok());
  EXPECT_EQ(read("[[" + open + "'i32'" + close + "]]"), "RL006 257-258");
}

TEST(Json, ReadsWhatJsonAllows) {
  EXPECT_EQ(
      read(R"({"x": "*fp32", "t": ["i32", ["\u002afp16"]], "n": "i\u0033\u0032"})", Form::json),
      "x: *fp32, t: (i32, (*fp16,)), n: i32");
  EXPECT_EQ(read(R"({"0": "*fp32", "1": "i32"})", Form::json), "*fp32, i32");
  EXPECT_EQ(read(R"(["*fp32", "i32"])", Form::json), "*fp32, i32");
}

TEST(Json, RefusesWhatIsOnlyPython) {
  EXPECT_EQ(read("['i32']", Form::json), "RL007 1-6");
  EXPECT_EQ(read(R"(["i32",])", Form::json), "RL004 7-8");
  EXPECT_EQ(read(R"(("i32"))", Form::json), "RL004 0-1");
  EXPECT_EQ(read(R"(["i" "32"])", Form::json), "RL004 5-9");
  EXPECT_EQ(read(R"({0: "i32"})", Form::json), "RL004 1-2");
  EXPECT_EQ(read(R"([None])", Form::json), "RL004 1-5");
  EXPECT_EQ(read(R"(["\x69"])", Form::json), "RL007 2-4");
  EXPECT_EQ(read(R"(["""i32"""])", Form::json), "RL007 1-10");
}

std::string with_constants(std::string_view text, std::string_view constants) {
  const Parsed parsed = parse(text, Form::automatic, constants);
  std::string out = dump(parsed.tree);
  for (const Constant& constant : parsed.constants) {
    out += " | " + constant.name + "=" + constant.value;
  }
  for (const Diagnostic& found : parsed.diagnostics) {
    if (found.code >= kSurprise) continue;
    EXPECT_EQ(found.severity, Severity::warning);
    out += " | " + found.code + " " + std::to_string(found.span.begin);
  }
  return out;
}

TEST(Constants, FindTheirParameters) {
  EXPECT_EQ(with_constants("{'x': 'i32', 'N': 'constexpr'}", "{'N': 4, \"M\": \"a\"}"),
            "x: i32, N: constexpr=4 | M=\"a\"");
  EXPECT_EQ(with_constants("*fp32, i32", "{1: 1, 2: None, 3: 128}"),
            "*fp32, i32=1 | 2=null | 3=128");
  EXPECT_EQ(with_constants("{0: '*fp32', 2: 'i32'}", "{2: 1, 1: 64}"), "*fp32, i32=1 | 1=64");
  EXPECT_EQ(with_constants("*fp32, (i32, constexpr)", "{(1, 1): False, (0,): None, (2, 0): 1}"),
            "*fp32=null, (i32, constexpr=false) | (2, 0)=1");
  EXPECT_EQ(with_constants("*fp32", "BLOCK=256, X='a'"), "*fp32 | BLOCK=256 | X=\"a\"");
  EXPECT_EQ(with_constants("i32", "{'a': 1, 'a': 2}"), "i32 | a=2");
  EXPECT_EQ(with_constants("i32", "{'a': float('nan'), 'b': inf, 'c': (1, [2.5])}"),
            R"(i32 | a={"float": "nan"} | b={"float": "inf"} | c=[1, [2.5]])");
  EXPECT_EQ(with_constants("i32", ""), "i32");
  EXPECT_EQ(with_constants("i32", "{}"), "i32");
}

TEST(Constants, WhatIsNoLiteralIsAWarning) {
  EXPECT_EQ(with_constants("{'x': 'i32', 'N': 'constexpr'}",
                           "{'N': N, 'M': a == 'b' and f(1, 2), 'K': 128**-0.5, 'L': 1}"),
            "x: i32, N: constexpr | L=1 | RL101 19 | RL101 30 | RL101 30");
  EXPECT_EQ(with_constants("i32", "{'a': 1"), "i32 | a=1 | RL102 3");
  EXPECT_EQ(with_constants("i32", "whatever"), "i32 | RL102 3");
  EXPECT_EQ(with_constants("i32", "{1.5: 1}"), "i32 | RL102 3");
}

}  // namespace
}  // namespace relaunch::migrate
