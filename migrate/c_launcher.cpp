#include "migrate/c_launcher.hpp"

#include <algorithm>
#include <cstdint>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "migrate/number.hpp"

namespace relaunch::migrate {
namespace {

constexpr std::size_t kNone = std::string_view::npos;
constexpr std::string_view kParse = "PyArg_ParseTuple";
constexpr std::string_view kBlanks = " \t\r\n";

/// Of Triton 3.0, 3.3, 3.4, 3.5 for CUDA; 3.3 and 3.5 for HIP, whose 3.0 is CUDA's.
constexpr std::string_view kPrefixes[] = {"iiiKKOOOO",     "iiiKKpOOOOO", "iiiKKppOOOOO",
                                          "iiiKKppOOOOOO", "piiiKKOOOO",  "piiiKKOOOOO"};

bool in_name(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

std::size_t skip_blanks(std::string_view text, std::size_t at) {
  return std::min(text.find_first_not_of(kBlanks, at), text.size());
}

std::string_view name_at(std::string_view text, std::size_t at) {
  std::size_t end = at;
  while (end < text.size() && in_name(text[end])) ++end;
  return text.substr(at, end - at);
}

/// The number that a name ends in, `3` of `_arg3`; empty without one.
std::string_view number_of(std::string_view name) {
  const std::size_t last = name.find_last_not_of("0123456789");
  return name.substr(last == kNone ? 0 : last + 1);
}

/// The call that parses the arguments: its letters, each with its offset, and its names.
struct ParseCall {
  std::size_t begin = 0;
  std::size_t end = 0;
  std::string letters;
  std::vector<std::size_t> offsets;
  std::vector<std::string_view> names;
};

/// Reads `("iiiKK..." , &a, &b)` behind the name at `at`; false where that is something else.
bool read_call(std::string_view text, std::size_t at, ParseCall& out) {
  out = {at, at, {}, {}, {}};
  std::size_t i = skip_blanks(text, at + kParse.size());
  if (text.substr(i, 1) != "(") return false;
  i = text.find_first_of(",();{", i + 1);
  if (i == kNone || text[i] != ',') return false;
  for (i = skip_blanks(text, i + 1); text.substr(i, 1) == "\""; i = skip_blanks(text, i + 1)) {
    for (++i; i < text.size() && text[i] != '"' && text[i] != '\n'; ++i) {
      out.letters += text[i];
      out.offsets.push_back(i);
    }
  }
  while (i < text.size() && text[i] == ',') {
    i = skip_blanks(text, i + 1);
    if (i >= text.size() || text[i] != '&') return false;
    i = skip_blanks(text, i + 1);
    out.names.push_back(name_at(text, i));
    i = skip_blanks(text, i + out.names.back().size());
  }
  out.end = std::min(i + 1, text.size());
  return text.substr(i, 1) == ")";
}

/// Every dialect's letters begin so; the call that parses the metadata has no `KK`.
bool is_launch(const ParseCall& call) {
  return call.letters.starts_with("iiiKK") || call.letters.starts_with("piiiKK");
}

bool find_call(std::string_view text, std::size_t at, ParseCall& out) {
  while ((at = text.find(kParse, at)) != kNone) {
    if (read_call(text, at, out) && is_launch(out)) return true;
    at += kParse.size();
  }
  return false;
}

class LauncherReader {
 public:
  LauncherReader(std::string_view text, Diagnostics& diagnostics)
      : text_(text), diagnostics_(diagnostics) {}

  std::vector<PyKernelArg> run() {
    if (!find_call(text_, 0, call_)) {
      const std::size_t begin = std::min(text_.find_first_not_of(kBlanks), text_.size());
      fail(kUnexpected, "expected a launcher: PyArg_ParseTuple(args, \"iiiKK...\", ...)",
           {begin, std::min(begin + 1, text_.size())});
    }
    const auto letters = static_cast<std::size_t>(std::count_if(
        call_.letters.begin(), call_.letters.end(), [](char c) { return c != '(' && c != ')'; }));
    if (letters != call_.names.size()) {
      fail(kUnexpected,
           std::to_string(letters) + " letters parse " + std::to_string(call_.names.size()) +
               " variables",
           {call_.begin, call_.end});
    }
    find_parameters();
    find_uses();
    skip_prefix();
    std::vector<PyKernelArg> out = nodes(kNone);
    warn();
    return out;
  }

 private:
  /// Numbers in the last `params[] = {...}` or `parameters[] = {...}`.
  void find_parameters() {
    for (std::size_t at = text_.find("[] = {"); at != kNone; at = text_.find("[] = {", at + 1)) {
      const std::string_view before = text_.substr(0, at);
      if (!before.ends_with("params") && !before.ends_with("parameters")) continue;
      has_parameters_ = true;
      const std::size_t end = std::min(text_.find('}', at), text_.size());
      for (std::size_t i = at; i < end; ++i) {
        if (!in_name(text_[i])) continue;
        const std::string_view name = name_at(text_, i);
        const std::string_view number = number_of(name);
        if (!number.empty()) parameters_.insert(std::string(number));
        i += name.size();
      }
      at = end;
    }
    if (!has_parameters_) {
      fail(kUnexpected, "this launcher has no list of parameters: params[] = {...}",
           {call_.begin, call_.end});
    }
  }

  /// The functions that arguments are handed to, by the argument's name.
  void find_uses() {
    const std::unordered_set<std::string_view> names(call_.names.begin(), call_.names.end());
    for (std::size_t open = text_.find('(', call_.end); open != kNone;
         open = text_.find('(', open + 1)) {
      const std::string_view argument = name_at(text_, open + 1);
      if (!names.contains(argument)) continue;
      std::size_t begin = open;
      while (begin > 0 && in_name(text_[begin - 1])) --begin;
      uses_.emplace(argument, text_.substr(begin, open - begin));
    }
  }

  /// Past the letters of the launch itself: arguments have numbered names.
  void skip_prefix() {
    std::size_t first = call_.names.size();
    while (first > 0 && !number_of(call_.names[first - 1]).empty()) --first;
    while (at_ < call_.letters.size() && name_ < first) {
      if (call_.letters[at_] == '(' || call_.letters[at_] == ')') break;
      ++at_;
      ++name_;
    }
    const std::string_view prefix = std::string_view(call_.letters).substr(0, at_);
    const bool known =
        std::find(std::begin(kPrefixes), std::end(kPrefixes), prefix) != std::end(kPrefixes);
    if (name_ != first || !known) {
      fail(kUnexpected,
           in_quotes(prefix) +
               " begins no launcher's letters: expected numbered arguments behind "
               "one like iiiKKOOOO",
           {call_.begin, call_.end});
    }
  }

  [[noreturn]] void unexpected() const {
    const bool end = at_ >= call_.letters.size();
    const std::size_t offset = end ? call_.begin : call_.offsets[at_];
    fail(kUnexpected,
         end ? "the letters end inside a tuple"
             : in_quotes(call_.letters.substr(at_, 1)) + " parses no argument of a kernel",
         {offset, offset + 1});
  }

  /// Up to the ')' of the tuple that opened at `open`, or to the end.
  std::vector<PyKernelArg> nodes(std::size_t open) {
    std::vector<PyKernelArg> out;
    if (open != kNone && ++depth_ > kMaxTupleDepth) {
      fail(kTooDeep, "tuples nested deeper than " + std::to_string(kMaxTupleDepth),
           {call_.offsets[open], call_.offsets[open] + 1});
    }
    while (at_ < call_.letters.size() && call_.letters[at_] != ')') {
      if (call_.letters[at_] == '(') {
        PyKernelArg tuple;
        tuple.type = ArgKind::ARG_TUPLE;
        const std::size_t begin = at_++;
        tuple.nested_tuple = nodes(begin);
        tuple.span = {call_.offsets[begin], call_.offsets[at_ - 1] + 1};
        out.push_back(std::move(tuple));
      } else {
        out.push_back(leaf());
      }
    }
    const bool closes = at_ < call_.letters.size();
    if (closes != (open != kNone)) unexpected();
    if (closes) ++at_;
    if (open != kNone) --depth_;
    return out;
  }

  PyKernelArg leaf() {
    PyKernelArg out;
    out.span = {call_.offsets[at_], call_.offsets[at_] + 1};
    const std::string_view name = call_.names[name_++];
    const auto use = uses_.find(name);
    const std::string_view type =
        type_of(call_.letters[at_], use == uses_.end() ? std::string_view() : use->second);
    if (type.empty()) unexpected();
    ++at_;
    if (!parameters_.contains(std::string(number_of(name)))) {
      out.type = ArgKind::ARG_CONSTEXPR;
      return out;
    }
    out.dtype = type;
    const bool lossy = type == "*void" || type == "i8" || type == "u8";
    if (lossy && lost_.end == 0) lost_ = out.span;
    return out;
  }

  std::string_view type_of(char letter, std::string_view use) const {
    switch (letter) {
      case 'b': return "i8";
      case 'B': return "u8";
      case 'h': return "i16";
      case 'H': return "u16";
      case 'i': return "i32";
      case 'I': return "u32";
      case 'l':
      case 'L': return "i64";
      case 'K': return "u64";
      case 'f': return "fp32";
      case 'd': return packed(use);
      case 'O': return object(use);
      default: return {};
    }
  }

  static std::string_view packed(std::string_view use) {
    constexpr std::string_view kPack = "pack_";
    for (const std::string_view type : {"fp16", "bf16", "fp32"}) {
      if (use.starts_with(kPack) && use.substr(kPack.size()) == type) return type;
    }
    return "fp64";
  }

  std::string_view object(std::string_view use) const {
    const bool descriptor = use.find("Desc") != kNone || use.find("desc") != kNone;
    if (!descriptor) return "*void";
    return text_.find("hip") != kNone ? "tensordesc" : "nvTmaDesc";
  }

  void warn() {
    if (lost_.end == 0) return;
    diagnostics_.warning(kLostInC,
                         "the C source does not say what a pointer points to, nor tells i1 from "
                         "integers of its size",
                         lost_);
  }

  std::string_view text_;
  Diagnostics& diagnostics_;
  ParseCall call_;
  bool has_parameters_ = false;
  std::unordered_set<std::string> parameters_;
  std::unordered_map<std::string_view, std::string_view> uses_;
  std::size_t at_ = 0;    // in the letters
  std::size_t name_ = 0;  // of the letter at at_
  std::size_t depth_ = 0;
  Span lost_;
};

}  // namespace

bool names_c_launcher(std::string_view text) { return text.find(kParse) != kNone; }

std::optional<Span> find_c_launcher(std::string_view text, std::size_t at) {
  ParseCall call;
  if (!find_call(text, at, call)) return std::nullopt;
  const std::string_view before = text.substr(at, call.begin - at);
  // Triton's own launchers list the parameters in a function of their own.
  std::size_t begin = before.rfind("_launch(int ");
  if (begin == kNone) begin = before.rfind("\nstatic PyObject");
  begin = begin == kNone ? at : at + begin;
  const std::size_t newline = text.substr(at, begin - at + 1).rfind('\n');
  if (newline != kNone) begin = at + newline + 1;
  const std::size_t brace = text.find("\n}", call.end);
  return Span{begin, brace == kNone ? text.size() : brace + 2};
}

std::vector<PyKernelArg> read_c_launcher(std::string_view text, Diagnostics& diagnostics) {
  return LauncherReader(text, diagnostics).run();
}

}  // namespace relaunch::migrate
