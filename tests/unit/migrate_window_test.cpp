// Files longer than what is held of them at a time: the same signatures at the same places, and
// errors for what is too long.

#include <gtest/gtest.h>

#include <algorithm>
#include <stdexcept>
#include <string>
#include <vector>

#include "migrate/source.hpp"

namespace relaunch::migrate {
namespace {

constexpr std::size_t kMebi = std::size_t{1} << 20U;
constexpr std::size_t kLonger = Window::kSize + kMebi / 4;

/// Gives a text in pieces of up to `most` bytes.
ReadBytes pieces(const std::string& text, std::size_t most) {
  return [&text, most, at = std::size_t{0}](char* into, std::size_t room) mutable {
    const std::size_t count = std::min({most, room, text.size() - at});
    std::copy_n(text.begin() + static_cast<std::ptrdiff_t>(at), count, into);
    at += count;
    return count;
  };
}

/// `line:col dump` or `line:col CODE`.
std::string shown(const Signature& one) {
  const std::string place =
      std::to_string(one.place.line) + ":" + std::to_string(one.place.column) + " ";
  return place + (one.parsed.ok() ? dump(one.parsed.tree) : one.parsed.error().code);
}

/// What is read of a text in memory, which must be what is read of it piece by piece.
std::vector<std::string> read(const std::string& text, Form form = Form::automatic) {
  std::vector<std::string> out;
  for (const Signature& one : read_signatures(text, "f", form)) {
    const std::size_t size = one.bytes.end - one.bytes.begin;
    if (one.parsed.ok()) {
      EXPECT_EQ(text.substr(one.bytes.begin, size), one.parsed.tree.text);
    }
    out.push_back(shown(one));
  }
  for (const std::size_t most : {std::size_t{60'001}, Window::kSize}) {
    std::vector<std::string> again;
    SignatureReader reader(pieces(text, most), "f", form);
    while (const auto one = reader.next()) again.push_back(shown(*one));
    EXPECT_EQ(again, out) << most;
  }
  return out;
}

using Lines = std::vector<std::string>;

/// At least `size` bytes of lines that say nothing.
std::string filling(std::size_t size, const std::string& line) {
  std::string out;
  out.reserve(size + line.size());
  while (out.size() < size) out += line;
  return out;
}

std::size_t count_lines(const std::string& text) {
  return static_cast<std::size_t>(std::count(text.begin(), text.end(), '\n'));
}

TEST(Window, ShowsAllOfMemoryAndOfFilesInOrder) {
  std::string text;
  for (std::size_t i = 0; text.size() < 2 * Window::kSize + 100; ++i) text += std::to_string(i);
  Window memory(text);
  Window file(pieces(text, 70'000));
  std::size_t at = 0;
  while (true) {
    const std::string_view expected = std::string_view(text).substr(at, Window::kSize);
    EXPECT_TRUE(memory.bytes() == expected);
    EXPECT_TRUE(file.bytes() == expected);
    EXPECT_EQ(memory.is_last(), at + expected.size() == text.size());
    if (memory.is_last()) break;
    const std::size_t step = expected.size() / 3;
    memory.drop(step);
    file.drop(step);
    at += step;
  }
  EXPECT_TRUE(file.is_last());
}

TEST(Window, ListsLongerThanIt) {
  const std::string comments = filling(3 * kMebi, "# é " + std::string(500, 'x') + "\n");
  const std::size_t lines = count_lines(comments);
  std::string text;
  Lines expected;
  for (std::size_t i = 0; i < 7; ++i) {
    text += "  é: i32\n{'a': 'i32',\n 'b': ('i64',)}\n" + comments + std::string(i, '\n');
    const std::size_t line = i * (lines + 3) + i * (i - 1) / 2 + 1;
    expected.push_back(std::to_string(line) + ":3 é: i32");
    expected.push_back(std::to_string(line + 1) + ":1 a: i32, b: (i64,)");
  }
  EXPECT_EQ(read(text), expected);
}

TEST(Window, BlanksLongerThanIt) {
  // Of newlines alone each takes a microsecond under sanitizers.
  const std::string empty = filling(kLonger, std::string(999, ' ') + "\n") + std::string(99, '\n');
  const std::string text = std::string(kLonger, ' ') + "i32\n" + empty;
  EXPECT_EQ(read(text + "i64"), (Lines{"1:" + std::to_string(kLonger + 1) + " i32",
                                       std::to_string(count_lines(empty) + 2) + ":1 i64"}));
  EXPECT_EQ(read(empty), Lines{"1:1 RL001"});
}

TEST(Window, LinesLongerThanASignature) {
  const std::string most(kLongestSignature, 'x');
  EXPECT_EQ(read(most + "\ni32"), (Lines{"1:1 RL010", "2:1 i32"}));
  EXPECT_EQ(read(most + "x\ni32"), (Lines{"1:1 RL024", "2:1 i32"}));
  EXPECT_EQ(read("i64\n\n  " + std::string(20 * kMebi, '\0') + "\ni32"),
            (Lines{"1:1 i64", "3:3 RL024", "4:1 i32"}));
  EXPECT_EQ(read("#" + std::string(20 * kMebi, 'x') + "\ni32"), Lines{"2:1 i32"});
  EXPECT_EQ(read("i32" + std::string(2 * kMebi, ' ') + "i32\ni8"), (Lines{"1:1 RL024", "2:1 i8"}));
  for (const Form form : {Form::csv, Form::dict, Form::tree, Form::values}) {
    EXPECT_EQ(read(std::string(kLonger, '('), form), Lines{"1:1 RL024"});
  }
}

TEST(Window, WhatIsTooLongSaysSo) {
  const std::string text = "é" + std::string(kLongestSignature, 'x');
  const Parsed parsed = parse(text);
  ASSERT_FALSE(parsed.ok());
  EXPECT_EQ(parsed.error().message,
            "longer than the 1048576 bytes that a signature may have: not read");
  EXPECT_EQ(parsed.tree.text, "é" + std::string(79, 'x'));
  EXPECT_EQ(parsed.error().span.end, parsed.tree.text.size());
}

TEST(Window, LiteralsLongerThanASignature) {
  const std::string comments = filling(kMebi, "# " + std::string(500, 'x') + "\n");
  const auto found = read_signatures("{'a': 'i32',\n" + comments + "}\ni32", "f", Form::automatic);
  ASSERT_EQ(found.size(), 3U);
  EXPECT_EQ(shown(found[0]), "1:1 RL024");
  EXPECT_EQ(found[0].parsed.error().message,
            "this literal has no end within the 1048576 bytes that a signature may have: not read");
  EXPECT_EQ(found[0].parsed.tree.text, "{'a': 'i32',");
  EXPECT_EQ(shown(found[1]), std::to_string(count_lines(comments) + 2) + ":1 RL004");
  EXPECT_EQ(shown(found[2]), std::to_string(count_lines(comments) + 3) + ":1 i32");
}

TEST(Window, BodiesOfIrLongerThanIt) {
  const std::string body = filling(kLonger, "    %0 = tt.load %x {a = [(\"}\")]} // }\n");
  const std::size_t lines = count_lines(body);
  const std::string one = "  tt.func @k(%x: i32) {\n" + body + "  }\n";
  const Lines expected = {"2:3 x: i32", std::to_string(lines + 4) + ":3 x: i32",
                          std::to_string(2 * lines + 7) + ":1 i64"};
  EXPECT_EQ(read("module {\n" + one + one + "}\ni64"), expected);
  EXPECT_EQ(read("tt.func @k(%x: i32) {\n" + body + "}\ni64"),
            (Lines{"1:1 x: i32", std::to_string(lines + 3) + ":1 i64"}));
  EXPECT_EQ(read("module {\n  tt.func @k(%x: i32) {\n  }\n)\n" + body + one).size(), 2U);
}

TEST(Window, CodeLongerThanIt) {
  const std::string body = filling(5 * kMebi, "    x = f('ASTSource')  # triton_meta\n");
  const std::size_t lines = count_lines(body);
  const std::string call = "ASTSource(fn=k, signature={'n': 'i32'})\n";
  std::string text = "import x\n";
  Lines expected;
  for (std::size_t i = 0; i < 5; ++i) {
    text += call + body;
    expected.push_back(std::to_string(2 + i * (lines + 1)) + ":1 n: i32");
  }
  EXPECT_EQ(read(text), expected);
  EXPECT_EQ(read(text, Form::ast), expected);
  EXPECT_EQ(read("import x\n" + std::string(20 * kMebi, 'x')), Lines{"1:1 RL001"});
}

TEST(Window, ReadingThatFailsIsTheCallersAffair) {
  const auto fails = [](char*, std::size_t) -> std::size_t { throw std::runtime_error("broken"); };
  EXPECT_THROW(SignatureReader(fails, "f", Form::automatic), std::runtime_error);
}

}  // namespace
}  // namespace relaunch::migrate
