// Faults that clang-tidy must find as it is run over our sources (tools/tidy.py): at the top of a
// file, in what a macro of a system header makes, in a header, and where a check asks what holds a
// declaration or what a name of the standard library is.

#include "tests/tidy/trial.hpp"

#include <assert.h>  // finds modernize-deprecated-headers
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <utility>

typedef int Number;  // finds modernize-use-using

extern "C" {
int __reserved(int x);  // finds bugprone-reserved-identifier
}

namespace std {
template <>
struct hash<vector<int>> {
  size_t operator()(const vector<int> all) const {  // finds performance-unnecessary-value-param
    return all.size();
  }
};
}  // namespace std

namespace {

std::size_t taken(std::string text) {
  const std::string other = std::move(text);
  return other.size() + text.size();  // finds bugprone-use-after-move
}

struct Base {
  virtual ~Base() = default;
  virtual void act() {}
};

struct Derived : Base {
  void act() {}  // finds modernize-use-override
};

TEST(Trial, FaultsInAMacro) {
  const std::unique_ptr<Base> made = std::unique_ptr<Base>(new Derived);
  int* nothing = 0;  // finds modernize-use-nullptr
  EXPECT_EQ(nothing, nullptr);
  EXPECT_TRUE(trial::is_empty(std::vector<Number>()));
  EXPECT_EQ(taken("a"), 1U);
}

}  // namespace
