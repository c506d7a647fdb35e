// What is written: JSON lines and back, Python, the caret.

#include <gtest/gtest.h>

#include <string>

#include "migrate/emit.hpp"

namespace relaunch::migrate {
namespace {

Signature only(std::string_view bytes, Form form = Form::automatic) {
  auto found = read_signatures(bytes, "dir/f", form);
  EXPECT_EQ(found.size(), 1U);
  return found.at(0);
}

TEST(JsonLine, EveryKeyInItsPlace) {
  EXPECT_EQ(
      to_json(only(
          R"({"text": "x: *float:16, (i32, é: constexpr), nan", "constants": "{'K': -inf}"})")),
      R"({"source": "dir/f:1:1", "form": "csv", "text": "x: *float:16, (i32, \u00e9: constexpr), nan", )"
      R"("parameters": [{"name": "x", "kind": "ARG_KERNEL", "type": "*fp32", "hint": "16"}, )"
      R"({"name": null, "kind": "ARG_TUPLE", "items": [{"name": null, "kind": "ARG_KERNEL", "type": "i32"}, )"
      R"({"name": "\u00e9", "kind": "ARG_CONSTEXPR"}]}, )"
      R"({"name": null, "kind": "ARG_CONSTEXPR", "value": {"float": "nan"}}], )"
      R"("constants": {"K": {"float": "-inf"}}, "diagnostics": [{"code": "RL113", "severity": "warning", )"
      R"("message": "'*float' is read as '*fp32', the only spelling that Triton's compiler knows", )"
      R"("span": [3, 9]}]})");
}

TEST(JsonLine, AnErrorLeavesNoParameters) {
  EXPECT_EQ(to_json(only("i32, \"\t\\x")),
            R"({"source": "dir/f:1:1", "form": "csv", "text": "i32, \"\t\\x", "parameters": [], )"
            R"("constants": {}, "diagnostics": [{"code": "RL007", "severity": "error", )"
            R"("message": "this string has no closing quote", "span": [5, 9]}]})");
}

/// Everything behind the source and the form.
std::string content(const std::string& line) { return line.substr(line.find("\"text\"")); }

TEST(JsonLine, LinesReadBackToThemselves) {
  for (
      const char* text : {
          "x: *fp32:16, (i32, (a: i64,), ()), tensordesc<fp16[64, 64],L(x=\"y\", z='\\')>",
          R"({"text": "N: constexpr, *fp32", "constants": "{'N': [1, {'a': 'é\U0001F600'}], 'M': nan}"})",
          "{}",
          "i33, (\n",
          R"({"text": "i32", "constants": "{'a': b}"})",
      }) {
    const std::string line = to_json(only(text));
    for (const Form form : {Form::tree, Form::automatic}) {
      const Signature again = only(line, form);
      EXPECT_EQ(again.parsed.form, Form::tree);
      EXPECT_EQ(content(to_json(again)), content(line));
    }
  }
}

TEST(JsonLine, ADumpLineIsATreeToo) {
  const std::string line = "x: *fp32:16, constexpr=[1, 2], (i32,)";
  EXPECT_EQ(to_csv(only(line, Form::tree)), line);
  EXPECT_EQ(to_csv(only("{}", Form::tree)), "{}");
}

TEST(JsonLine, NamesAndTextsOfPyKernelArgCallsAreNoCalls) {
  for (const char* line :
       {"arg_annotations: i32", "arg_annotations: constexpr=2", "PyKernelArg: i32, *fp32",
        "myPyKernelArg2: i32", R"(x: constexpr="PyKernelArg(", i32)"}) {
    for (const Form form : {Form::tree, Form::automatic}) {
      const Parsed parsed = parse(line, form);
      ASSERT_TRUE(parsed.ok()) << line;
      EXPECT_EQ(dump(parsed.tree), line);
    }
  }
}

TEST(JsonLine, TheDeepestTreeReadsBack) {
  std::string text(kMaxTupleDepth, '(');
  text += "i32";
  for (std::size_t i = 0; i < kMaxTupleDepth; ++i) text += ",)";
  EXPECT_EQ(to_csv(only(to_json(only(text)))), text);
}

std::string error_of(const std::string& line) {
  const Signature found = only(line, Form::tree);
  if (found.parsed.ok()) return "none";
  const Span span = found.parsed.error().span;
  return found.parsed.error().code + " " + line.substr(span.begin, span.end - span.begin);
}

TEST(JsonLine, LinesThatAreNoneOfOurs) {
  const auto line = [](const std::string& parameters) {
    return R"({"text": "i32", "parameters": )" + parameters + "}";
  };
  EXPECT_EQ(error_of(line(R"([{"kind": "ARG_KERNEL", "type": "i32"}])")), "none");
  EXPECT_EQ(error_of(line(R"([{"kind": "ARG_KERNEL"}])")), R"(RL021 {"kind": "ARG_KERNEL"})");
  EXPECT_EQ(error_of(line(R"([{"kind": "ARG_KERNEL", "type": "i33"}])")), R"(RL010 "i33")");
  EXPECT_EQ(error_of(line(R"([{"kind": "ARG_KERNEL", "type": "i32, i32"}])")),
            R"(RL010 "i32, i32")");
  EXPECT_EQ(error_of(line(R"([{"kind": "ARG_KERNEL", "type": "constexpr"}])")),
            R"(RL010 "constexpr")");
  EXPECT_EQ(error_of(line(R"([{"kind": "ARG_OTHER"}])")), R"(RL021 "ARG_OTHER")");
  EXPECT_EQ(error_of(line(R"([{"kind": "ARG_TUPLE"}])")), R"(RL021 {"kind": "ARG_TUPLE"})");
  EXPECT_EQ(error_of(line(R"([{"kind": "ARG_CONSTEXPR", "name": "a b"}])")), R"(RL013 "a b")");
  EXPECT_EQ(error_of(line(R"([{"kind": "ARG_CONSTEXPR", "hint": "16"}])")), R"(RL012 "16")");
  EXPECT_EQ(error_of(line("[5]")), "RL021 5");
  EXPECT_EQ(error_of(line("5")), "RL021 5");
  EXPECT_EQ(
      error_of(
          R"({"text": "", "parameters": [], "diagnostics": [{"code": "X", "severity": "error", )"
          R"("message": "", "span": [0, 9]}]})"),
      "RL021 [0, 9]");
}

TEST(EmitPython, CallsAndFlatTypes) {
  EXPECT_EQ(to_python(only("x: *fp32, constexpr=4, (i32, (*fp16,), ()), u8")),
            "# dir/f:1:1: x: *fp32, constexpr=4, (i32, (*fp16,), ()), u8\n"
            "arg_annotations = [\n"
            "    PyKernelArg(nested_tuple=None, type=ARG_KERNEL),\n"
            "    PyKernelArg(nested_tuple=None, type=ARG_CONSTEXPR),\n"
            "    PyKernelArg(nested_tuple=(PyKernelArg(nested_tuple=None, type=ARG_KERNEL), "
            "PyKernelArg(nested_tuple=(PyKernelArg(nested_tuple=None, type=ARG_KERNEL),), "
            "type=ARG_TUPLE), "
            "PyKernelArg(nested_tuple=(), type=ARG_TUPLE)), type=ARG_TUPLE),\n"
            "    PyKernelArg(nested_tuple=None, type=ARG_KERNEL),\n"
            "]\n"
            "flat_signature = [\"*fp32\", \"i32\", \"*fp16\", \"u8\"]\n");
  EXPECT_EQ(to_python(only("{}")),
            "# dir/f:1:1: {}\narg_annotations = [\n]\nflat_signature = []\n");
}

TEST(EmitPython, DescriptorsAreStillToBeExpanded) {
  const std::string text = to_python(only("tensordesc<fp16[64, 64]>"));
  EXPECT_TRUE(text.ends_with(
      "flat_signature = [\"tensordesc<fp16[64, 64]>\"]\n"
      "# Expand tensordesc entries first, as the driver's expand_signature() does.\n"))
      << text;
}

TEST(Caret, StandsUnderTheSpan) {
  const std::string text = "i32,\n\té: i33, i64\r\n";
  const Parsed parsed = parse(text, Form::csv);
  EXPECT_EQ(render("a.txt", text, parsed.error()),
            "a.txt:2:5: RL010 unknown type 'i33': expected one like i32, fp32, *fp16, constexpr or "
            "tensordesc<fp16[64, 64]>\n"
            "   é: i33, i64\n"
            "      ^^^");
  EXPECT_EQ(caret("i32,", {4, 4}), "  i32,\n      ^");
  EXPECT_EQ(caret("", {0, 0}), "  \n  ^");
  EXPECT_EQ(caret(std::string_view("a\0b", 3), {1, 2}),
            "  a\xEF\xBF\xBD"
            "b\n   ^");
}

TEST(Caret, CutsLongLines) {
  const std::string text = std::string(500, 'a') + "XYZ" + std::string(500, 'b');
  EXPECT_EQ(caret(text, {500, 503}), "  ..." + std::string(40, 'a') + "XYZ" + std::string(57, 'b') +
                                         "...\n     " + std::string(40, ' ') + "^^^");
  EXPECT_EQ(caret(text, {0, 1003}),
            "  " + std::string(100, 'a') + "...\n  " + std::string(100, '^'));
}

TEST(Caret, QuotesArePiecesOfOneLine) {
  EXPECT_EQ(in_quotes("a\nb\tc"),
            "'a\xEF\xBF\xBD"
            "b c'");
  EXPECT_EQ(in_quotes(std::string(41, 'x')), "'" + std::string(40, 'x') + "...'");
}

}  // namespace
}  // namespace relaunch::migrate
