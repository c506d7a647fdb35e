#include "migrate/remedy.hpp"

#include <algorithm>
#include <iterator>
#include <optional>
#include <utility>

#include "migrate/lexer.hpp"
#include "migrate/meant_type.hpp"
#include "migrate/surprises.hpp"

namespace relaunch::migrate {
namespace {

constexpr std::size_t kNone = std::string_view::npos;
constexpr std::string_view kBlanks = " \t\r\n";

struct Case {
  const Parsed& parsed;
  const Diagnostic& finding;
  bool continues;

  std::string_view text() const { return parsed.tree.text; }
};

/// Whether two texts are the same row of words, strings and marks.
bool same_tokens(std::string_view a, std::string_view b, Angles angles) {
  const std::vector<Token> of_a = lex(a, angles);
  const std::vector<Token> of_b = lex(b, angles);
  return std::equal(
      of_a.begin(), of_a.end(), of_b.begin(), of_b.end(), [a, b](const Token& x, const Token& y) {
        return x.kind == y.kind && x.mark == y.mark && slice(a, x.span) == slice(b, y.span);
      });
}

/// Deleted, where it separates nothing: a blank in its place would give the same words.
Remedy control_characters(const Case& at) {
  Remedy out;
  std::string deleted;
  std::string blank;
  for (std::size_t i = 0; i < at.text().size(); ++i) {
    const char c = at.text()[i];
    blank += is_control(c) ? ' ' : c;
    if (is_control(c)) {
      out.edits.push_back({{i, i + 1}, ""});
    } else {
      deleted += c;
    }
  }
  const bool safe =
      same_tokens(deleted, blank, Angles::join) && same_tokens(deleted, blank, Angles::plain);
  return safe ? out : Remedy{};
}

/// The comma that is the last mark before the end that the error is at, if one is.
std::optional<std::size_t> last_comma(std::string_view text, std::size_t end) {
  if (end < text.size()) {  // a quote or bracket: no comment stands before it on its line
    const std::size_t last = end == 0 ? kNone : text.find_last_not_of(kBlanks, end - 1);
    if (last == kNone || text[last] != ',') return std::nullopt;
    return last;
  }
  const std::vector<Token> tokens = lex(text);
  if (tokens.size() < 2 || !tokens[tokens.size() - 2].is(',')) return std::nullopt;
  return tokens[tokens.size() - 2].span.begin;
}

/// A comma behind the last entry.
Remedy stray_comma(const Case& at) {
  const std::size_t end = at.finding.span.begin;
  const bool closes =
      end >= at.text().size() || std::string_view("\"'").find(at.text()[end]) != kNone;
  const bool json = !closes && at.parsed.form == Form::json &&
                    std::string_view("]}").find(at.text()[end]) != kNone;
  if (!closes && !json) return {};
  const auto comma = last_comma(at.text(), end);
  if (!comma) return {};
  if (at.continues && end >= at.text().size()) return {{}, "the next line may go on with it"};
  const Span span{*comma, *comma + 1};
  if (json) return {{{span, ""}}, "", {}, false, true};
  return {{{span, ""}}, "", {{span, ", i32"}}, true};
}

Remedy unknown_type(const Case& at) {
  const Span span = at.finding.span;
  auto meant = meant_type(slice(at.text(), span));
  if (!meant) return {};
  const bool after_comma = span.begin > 0 && at.text()[span.begin - 1] == ',';
  const std::string blank = after_comma ? " " : "";
  return {{{span, blank + *meant}}, "", {{span, blank + "i32"}}};
}

/// A hint that the ahead-of-time compiler drops.
Remedy dropped_hint(const Case& at) {
  if (at.parsed.form != Form::aot || at.finding.span.begin == 0) return {};
  const std::size_t colon = at.text().find_last_not_of(kBlanks, at.finding.span.begin - 1);
  if (colon == kNone || at.text()[colon] != ':') return {};
  return {{{{colon, at.finding.span.end}, ""}}, ""};
}

void spell(std::string_view text, const std::vector<PyKernelArg>& nodes, std::vector<Edit>& edits) {
  for (const PyKernelArg& node : nodes) {
    if (is_alias(text, node)) edits.push_back({node.span, node.dtype});
    spell(text, node.nested_tuple, edits);
  }
}

/// Every type of the signature as Triton spells it.
Remedy aliases(const Case& at) {
  Remedy out;
  spell(at.text(), at.parsed.tree.parameters, out.edits);
  return out;
}

struct Rule {
  std::string_view code;
  Remedy (*find)(const Case&);  // null: never
  std::string_view reason;      // where it finds none
};

constexpr std::string_view kUnknown = "what was meant is not known";
constexpr std::string_view kComputed = "its value is known to the program that computes it";
constexpr std::string_view kOtherKernel = "another type is another kernel";

constexpr Rule kRules[] = {
    {kEmpty, nullptr, "there is nothing to rewrite"},
    {kNotUtf8, nullptr, "its encoding is not known"},
    {kControl, control_characters, "it may separate what it stands between"},
    {kUnexpected, stray_comma, kUnknown},
    {kUnbalanced, nullptr, "where the bracket belongs is not known"},
    {kTooDeep, nullptr, kUnknown},
    {kBadString, nullptr, "where the string ends, or what it holds, is not known"},
    {kBadNumber, nullptr, kUnknown},
    {kUnknownType, unknown_type, kUnknown},
    {kBadDescriptor, nullptr, "element type and block shape are not known"},
    {kBadHint, nullptr, "whether 16 or no hint was meant is not known"},
    {kBadName, nullptr, kUnknown},
    {kDuplicateName, nullptr, "which of the two was meant is not known"},
    {kPlaceholder, nullptr, "what fills it in is not known"},
    {kNotAType, nullptr, kComputed},
    {kBadLine, nullptr, "what is missing is not known"},
    {kTooMany, nullptr, "it goes with the others"},
    {kNoSignature, nullptr, "the types stand in another file"},
    {kTooLong, nullptr, "no signature is so long"},
    {kOpaqueConstant, nullptr, kComputed},
    {kBadConstants, nullptr, kUnknown},
    {kHintDropped, dropped_hint, "the compiler may know the hint, or the program computes it"},
    {kLostInC, nullptr, "the C does not say it"},
    {kFoldedHint, nullptr, "the constant 1 would take the argument from the C function as well"},
    {kNeverByValue, nullptr, kOtherKernel},
    {kBoolWidth, nullptr, kOtherKernel},
    {kNegativeByte, nullptr, kOtherKernel},
    {kHalfFloat, nullptr, kOtherKernel},
    {kNestedDescriptor, nullptr, "passed by itself, it is another kernel"},
    {kExpanded, nullptr, "whether to leave them out or to list an nvTmaDesc is not known"},
    {kFoldedByIndex, nullptr, "launchers of 3.0 to 3.2 look for such constants by index only"},
    {kAlias, aliases, ""},
};

#define RELAUNCH_CODE(name, code) +1
constexpr std::size_t kCodes = 0
#include "migrate/codes.def"
    ;
#undef RELAUNCH_CODE
static_assert(std::size(kRules) == kCodes, "every code of codes.def has a rule");

/// What a compiler wrote of a kernel it has made, or this program of a signature it has read: to
/// be made again, not to be edited.
bool is_product(const Parsed& parsed) {
  return parsed.form == Form::ttir || parsed.form == Form::c || parsed.form == Form::cache ||
         (parsed.form == Form::tree && parsed.origin);
}

}  // namespace

Remedy remedy_of(const Parsed& parsed, const Diagnostic& finding, bool continues) {
  const Rule* const rule =
      std::find_if(std::begin(kRules), std::end(kRules),
                   [&finding](const Rule& one) { return one.code == finding.code; });
  if (rule == std::end(kRules)) return {{}, kUnknown};
  if (rule->find == nullptr) return {{}, rule->reason};
  if (is_product(parsed)) return {{}, "it is written by a program: mend what it was made from"};
  Remedy out = rule->find({parsed, finding, continues});
  if (out.edits.empty() && out.reason.empty()) out.reason = rule->reason;
  return out;
}

}  // namespace relaunch::migrate
