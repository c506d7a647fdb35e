// No text does harm: whatever is read either gives a tree that its canonical line gives again, or
// an error at a place inside the text. Seeded, so a failure is found again; sanitizers run it too.

#include <gtest/gtest.h>

#include <random>
#include <string>

#include "migrate/emit.hpp"
#include "migrate/utf8.hpp"

namespace relaunch::migrate {
namespace {

constexpr const char* kPieces[] = {
    "i32",
    "*fp32",
    "constexpr",
    "tensordesc<fp16[64, 64]>",
    "tensordesc<fp16[4],'>'>",
    "x",
    "name",
    "é",
    "(",
    ")",
    "[",
    "]",
    "{",
    "}",
    ",",
    ", ",
    ":",
    ": ",
    "=",
    "'",
    "\"",
    "'''",
    "\\",
    "\\u00e9",
    "\\ud83d\\ude00",
    "#",
    "\n",
    "\r\n",
    " ",
    "16",
    "1",
    "-1.5",
    "nan",
    "True",
    "None",
    "0x1f",
    "1e400",
    "'i32'",
    "\"*fp16\"",
    "'a': 'i32'",
    "\"text\": ",
    "\"parameters\": ",
    "\"constants\": ",
    "\"kind\": \"ARG_KERNEL\"",
    "\"type\": ",
    "<",
    ">",
    "*",
    "%x",
    "%x: ",
    "!tt.ptr<",
    "f16",
    "PyKernelArg(None, 1)",
    "arg_annotations = [",
    "torch.float16",
    "PyArg_ParseTuple(args, \"iiiKKOOOO(i)\", &a, &b, &c, &d, &e, &f, &g, &h, &i, &_arg0)",
    "void *params[] = {&arg0};",
    "ASTSource(",
    "triton_meta={",
    "'signature': {",
    "constants=",
    "attrs={(0,): [['tt.divisibility', 16]]}",
    "\n@x\n",
    "loc(",
    "tt.func @k(",
    "tt.divisibility = 16",
    "module {\n",
    "P(",
    "\xC3",
    "\xFF",
    "\xEF\xBB\xBF",
    "\x01",
    "f'",
};

std::string noise(std::mt19937& random) {
  std::string out;
  const std::size_t length = random() % 24;
  for (std::size_t i = 0; i < length; ++i) out += kPieces[random() % std::size(kPieces)];
  if (random() % 8 == 0) out += '\0';
  return out;
}

void check_spans(const std::vector<PyKernelArg>& nodes, std::size_t size) {
  for (const PyKernelArg& node : nodes) {
    EXPECT_LE(node.span.begin, node.span.end);
    EXPECT_LE(node.span.end, size);
    check_spans(node.nested_tuple, size);
  }
}

void check(const Parsed& parsed) {
  const std::string& text = parsed.tree.text;
  EXPECT_EQ(first_invalid(text), std::string::npos);
  check_spans(parsed.tree.parameters, text.size());
  for (const Diagnostic& found : parsed.diagnostics) {
    EXPECT_LE(found.span.begin, found.span.end);
    EXPECT_LE(found.span.end, text.size());
    EXPECT_FALSE(render("f", text, found).empty());
  }
  if (!parsed.ok()) return;
  const std::string line = dump(parsed.tree);
  const Parsed again = parse(line, Form::tree);
  ASSERT_TRUE(again.ok()) << line << "\n" << again.error().message;
  EXPECT_EQ(dump(again.tree), line);
}

TEST(Noise, NeverHarms) {
  std::mt19937 random(20'260'101);
  for (int i = 0; i < 2'000; ++i) {
    const std::string text = noise(random);
    SCOPED_TRACE(text);
    for (const Form form :
         {Form::automatic, Form::csv, Form::dict, Form::json, Form::aot, Form::values, Form::c,
          Form::ast, Form::inductor, Form::ttir, Form::cache, Form::tree}) {
      check(parse(text, form, noise(random)));
    }
    for (const Signature& one :
         read_signatures(text + "\n" + noise(random), "f", Form::automatic)) {
      check(one.parsed);
      const std::string line = to_json(one);
      EXPECT_EQ(line.find('\n'), std::string::npos);
      const auto again = read_signatures(line, "f", Form::tree);
      ASSERT_EQ(again.size(), 1U);
      EXPECT_EQ(again[0].parsed.ok(), one.parsed.ok()) << line;
    }
    if (HasFailure()) return;
  }
}

}  // namespace
}  // namespace relaunch::migrate
