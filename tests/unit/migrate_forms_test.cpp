// Every textual form written and read again: the same tree. Trees are seeded and random, within
// what each form has a place for.

#include <gtest/gtest.h>

#include <random>
#include <string>
#include <vector>

#include "migrate/emit_cpp.hpp"
#include "migrate/emit_forms.hpp"
#include "migrate/number.hpp"

namespace relaunch::migrate {
namespace {

/// Random trees.
class Trees {
 public:
  explicit Trees(std::uint32_t seed) : random_(seed) {}

  std::vector<PyKernelArg> nodes(std::size_t depth) {
    std::vector<PyKernelArg> out(random_() % 6);
    const bool named = random_() % 2 == 0;
    for (std::size_t i = 0; i < out.size(); ++i) {
      out[i] = node(depth);
      const bool has_name = depth > 0 ? named : named && random_() % 4 != 0;
      if (has_name) out[i].name = (random_() % 5 == 0 ? "é" : "x") + std::to_string(i);
    }
    return out;
  }

 private:
  PyKernelArg node(std::size_t depth) {
    constexpr const char* kTypes[] = {"i1",
                                      "u1",
                                      "i8",
                                      "i32",
                                      "i64",
                                      "u64",
                                      "fp16",
                                      "fp32",
                                      "fp64",
                                      "*fp32",
                                      "*kfp16",
                                      "**i8",
                                      "*fp8e4nv",
                                      "nvTmaDesc",
                                      "*void",
                                      "*i1",
                                      "*u8",
                                      "tensordesc<fp16[64, 64]>",
                                      "tensordesc<bf16[8, 16],L(a=[1, 2])>"};
    constexpr const char* kValues[] = {"1",
                                       "128",
                                       "-3",
                                       "1.5",
                                       R"({"float": "nan"})",
                                       "true",
                                       "null",
                                       R"("a \"b\u00e9")",
                                       R"([1, {"float": "inf"}])"};
    PyKernelArg out;
    const unsigned kind = random_() % 8;
    if (kind == 0 && depth < 3) {
      out.type = ArgKind::ARG_TUPLE;
      out.nested_tuple = nodes(depth + 1);
    } else if (kind < 3) {
      out.type = ArgKind::ARG_CONSTEXPR;
      if (random_() % 2 == 0) out.value = kValues[random_() % std::size(kValues)];
    } else {
      out.dtype = kTypes[random_() % std::size(kTypes)];
      if (random_() % 3 == 0) out.hint = random_() % 4 == 0 ? "1" : "16";
    }
    return out;
  }

  std::mt19937 random_;
};

TEST(Forms, WhatIsWrittenIsReadAgain) {
  Trees trees(20'260'201);
  std::vector<std::size_t> written(8);
  for (int i = 0; i < 3'000; ++i) {
    Signature one;
    one.parsed.tree.parameters = trees.nodes(0);
    const std::string line = dump(one.parsed.tree);
    for (const Form form : written_forms()) {
      const Written text = write_as(one, form);
      EXPECT_NE(text.text.has_value(), !text.reason.empty());
      EXPECT_NE(text.reason, "something that reads differently there") << line;
      if (!text.text) continue;
      ++written[static_cast<std::size_t>(form) % written.size()];
      SCOPED_TRACE(*text.text);
      for (const Form asked : {form, Form::automatic}) {
        // `{...}` is a dict of types, and types without hints are comma text, to the eye.
        if (asked != form && (form == Form::values || form == Form::aot)) continue;
        const Parsed again = parse(*text.text, asked);
        ASSERT_TRUE(again.ok()) << again.error().message;
        EXPECT_EQ(again.form, form);
        EXPECT_EQ(dump(again.tree), line);
      }
      const auto file = read_signatures("\n" + *text.text + "\n", "f", form);
      ASSERT_EQ(file.size(), 1U);
      EXPECT_EQ(dump(file[0].parsed.tree), line);
    }
    if (HasFailure()) return;
  }
  for (const Form form : written_forms()) {
    EXPECT_GT(written[static_cast<std::size_t>(form) % written.size()], 50U) << form_name(form);
  }
}

std::string as(std::string_view text, Form form) {
  Signature one;
  one.parsed = parse(text);
  const Written written = write_as(one, form);
  return written.text.value_or("no place for " + written.reason);
}

TEST(Forms, Texts) {
  const std::string line = "x: *fp32:16, p: (i32, constexpr=2), n: i32:1, B: constexpr=64";
  EXPECT_EQ(as(line, Form::ast),
            "ASTSource(fn=kernel, signature={\"x\": \"*fp32\", \"p\": (\"i32\", \"constexpr\"), "
            "\"n\": \"i32\", \"B\": \"constexpr\"}, constexprs={(1, 1): 2, \"B\": 64}, "
            "attrs=AttrsDescriptor.from_hints({(0,): 16, (2,): 1}))");
  EXPECT_EQ(as("*fp32:16, 64", Form::inductor),
            "triton_meta={'signature': {0: \"*fp32\", 1: \"constexpr\"}, 'constants': {(1,): 64}, "
            "'configs': [{(0,): [[\"tt.divisibility\", 16]]}]}");
  EXPECT_EQ(as("*fp32:16, i32:1, -3, nan, None", Form::aot), "*fp32:16, i32:1, -3, nan, nullopt");
  EXPECT_EQ(as("a.b: **u8:16, tensordesc<fp16[4, 8]>, nvTmaDesc", Form::ttir),
            "tt.func public @kernel(%a.b: !tt.ptr<!tt.ptr<ui8>> {tt.divisibility = 16 : i32}, "
            "%1: !tt.tensordesc<4x8xf16>, %2: !tt.ptr<i8, 0> {tt.nv_tma_desc = 1 : i32})");
  EXPECT_EQ(as("*bf16, constexpr=2", Form::values),
            "no place for a constexpr other than 1, None and strings");
  EXPECT_EQ(as("*bf16, i32, i64:16, fp32, u1, 1, None, (i32,)", Form::values),
            "[torch.bfloat16, 2, 4294967296, 0.5, True, 1, None, [2]]");
}

TEST(Forms, WhatWouldReadDifferentlyIsNotWritten) {
  const std::string deep = std::string(300, '*') + "fp32";  // deeper than IR may be nested
  EXPECT_EQ(as(deep, Form::aot), deep);
  EXPECT_EQ(as(deep, Form::ttir), "no place for something that reads differently there");
}

TEST(Forms, ATypeHasNoControlCharactersHoweverWritten) {
  for (
      const char* text :
      {R"({0: "tensordesc<fp32[1, 16], 'a\x04b'>"})",
       R"({0: ("i32", "tensordesc<fp32[16], 'a\0'>")})",
       R"({"text": "", "parameters": [{"name": null, "kind": "ARG_KERNEL", "type": "tensordesc<fp32[16], \u0001>"}]})"}) {
    const Parsed parsed = parse(text);
    ASSERT_FALSE(parsed.ok()) << text;
    const bool is_line = parsed.form == Form::tree;
    EXPECT_EQ(parsed.error().code, is_line ? "RL010" : "RL003") << text << parsed.error().message;
  }
}

std::string descriptor(const char* layout) {
  std::string type = "tensordesc<fp32[16],";
  type += layout;
  return type += '>';
}

TEST(Forms, ADescriptorIsTheSameWordWhereverItStands) {
  for (const char* layout : {"'a>b'", "\tL", "\"a'b\"", "L<x, 'a'>", "L(\"<\")"}) {
    const std::string type = descriptor(layout);
    std::string text = "i32, ";
    text.append(type).append(", ").append(type);
    const Parsed parsed = parse(text);
    ASSERT_TRUE(parsed.ok()) << type << parsed.error().message;
    EXPECT_EQ(parsed.tree.parameters.at(2).dtype, type);
  }
  for (const char* layout : {"'a>b", "a'", "a>b", "L<x", "L<x>>", "\"'\"'"}) {
    const std::string type = descriptor(layout);
    std::string quoted;
    append_json_string(quoted, type);
    std::string text = "{0: ";
    text.append(quoted).append(", 1: ").append(quoted).append("}");
    EXPECT_FALSE(parse(text).ok()) << text;
  }
}

TEST(Forms, ANumberThatIsTooLargeIsTold) {
  for (const std::string& text : {"0x1" + std::string(16, '0'), "[0o7" + std::string(30, '0') + "]",
                                  std::string(4301, '7'), "i32:16, -" + std::string(4301, '7')}) {
    const auto file = read_signatures(text + "\n", "f", Form::automatic);
    ASSERT_EQ(file.size(), 1U);
    ASSERT_FALSE(file[0].parsed.ok()) << text;
    EXPECT_EQ(file[0].parsed.error().code, "RL008") << text;
  }
}

TEST(Forms, WhatAFormHasNoPlaceFor) {
  EXPECT_EQ(as("x: i32", Form::aot), "no place for a name");
  EXPECT_EQ(as("(i32,)", Form::aot), "no place for a tuple");
  EXPECT_EQ(as("constexpr", Form::ttir), "no place for a constexpr");
  EXPECT_EQ(as("*kfp32", Form::ttir), "no place for the type 'kfp32'");
  EXPECT_EQ(as("tensordesc<fp16[4 8]>", Form::ttir),
            "no place for a block that is not spelled like [64, 64]");
  EXPECT_EQ(as("i16", Form::values), "no place for the type 'i16'");
  EXPECT_EQ(as("(a: i32, i64)", Form::ast),
            "no place for an item without a name behind one with a name");
}

TEST(Forms, GapsBetweenIndicesAreClosed) {
  EXPECT_EQ(as("ASTSource(k, {0: 'i32', 2: 'i64'}, {1: 4})", Form::ast),
            "no place for a constant of an index that is another parameter's place");
  EXPECT_EQ(as("ASTSource(k, {0: 'i32', 2: 'i64'}, {3: 4, 'N': 5})", Form::inductor),
            "triton_meta={'signature': {0: \"i32\", 1: \"i64\"}, 'constants': {3: 4, \"N\": 5}, "
            "'configs': []}");
}

TEST(Forms, CppTables) {
  Signature one;
  one.path = "a?\"\xC3\xA9";
  one.parsed = parse("x: *fp32:16, (i32, constexpr=5)");
  EXPECT_EQ(to_cpp(one, 1),
            "\ninline constexpr parameter signature_1_parameters[] = {\n"
            "    {\"x\", \"*fp32\", 16},\n    {\"\", \"i32\", 0},\n};\n"
            "inline constexpr signature signature_1 = {\n    \"a\\?\\\"\\303\\251:1:1\",\n"
            "    \"x: *fp32:16, (i32, constexpr)\",\n    signature_1_parameters};\n");
}

}  // namespace
}  // namespace relaunch::migrate
