// Trees: the canonical line.

#include "precompiled/core/tree.hpp"

#include <gtest/gtest.h>

namespace relaunch {
namespace {

PyKernelArg kernel(std::string type, std::string name = "") {
  PyKernelArg node;
  node.dtype = std::move(type);
  node.name = std::move(name);
  return node;
}

PyKernelArg tuple(std::vector<PyKernelArg> items) {
  PyKernelArg node;
  node.type = ArgKind::ARG_TUPLE;
  node.nested_tuple = std::move(items);
  return node;
}

TEST(Tree, CanonicalLine) {
  PyKernelArg pointer = kernel("*fp32", "x");
  pointer.hint = "16";
  PyKernelArg constant;
  constant.type = ArgKind::ARG_CONSTEXPR;
  constant.value = "128";
  const Tree tree{"", {pointer, constant, tuple({kernel("i32"), tuple({kernel("*fp16")})})}};
  EXPECT_EQ(dump(tree), "x: *fp32:16, constexpr=128, (i32, (*fp16,))");
}

TEST(Tree, EmptyTuplesAndTrees) {
  EXPECT_EQ(dump(Tree{}), "{}");
  EXPECT_EQ(dump(Tree{"", {tuple({})}}), "()");
}

TEST(Tree, DeepestNesting) {
  PyKernelArg node = kernel("i8");
  for (std::size_t i = 0; i < kMaxTupleDepth; ++i) node = tuple({node});
  const std::string line = dump(node);
  EXPECT_EQ(line.size(), 2 + 3 * kMaxTupleDepth);
  EXPECT_TRUE(line.starts_with("((((") && line.ends_with(",),),)"));
}

}  // namespace
}  // namespace relaunch
