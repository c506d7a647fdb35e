#include "precompiled/binary/error.hpp"

#include <utility>

namespace relaunch::binary {
namespace {

struct FaultWords {
  std::string_view name;
  std::string_view advice;
};

constexpr std::string_view kDamaged = "the file is damaged: compile the kernel again";

FaultWords words_of(Fault fault) {
  switch (fault) {
    case Fault::unknown_format:
      return {"unknown_format",
              "give the file that Triton's cache or compiler wrote: .cubin, .ptx, .hsaco, .amdgcn"};
    case Fault::unsupported: return {"unsupported", "give the kernel in another form"};
    case Fault::truncated:
      return {"truncated", "the file is cut off or damaged: compile the kernel again"};
    case Fault::malformed: return {"malformed", kDamaged};
    case Fault::contradictory: return {"contradictory", kDamaged};
    case Fault::no_kernel: return {"no_kernel", "give the file that holds the kernel"};
    case Fault::no_such_kernel: return {"no_such_kernel", "name one that is there"};
    case Fault::several_kernels: return {"several_kernels", "name one of them"};
  }
  return {"malformed", kDamaged};
}

bool has_place(Fault fault) {
  return fault != Fault::no_such_kernel && fault != Fault::several_kernels &&
         fault != Fault::no_kernel;
}

std::string sentence(Fault fault, Where where, const std::string& expected,
                     const std::string& found, const std::string& kernel, std::string_view advice) {
  std::string text;
  if (!kernel.empty()) text += "kernel " + quoted(kernel) + ": ";
  if (has_place(fault)) {
    if (where.line > 0) text += "line " + std::to_string(where.line) + ", ";
    text += "byte " + std::to_string(where.offset) + ": ";
  }
  text += "expected " + expected + ", found " + found + "; ";
  text += advice.empty() ? words_of(fault).advice : advice;
  return text;
}

}  // namespace

std::string_view fault_name(Fault fault) { return words_of(fault).name; }

BinaryError::BinaryError(Fault fault, Where where, std::string expected, std::string found,
                         std::string kernel, std::string_view advice)
    : std::runtime_error(sentence(fault, where, expected, found, kernel, advice)),
      fault_(fault),
      where_(where),
      expected_(std::move(expected)),
      found_(std::move(found)),
      kernel_(std::move(kernel)),
      advice_(advice) {}

BinaryError BinaryError::of_kernel(std::string kernel) const {
  return {fault_, where_, expected_, found_, std::move(kernel), advice_};
}

std::string quoted(std::string_view text) {
  constexpr std::size_t kLongest = 60;
  constexpr char kDigits[] = "0123456789abcdef";
  std::string out = "'";
  for (const char c : text.substr(0, kLongest)) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte >= 0x20 && byte != 0x7f) {
      out += c;
    } else {
      out += "\\x";
      out += kDigits[byte >> 4U];
      out += kDigits[byte & 15U];
    }
  }
  return out + (text.size() > kLongest ? "...'" : "'");
}

}  // namespace relaunch::binary
