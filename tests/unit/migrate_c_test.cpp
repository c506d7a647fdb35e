// Generated C launchers read back. tests/python/migrate reads what every dialect renders.

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "migrate/source.hpp"

namespace relaunch::migrate {
namespace {

// The first code of warnings about trees, which have tests of their own.
constexpr std::string_view kSurprise = "RL106";

/// A launcher in the manner of Triton 3.4 for CUDA: its letters and names, what is done with the
/// arguments, and the list of parameters.
std::string launcher(const std::string& letters, const std::string& names, const std::string& uses,
                     const std::string& parameters) {
  return "static void _launch(int gridX, CUdeviceptr arg0) {\n"
         "  void *params[] = { " +
         parameters +
         "&global_scratch };\n}\n\n"
         "static PyObject* launch(PyObject* self, PyObject* args) {\n"
         "  if(!PyArg_ParseTuple(args, \"iiiKKppOOOOO" +
         letters +
         "\", &gridX, &gridY, &gridZ,\n    &_stream, &_function, &coop, &pdl, &scratch_obj,\n"
         "    &kernel_metadata, &launch_metadata, &enter_hook, &exit_hook" +
         names + ")) {\n    return NULL;\n  }\n" +
         "  if (!PyArg_ParseTuple(kernel_metadata, \"iiiiii\", &num_warps)) return NULL;\n" + uses +
         "}\n";
}

std::string read(std::string_view text, Form form = Form::automatic) {
  const Parsed parsed = parse(text, form);
  EXPECT_EQ(parsed.form, Form::c);
  std::string out = parsed.ok() ? dump(parsed.tree) : "";
  for (const Diagnostic& found : parsed.diagnostics) {
    if (found.code >= kSurprise) continue;
    out += " " + found.code + " '" +
           parsed.tree.text.substr(found.span.begin,
                                   std::min<std::size_t>(found.span.end - found.span.begin, 12)) +
           "'";
  }
  return out;
}

TEST(CLauncher, LettersAndParameters) {
  EXPECT_EQ(read(launcher("OihlHLK", ", &_arg0, &_arg1, &_arg2, &_arg3, &_arg4, &_arg5, &_arg6",
                          "  DevicePtrInfo ptr_info0 = getPointer(_arg0, 0);\n",
                          "&arg0, &arg1, &arg2, &arg3, &arg4, &arg5, &arg6, ")),
            "*void, i32, i16, i64, u16, i64, u64 RL104 'O'");
  EXPECT_EQ(read(launcher("", "", "", "")), "{}");
}

TEST(CLauncher, ConstexprAndFoldedArgumentsAreNoParameters) {
  EXPECT_EQ(read(launcher("OOi", ", &_arg0, &_arg1, &_arg2", "", "&arg2, ")),
            "constexpr, constexpr, i32");
  EXPECT_EQ(read(launcher("ii", ", &_arg1, &_arg3", "", "&arg3, ")), "constexpr, i32");
}

TEST(CLauncher, FloatsByTheirPacking) {
  EXPECT_EQ(read(launcher("ddddf", ", &_arg0, &_arg1, &_arg2, &_arg3, &_arg4",
                          "  uint16_t _arg0_storage = pack_fp16(_arg0);\n"
                          "  uint16_t _arg1_storage = pack_bf16( _arg1);\n"
                          "  uint16_t _arg1_storage = pack_bf16(_arg1);\n"
                          "  uint32_t _arg2_storage = pack_fp32(_arg2);\n"
                          "  uint64_t _arg3_storage = pack_fp64(_arg3);\n",
                          "&arg0, &arg1, &arg2, &arg3, &arg4, ")),
            "fp16, bf16, fp32, fp64, fp32");
}

TEST(CLauncher, Descriptors) {
  EXPECT_EQ(
      read(launcher("OiL", ", &_arg0, &_arg1, &_arg2",
                    "  CUtensorMap* tma_ptr0 = getTmaDesc(_arg0); if (!tma_ptr0) return NULL;\n",
                    "&arg0, &arg1, &arg2, ")),
      "nvTmaDesc, i32, i64");
  EXPECT_EQ(
      read(launcher("O", ", &_arg0",
                    "  TDMDescriptor* tdm0 = getTDMDescriptor(_arg0);\n  hipModuleLaunchKernel(",
                    "&arg0, ")),
      "tensordesc");
}

TEST(CLauncher, TuplesAndForeignSpacing) {
  EXPECT_EQ(read(launcher("O(i(O)())d", ",&_arg0,&_arg1,\n & _arg2 , &_arg3",
                          "  getPointer(_arg2, 2);", "&arg0,\n&arg1,&arg2 , &arg3,")),
            "*void, (i32, (*void,), ()), fp64 RL104 'O'");
  std::string spaced = launcher("i", ", &_arg0", "", "&arg0, ");
  spaced.replace(spaced.find("PyArg_ParseTuple(args, \"iiiKK"), 29,
                 "PyArg_ParseTuple ( args ,\n \"iii\" \"KK");
  EXPECT_EQ(read(spaced), "i32");
}

TEST(CLauncher, SpansAreLetters) {
  const std::string text = launcher("i(h)", ", &_arg0, &_arg1", "", "&arg0, &arg1, ");
  const Parsed parsed = parse(text, Form::c);
  ASSERT_TRUE(parsed.ok());
  const auto piece = [&](Span span) { return text.substr(span.begin, span.end - span.begin); };
  EXPECT_EQ(piece(parsed.tree.parameters[0].span), "i");
  EXPECT_EQ(piece(parsed.tree.parameters[1].span), "(h)");
}

TEST(CLauncher, WhatIsNoLauncher) {
  EXPECT_EQ(read("int main() {}", Form::c), " RL004 'i'");
  EXPECT_EQ(read(launcher("i", "", "", "")), " RL004 'PyArg_ParseT'");
  EXPECT_EQ(read(launcher("i", ", &_arg0, &_arg1", "", "")), " RL004 'PyArg_ParseT'");
  EXPECT_EQ(read(launcher("i", ", &value", "", "")), " RL004 'PyArg_ParseT'");
  EXPECT_EQ(read(launcher("z", ", &_arg0", "", "&arg0, ")), " RL004 'z'");
  EXPECT_EQ(read(launcher("(i", ", &_arg0", "", "&arg0, ")), " RL004 'P'");
  EXPECT_EQ(read(launcher("i)", ", &_arg0", "", "&arg0, ")), " RL004 ')'");
  EXPECT_EQ(
      read("PyArg_ParseTuple(args, \"iiiKKOOOOi\", &a, &b, &c, &d, &e, &f, &g, &h, &i, &_arg0)"),
      " RL004 'PyArg_ParseT'");
  EXPECT_EQ(read(launcher(std::string(300, '(') + std::string(300, ')'), "", "", "")),
            " RL006 '('");
}

TEST(CLauncher, EveryLauncherOfAFile) {
  const std::string two = "#include <Python.h>\n" + launcher("i", ", &_arg0", "", "&arg0, ") +
                          "\n" + launcher("h", ", &_arg0", "", "&arg0, ");
  std::vector<std::string> found;
  for (const Signature& one : read_signatures(two, "f", Form::automatic)) {
    found.push_back(one.source() + " " + std::string(form_name(one.parsed.form)) + " " +
                    dump(one.parsed.tree));
  }
  EXPECT_EQ(found, (std::vector<std::string>{"f:2:1 c i32", "f:15:1 c i16"}));
}

TEST(CLauncher, HostileTextIsReadInLinearTime) {
  for (const std::string piece :
       {"PyArg_ParseTuple(", "PyArg_ParseTuple(a, \"iiiKK", "PyArg_ParseTuple(a, \"iiiKK\"",
        "PyArg_ParseTuple(a, \"iiiKK\", &a1)", "params[] = {", "PyArg_ParseTuple(a, \"\" \"\" ",
        "PyArg_ParseTuple(a, \"iiiKKOOOO\"", ", &a", "\nstatic PyObject", "_launch(int "}) {
    std::string text = "#include <Python.h>\n";
    while (text.size() < 100'000) text += piece;
    read_signatures(text, "f", Form::automatic);
    read_signatures(text, "f", Form::c);
    read_signatures(launcher("", "", text, text), "f", Form::c);
  }
}

}  // namespace
}  // namespace relaunch::migrate
