// Signatures among other facts: calls of ASTSource, Inductor's triton_meta, Triton's JSON.

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "migrate/source.hpp"

namespace relaunch::migrate {
namespace {

// The first code of warnings about trees, which have tests of their own.
constexpr std::string_view kSurprise = "RL106";

/// `form: canonical line`, `; name=value` of the constants of nobody, every finding as `| CODE
/// begin-end`.
std::string read(std::string_view text, Form form = Form::automatic) {
  const Parsed parsed = parse(text, form);
  std::string out = std::string(form_name(parsed.form)) + ":";
  if (parsed.ok()) out += " " + dump(parsed.tree);
  for (const Constant& constant : parsed.constants) {
    out += "; " + constant.name + "=" + constant.value;
  }
  for (const Diagnostic& found : parsed.diagnostics) {
    if (found.code >= kSurprise) continue;
    out += " | " + found.code + " " + std::to_string(found.span.begin) + "-" +
           std::to_string(found.span.end);
  }
  return out;
}

/// `line:col ` and the same for every signature of a file.
std::vector<std::string> file(std::string_view bytes, Form form = Form::automatic) {
  std::vector<std::string> out;
  for (const Signature& one : read_signatures(bytes, "f", form)) {
    std::string line = std::to_string(one.place.line) + ":" + std::to_string(one.place.column) +
                       " " + std::string(form_name(one.parsed.form));
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

TEST(Ast, ErasOfTheCall) {
  EXPECT_EQ(read("ASTSource(fn=k, signature={0: '*fp32', 2: 'i32'}, constants={1: 4, 2: 1})"),
            "ast: *fp32, i32=1; 1=4");
  EXPECT_EQ(read("triton.compiler.ASTSource(k, \"*fp32, i32\", {1: 16})"), "ast: *fp32, i32=16");
  EXPECT_EQ(read("ASTSource(fn=k, signature={'x': '*fp32', 'N': 'constexpr'},\n"
                 "          constexprs={'N': 128})"),
            "ast: x: *fp32, N: constexpr=128");
  EXPECT_EQ(read("ASTSource(k, {'x': ('*fp32', 'constexpr'), 'N': 'constexpr'}, "
                 "{(0, 1): 2, (1,): None})"),
            "ast: x: (*fp32, constexpr=2), N: constexpr=null");
  EXPECT_EQ(read("src = gluon._runtime.GluonASTSource(signature=dict(x='*fp16', n='i32'), fn=k)"),
            "ast: x: *fp16, n: i32");
  EXPECT_EQ(read("ASTSource(fn=lambda a, b: a < b, signature={})"), "ast: {}");
}

TEST(Ast, BeforeASTSource) {
  EXPECT_EQ(read("triton.compile(kernel, signature=\"*fp32,i32\", constants={\"B\": 64})"),
            "ast: *fp32, i32; B=64");
  EXPECT_EQ(read("triton.compile(k, signature={0: '*fp32', 1: 'i32'}, constants={1: 1}, "
                 "configs=[triton.compiler.instance_descriptor(divisible_by_16=[0], "
                 "equal_to_1=[])], num_warps=4)"),
            "ast: *fp32:16, i32=1");
  EXPECT_EQ(file("import triton\n"
                 "a = triton.compile(src, target=target)\n"
                 "b = triton.compile(k, signature='i8')\n"
                 "c = triton.compile(ASTSource(k, signature='i16'), target=t)\n"
                 "d = triton.compile(make(signature=3), signature='i32')\n"
                 "e = triton.compile(make(signature=3))\n"
                 "f = torch.compile(k, signature='i64')\n"
                 "g = triton.compile(k, signature=s)\n"),
            (Lines{"3:5 ast i8", "4:20 ast i16", "5:5 ast i32", "8:5 ast RL016@8:33"}));
}

TEST(Ast, DictsThatAreCalls) {
  EXPECT_EQ(read("ASTSource(k, OrderedDict({'x': '*fp32'}, n='i32'), dict(B=64, dtype=tl.float32, "
                 "C=(1, 2)))"),
            "ast: x: *fp32, n: i32; B=64; C=[1, 2] | RL101 90-90");
  EXPECT_EQ(read("ASTSource(k, collections.OrderedDict([('x', '*fp32'), ('n', 'i32')]), "
                 "OrderedDict({'n': 1}, B=2))"),
            "ast: x: *fp32, n: i32=1; B=2");
  EXPECT_EQ(read("ASTSource(k, 'i32', dict())"), "ast: i32");
  EXPECT_EQ(read("ASTSource(k, 'i32', dict(a=1)(2))"), "ast: i32; a=1 | RL102 33-33");
  EXPECT_EQ(read("ASTSource(k, dict(zip(names, types)))"), "ast: | RL016 22-27");
  EXPECT_EQ(read("ASTSource(k, dict({'x': 'i32'}, {'y': 'i32'}))"), "ast: | RL016 13-45");
  EXPECT_EQ(read("ASTSource(k, dict(a='i32', a='i64'))"), "ast: | RL014 29-34");
  EXPECT_EQ(read("OrderedDict([('x', '*fp32'), ('n', 'i32')])"), "dict: x: *fp32, n: i32");
  EXPECT_EQ(read("{**others, 'n': 'i32'}"), "dict: | RL016 1-9");
}

TEST(Ast, Attributes) {
  const std::string call =
      "ASTSource(fn=k, signature={'x': '*fp32', 'n': 'i32', 'm': 'i32'}, attrs=";
  const std::string wanted = "ast: x: *fp32:16, n: i32:1, m: i32";
  EXPECT_EQ(read(call + "AttrsDescriptor((0,), (1,)))"), wanted);
  EXPECT_EQ(read(call + "AttrsDescriptor(divisible_by_16=(0,), equal_to_1=(1,)))"), wanted);
  EXPECT_EQ(read(call + "c.instance_descriptor(divisible_by_16=[0], equal_to_1=(1,), "
                        "ids_of_folded_args=(1,), divisible_by_8=(2,)))"),
            wanted);
  EXPECT_EQ(read(call + "AttrsDescriptor.from_dict({'arg_properties': {'tt.divisibility': (0,), "
                        "'tt.equal_to': (1,)}, 'cls': 'AttrsDescriptor'}))"),
            wanted);
  EXPECT_EQ(read(call + "AttrsDescriptor.from_hints({0: 16, 1: 1, 2: 8}))"), wanted);
  EXPECT_EQ(read(call + "AttrsDescriptorWrapper(divisible_by_16=(0,), equal_to_1=(1,)))"), wanted);
  EXPECT_EQ(read(call + "{(0,): [['tt.divisibility', 16]], (1,): [('tt.pointer_range', 32)]})"),
            "ast: x: *fp32:16, n: i32, m: i32");
  EXPECT_EQ(read(call + "None)"), "ast: x: *fp32, n: i32, m: i32");
  EXPECT_EQ(read(call + "attrs)"), "ast: x: *fp32, n: i32, m: i32 | RL103 72-77");
  EXPECT_EQ(read(call + "AttrsDescriptor(tuple(range(2)), ()))"),
            "ast: x: *fp32, n: i32, m: i32 | RL103 72-108");
}

TEST(Ast, HintsOfIndicesInTheSignature) {
  EXPECT_EQ(read("ASTSource(k, {0: '*fp32', 3: 'i32', 4: 'constexpr'}, {}, "
                 "{(3,): [['tt.divisibility', 16]], (4,): [['tt.divisibility', 16]]})"),
            "ast: *fp32, i32:16, constexpr");
  EXPECT_EQ(read("ASTSource(k, {'t': ('*fp32', 'i32')}, {}, {(0, 1): [['tt.divisibility', 16]]})"),
            "ast: t: (*fp32, i32:16)");
}

TEST(Ast, WhatIsNotWrittenOut) {
  EXPECT_EQ(read("ASTSource(fn=k, signature=sig, constants=c)"), "ast: | RL016 26-29");
  EXPECT_EQ(read("ASTSource(fn=k, signature=make('i32'))"), "ast: | RL016 26-37");
  EXPECT_EQ(read("ASTSource(fn=k, signature='*fp32,' * 3)"), "ast: | RL016 26-38");
  EXPECT_EQ(read("ASTSource(fn=k, signature={'x': ty})"), "ast: | RL016 32-34");
  EXPECT_EQ(read("ASTSource(fn=k, signature={**a})"), "ast: | RL016 27-30");
  EXPECT_EQ(read("ASTSource(fn=k)"), "ast: | RL023 9-10");
  EXPECT_EQ(read("ASTSource(fn=k, signature={'x': 'i33'})"), "ast: | RL010 33-36");
  EXPECT_EQ(read("ASTSource(fn=k, signature={'x': 'i32'}, constants=c)"),
            "ast: x: i32 | RL102 52-52");
  EXPECT_EQ(read("ASTSource(fn=k, signature={'x': 'i32'}"), "ast: | RL005 9-10");
  EXPECT_EQ(read("*fp32", Form::ast), "ast: | RL004 0-5");
}

TEST(Ast, InsideCode) {
  EXPECT_EQ(file("import triton\n"
                 "class ASTSource(Base):  # ASTSource(fn=x)\n"
                 "    def ASTSource(self): ...\n"
                 "def f():\n"
                 "    src = triton.compiler.ASTSource(\n"
                 "        fn=kernel,  # (\n"
                 "        signature={'x': '*fp32',\n"
                 "                   'y': 'i33'},\n"
                 "    )\n"
                 "    a = compile(ASTSource(k, '*fp16, i32'), target)\n"
                 "    isinstance(a, ASTSource)\n"
                 "    b = ASTSource(k, sig)\n"),
            (Lines{"5:11 ast RL010@8:26", "10:17 ast *fp16, i32", "12:9 ast RL016@12:22"}));
}

TEST(Ast, BetweenOtherSignatures) {
  EXPECT_EQ(file("*fp32, i32\nsrc = ASTSource(k,\n  'i8')\n{'a': 'i32'}\nASTSource(k, 'i64'\ni1\n"),
            (Lines{"1:1 csv *fp32, i32", "2:7 ast i8", "4:1 dict a: i32", "5:1 ast RL005@5:10",
                   "6:1 csv i1"}));
}

TEST(Inductor, ErasOfTheDict) {
  EXPECT_EQ(read("triton_meta={'signature': {0: '*fp32', 1: 'i32'}, 'device': 0, 'device_type': "
                 "'cuda', 'constants': {}, 'configs': [instance_descriptor(divisible_by_16=(0, 1), "
                 "equal_to_1=(), ids_of_folded_args=(), divisible_by_8=(1,))]}"),
            "inductor: *fp32:16, i32:16");
  EXPECT_EQ(read("triton_meta={'signature': {'p': '*fp32', 'xnumel': 'i32'}, 'device': "
                 "DeviceProperties(type='cuda', index=0), 'constants': {'xnumel': 1}, 'configs': "
                 "[AttrsDescriptor.from_dict({'arg_properties': {'tt.divisibility': (0,), "
                 "'tt.equal_to': (1,)}, 'cls': 'AttrsDescriptor'})]}"),
            "inductor: p: *fp32:16, xnumel: i32:1=1");
  EXPECT_EQ(read("\"triton_meta\": {\"signature\": {\"p\": \"*fp32\", \"XBLOCK\": "
                 "\"constexpr\"}, \"constants\": {\"XBLOCK\": 64}, \"configs\": "
                 "[{(0,): [[\"tt.divisibility\", 16]]}]}",
                 Form::inductor),
            "inductor: p: *fp32:16, XBLOCK: constexpr=64");
  EXPECT_EQ(
      read("{'signature': {'p': '*i1'}, 'constants': {}, 'configs': [], 'launch_pdl': False}"),
      "inductor: p: *i1");
  EXPECT_EQ(read("{'signature': 'i32', 'x': 'i64'}"), "dict: signature: i32, x: i64");
}

TEST(Inductor, OfPyTorch20) {
  EXPECT_EQ(file("from torch._inductor.utils import instance_descriptor\n"
                 "@pointwise(size_hints=[64], meta={'signature': {0: '*fp32', 1: 'i32'}, 'device': "
                 "0, 'constants': {}, 'configs': [instance_descriptor(divisible_by_16=(0,), "
                 "equal_to_1=())]})\n"
                 "@autotune(\n"
                 "    meta={\n"
                 "        \"signature\": {\"a\": \"*i1\"}, \"device\": 0,\n"
                 "    })\n"
                 "x = f(meta={'signature': 3}, b={'meta': 4}, beta={'signature': {'a': 'i8'}})\n"),
            (Lines{"2:29 inductor *fp32:16, i32", "4:5 inductor a: *i1"}));
  EXPECT_EQ(read("meta={'signature': {0: '*fp32'}}"), "inductor: *fp32");
}

TEST(Inductor, EveryKernelOfAFile) {
  EXPECT_EQ(file("import torch\n"
                 "triton_poi_fused_0 = async_compile.triton('triton_poi_fused_0', '''\n"
                 "import triton\n"
                 "@triton_heuristics.pointwise(\n"
                 "    size_hints={'x': 16},\n"
                 "    triton_meta={'signature': {'a': '*fp32', 'n': 'i32'}, 'constants': {}},\n"
                 "    inductor_meta={'kernel_name': 'k'}\n"
                 ")\n"
                 "def k(a, n): ...\n"
                 "''', device_str='cuda')\n"
                 "    triton_meta=triton_meta,\n"
                 "    my_triton_meta={'signature': {}},\n"
                 "    triton_meta = {\n"
                 "        'signature': {'b': 'i33'}}\n"
                 "    # triton_meta={'signature': {'c': 'i32'}}\n"),
            (Lines{"6:5 inductor a: *fp32, n: i32", "13:5 inductor RL010@14:29"}));
}

TEST(Cache, JsonOfOneKernel) {
  EXPECT_EQ(read(R"({"name": "k", "signature": {"x": "*fp32", "n": "i32", "B": "constexpr"},
    "constant_keys": [[2]], "constant_vals": [128], "attrs_keys": [[0], [1]],
    "attrs_vals": [[["tt.divisibility", 16]], []], "options": {"num_warps": 4}, "key": "ab"})"),
            "cache: x: *fp32:16, n: i32, B: constexpr=128");
  EXPECT_EQ(
      read(R"({"signature": {"0": "*fp32", "1": "i32"}, "constants": {"2": 64}, "num_warps": 4,
    "shared": 0, "attrs": {"divisible_by_16": [0], "equal_to_1": []}})"),
      "cache: *fp32:16, i32; 2=64");
  EXPECT_EQ(read(R"({"hash": "ab", "target": {"backend": "cuda"}, "num_warps": 4, "name": "k"})"),
            "cache: | RL023 0-1");
}

TEST(Described, HostileTextIsReadInLinearTime) {
  for (const std::string piece :
       {"ASTSource(", "ASTSource(k, signature={", "triton_meta={", "triton_meta = {'signature': {",
        "ASTSource('''", "ASTSource(\"\"\" '''", "triton_meta={}\n", "ASTSource\n", "ASTSource ",
        "{'signature': {", "{\"num_warps\": \"hash\": ", "@ASTSource(x)\n", "ASTSource(]\n",
        "triton.compile(", "triton.compile(k, signature=", "triton.compile(k, signature=1)\n",
        "meta={'signature': {", "dict(", "OrderedDict([("}) {
    std::string text = "import x\n";
    while (text.size() < 100'000) text += piece;
    read_signatures(text, "f", Form::automatic);
    read_signatures(text.substr(9), "f", Form::automatic);
    read_signatures(text, "f", Form::ast);
    read_signatures(text.substr(9), "f", Form::inductor);
    read_signatures(text.substr(9), "f", Form::cache);
  }
}

}  // namespace
}  // namespace relaunch::migrate
