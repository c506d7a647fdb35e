#include "migrate/surprises.hpp"

#include <algorithm>
#include <iterator>
#include <string>
#include <string_view>

#include "migrate/lexer.hpp"
#include "precompiled/core/types.hpp"

namespace relaunch::migrate {
namespace {

struct Surprise {
  std::string_view code;
  bool (*applies)(std::string_view type, std::size_t depth);
  std::string_view message;  // behind the type in quotes
};

bool is_descriptor(std::string_view type) { return type.starts_with("tensordesc"); }

constexpr Surprise kSurprises[] = {
    {kNeverByValue, [](std::string_view type, std::size_t) { return !find_type(type); },
     " is no parameter of a kernel: launchers pass it behind a pointer only"},
    {kBoolWidth, [](std::string_view type, std::size_t) { return type == "i1" || type == "u1"; },
     " has 1 byte in launchers of 3.5 and 3.6, and 4 bytes before and after"},
    {kNegativeByte, [](std::string_view type, std::size_t) { return type == "i8"; },
     " takes no negative value in launchers of 3.0 to 3.6"},
    {kHalfFloat,
     [](std::string_view type, std::size_t) { return type == "fp16" || type == "bf16"; },
     " is half of a C float in launchers of 3.0 to 3.3: the kernel reads a wrong value"},
    {kNestedDescriptor,
     [](std::string_view type, std::size_t depth) { return depth > 0 && is_descriptor(type); },
     " inside a tuple is expanded by launchers of 3.8 and later only"},
};

std::string_view spelled(std::string_view text, const PyKernelArg& node) {
  return text.substr(node.span.begin, node.span.end - node.span.begin);
}

class Walk {
 public:
  /// `spells`: the text has the types as the words that they are read from.
  Walk(std::string_view text, bool spells, Diagnostics& diagnostics)
      : text_(text), spells_(spells), diagnostics_(diagnostics) {}

  void over(const std::vector<PyKernelArg>& nodes, std::size_t depth) {
    for (const PyKernelArg& node : nodes) {
      if (node.type == ArgKind::ARG_KERNEL && !is_usual(node)) at(node, depth);
      if (node.type == ArgKind::ARG_TUPLE) over(node.nested_tuple, depth + 1);
    }
  }

  /// The first node that spells its type otherwise; null where none does.
  const PyKernelArg* first_alias() const { return first_alias_; }
  bool has_descriptor() const { return has_descriptor_; }

 private:
  /// Nearly every one: spelled as it is read, and of a type that surprises nobody.
  bool is_usual(const PyKernelArg& node) const {
    const std::string_view type = node.dtype;
    const bool is_plain = type.starts_with('*') || type == "i32" || type == "fp32" || type == "i64";
    return is_plain && (!spells_ || spelled(text_, node) == type);
  }

  void at(const PyKernelArg& node, std::size_t depth) {
    const std::string_view type = node.dtype;
    if (spells_ && first_alias_ == nullptr && is_alias(text_, node)) first_alias_ = &node;
    if (is_descriptor(type)) has_descriptor_ = true;
    for (std::size_t i = 0; i < std::size(kSurprises); ++i) {
      const Surprise& surprise = kSurprises[i];
      if (said_[i] || !surprise.applies(type, depth)) continue;
      said_[i] = true;
      diagnostics_.warning(surprise.code, in_quotes(type) + std::string(surprise.message),
                           node.span);
    }
  }

  std::string_view text_;
  bool spells_;
  Diagnostics& diagnostics_;
  const PyKernelArg* first_alias_ = nullptr;
  bool has_descriptor_ = false;
  bool said_[std::size(kSurprises)] = {};
};

/// `desc, i32 x n, i64 x n`: what the compiler makes of a descriptor, written out.
void warn_of_expanded(const Tree& tree, Diagnostics& diagnostics) {
  const auto& parameters = tree.parameters;
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    if (!is_descriptor(parameters[i].dtype)) continue;
    const auto descriptor = parse_descriptor(parameters[i].dtype);
    if (!descriptor) continue;
    const std::size_t rank = descriptor->rank;
    if (i + 2 * rank >= parameters.size()) continue;
    const auto first = parameters.begin() + static_cast<std::ptrdiff_t>(i) + 1;
    const auto middle = first + static_cast<std::ptrdiff_t>(rank);
    const auto last = middle + static_cast<std::ptrdiff_t>(rank);
    const auto is = [](std::string_view type) {
      return [type](const PyKernelArg& node) { return node.dtype == type; };
    };
    if (!std::all_of(first, middle, is("i32")) || !std::all_of(middle, last, is("i64"))) continue;
    diagnostics.warning(kExpanded,
                        "the shape and strides of this descriptor seem to follow it: launchers "
                        "pass them themselves",
                        parameters[i].span);
    return;
  }
}

/// IR, C and values have words of their own for types.
bool spells_types(Form form) {
  return form != Form::ttir && form != Form::c && form != Form::values;
}

}  // namespace

bool is_alias(std::string_view text, const PyKernelArg& node) {
  if (node.type != ArgKind::ARG_KERNEL) return false;
  std::string word(spelled(text, node));
  std::erase(word, ' ');  // behind a star
  return word != node.dtype && canonical_type(word) == node.dtype;
}

void warn_of_surprises(const Tree& tree, Form form, Diagnostics& diagnostics) {
  Walk walk(tree.text, spells_types(form), diagnostics);
  walk.over(tree.parameters, 0);
  if (walk.has_descriptor()) warn_of_expanded(tree, diagnostics);
  if (const PyKernelArg* const alias = walk.first_alias()) {
    diagnostics.warning(kAlias,
                        in_quotes(slice(tree.text, alias->span)) + " is read as '" + alias->dtype +
                            "', the only spelling that Triton's compiler knows",
                        alias->span);
  }
}

}  // namespace relaunch::migrate
