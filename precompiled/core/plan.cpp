#include "precompiled/core/plan.hpp"

#include <algorithm>

namespace relaunch {
namespace {

constexpr std::size_t kLongestSignature = 160;  // bytes shown in a message

std::uint32_t round_up(std::uint32_t value, std::uint32_t alignment) {
  return (value + alignment - 1) / alignment * alignment;
}

std::string quoted(std::string_view text) {
  constexpr std::size_t kLongest = 60;
  std::string out = "'";
  out += text.substr(0, kLongest);
  if (text.size() > kLongest) out += "...";
  return out + "'";
}

/// The nodes without names, values and hints.
std::vector<PyKernelArg> types_only(const std::vector<PyKernelArg>& nodes) {
  std::vector<PyKernelArg> out;
  out.reserve(nodes.size());
  for (const PyKernelArg& node : nodes) {
    PyKernelArg bare;
    bare.type = node.type;
    bare.dtype = node.dtype;
    bare.nested_tuple = types_only(node.nested_tuple);
    out.push_back(std::move(bare));
  }
  return out;
}

/// Walks the tree once; every method appends to the plan.
class Planner {
 public:
  Planner(const Tree& tree, const Dialect& dialect, const PlanOptions& options)
      : tree_(tree), dialect_(dialect), options_(options) {
    // Stands in `name(...)`: a kernel without arguments is `name()`.
    if (!tree.parameters.empty()) plan_.signature = dump(Tree{{}, types_only(tree.parameters)});
  }

  Plan make() {
    plan_.flat_order = takes_flat_order(dialect_);
    check_constants();
    expand_into(entries_, tree_.parameters, false);
    plan_.arguments = static_cast<std::uint32_t>(entries_.size());
    plan_.values = plan_.arguments;
    for (std::uint32_t i = 0; i < plan_.arguments; ++i) {
      // Dialects that fold constants expand nothing: entries are those of the tree.
      folded_ = std::find(options_.constants.begin(), options_.constants.end(), i) !=
                options_.constants.end();
      add(entries_[i], i, 0);
    }
    folded_ = false;
    check_metas();
    plan_.items = plan_.values - plan_.arguments;
    for (std::uint32_t i = 0; i < dialect_.hidden.parameters.size(); ++i) add_hidden(i);
    order_intake();
    plan_.parse.push_back({Op::end, 0, 0, 0});
    plan_.intake.push_back({Op::end, 0, 0, 0});
    plan_.slot_bytes = round_up(slot_end_, kSlotAlignment);
    plan_.parameter_bytes = parameter_end_;
    for (const Parameter& parameter : plan_.parameters) {
      plan_.slot_offsets.push_back(parameter.slot_offset);
    }
    return std::move(plan_);
  }

 private:
  [[noreturn]] void fail(const std::string& name, const std::string& what) const {
    std::string text = "parameter " + std::to_string(plan_.leaves.size() + 1);
    if (!name.empty()) text += " " + quoted(name);
    throw BindError(text + " of (" + shortened() + "): " + what);
  }

  std::string shortened() const {
    return plan_.signature.size() <= kLongestSignature
               ? plan_.signature
               : plan_.signature.substr(0, kLongestSignature) + "...";
  }

  void check_constants() const {
    if (options_.constants.empty()) return;
    if (!dialect_.entries.folds_constants) {
      throw BindError(std::string(dialect_.name) +
                      " folds no constants: such entries are constexpr in its signatures");
    }
    for (const std::size_t index : options_.constants) {
      if (index < tree_.parameters.size()) continue;
      throw BindError("constants: index " + std::to_string(index) + " is none of the " +
                      std::to_string(tree_.parameters.size()) + " entries of (" + shortened() +
                      "), which count from 0");
    }
  }

  void check_metas() const {
    const std::size_t metas = options_.descriptor_metas.size();
    if (metas == 0) return;
    if (!dialect_.descriptors.takes_meta) {
      throw BindError(std::string(dialect_.name) + " takes no tensordesc_meta");
    }
    if (metas != plan_.descriptors.size()) {
      throw MetaCountError("tensordesc_meta has " + std::to_string(metas) + " entries for the " +
                           std::to_string(plan_.descriptors.size()) + " descriptors of (" +
                           shortened() + ")");
    }
  }

  /// Descriptors become the arguments that a launch takes in their place. Those that the release
  /// does not expand stay as they are, and are refused when they are added.
  void expand_into(std::vector<PyKernelArg>& out, const std::vector<PyKernelArg>& nodes,
                   bool in_tuple) {
    const DescriptorRules& rules = dialect_.descriptors;
    for (const PyKernelArg& node : nodes) {
      const auto type = is_descriptor(node) ? parse_descriptor(node.dtype) : std::nullopt;
      const bool expands = rules.expands && (!in_tuple || rules.in_tuples);
      if (type && expands && (!type->is_im2col || rules.has_im2col)) {
        expand_one(out, node, *type, in_tuple);
      } else if (node.type == ArgKind::ARG_TUPLE && rules.in_tuples) {
        PyKernelArg tuple = node;
        tuple.nested_tuple.clear();
        expand_into(tuple.nested_tuple, node.nested_tuple, true);
        out.push_back(std::move(tuple));
      } else {
        out.push_back(node);
      }
    }
  }

  void expand_one(std::vector<PyKernelArg>& out, const PyKernelArg& node,
                  const DescriptorType& type, bool in_tuple) {
    const std::vector<bool>& metas = options_.descriptor_metas;
    const std::size_t index = plan_.descriptors.size();
    const bool whole = dialect_.descriptors.whole_meta && !metas.empty();
    const bool by_value = whole || (index < metas.size() && metas[index]);
    std::vector<std::string> types = expand_descriptor(dialect_.descriptors, type, by_value);
    plan_.descriptors.push_back({node.name, type.rank, static_cast<std::uint32_t>(types.size()),
                                 by_value, type.is_im2col, in_tuple});
    for (std::string& each : types) {
      PyKernelArg part;
      part.dtype = std::move(each);
      part.name = node.name;
      out.push_back(std::move(part));
    }
  }

  void add(const PyKernelArg& node, std::uint32_t value, std::size_t depth) {
    switch (node.type) {
      case ArgKind::ARG_CONSTEXPR: add_constexpr(node); return;
      case ArgKind::ARG_KERNEL: add_kernel(node, value); return;
      case ArgKind::ARG_TUPLE: add_tuple(node, value, depth); return;
    }
  }

  void add_constexpr(const PyKernelArg& node) {
    if (!dialect_.entries.has_constexpr) {
      fail(node.name, std::string(dialect_.name) +
                          " has no constexpr entries: leave it out of the signature and the call");
    }
    plan_.leaves.push_back({node.name, "constexpr"});
  }

  void add_tuple(const PyKernelArg& node, std::uint32_t value, std::size_t depth) {
    if (!dialect_.entries.has_tuples) {
      fail(node.name, std::string(dialect_.name) + " has no tuples: give each item by itself");
    }
    if (depth >= kMaxTupleDepth) {
      fail(node.name, "tuples nested deeper than " + std::to_string(kMaxTupleDepth));
    }
    const auto count = static_cast<std::uint32_t>(node.nested_tuple.size());
    const auto next_leaf = static_cast<std::uint32_t>(plan_.leaves.size());
    std::vector<Step>& steps = plan_.flat_order ? opens_ : plan_.parse;
    steps.push_back({Op::open, value, next_leaf, count});
    ++plan_.tuples;
    for (std::uint32_t i = 0; i < count; ++i) {
      const std::uint32_t item = plan_.values++;
      steps.push_back({Op::item, value, item, i});
      add(node.nested_tuple[i], item, depth + 1);
    }
  }

  void add_kernel(const PyKernelArg& node, std::uint32_t value) {
    const std::optional<Type> type = find_type(node.dtype);
    if (type == Type::constexpr_) {
      add_constexpr(node);
      return;
    }
    check_type(node, type);
    const auto leaf = static_cast<std::uint32_t>(plan_.leaves.size());
    if (type == Type::pointer) {
      add_step(pointers_, {Op::pointer, value, add_parameter(pointer_at(leaf), node.name), leaf});
    } else if (type == dialect_.descriptors.by_value) {
      add_by_value(*type, node, value, leaf);
    } else {
      add_scalar(*type, node, value, leaf);
    }
    plan_.leaves.push_back({node.name, node.dtype});
  }

  /// To the steps of its stage, or where everything is converted in flat order to those.
  void add_step(std::vector<Step>& stage, const Step& step) {
    (plan_.flat_order ? flat_ : stage).push_back(step);
  }

  void add_by_value(Type type, const PyKernelArg& node, std::uint32_t value, std::uint32_t leaf) {
    const DescriptorRules& rules = dialect_.descriptors;
    Parameter parameter{type, leaf, 0, rules.bytes, rules.bytes, info(type).alignment, 0, {}};
    const std::uint32_t slot = add_parameter(parameter, node.name);
    Op op = rules.by_address ? Op::map_address : Op::nv_tma_desc;
    if (type == Type::tdm_desc) op = Op::tdm_desc;
    add_step(descriptors_, {op, value, slot, leaf});
  }

  void add_scalar(Type type, const PyKernelArg& node, std::uint32_t value, std::uint32_t leaf) {
    const bool on_request = type == Type::bf16 ? options_.round_bf16 : options_.strict;
    const Op op = scalar_op(dialect_, type, on_request);
    const Parameter parameter{
        type, leaf, 0, conversion(op).bytes, info(type).size, info(type).alignment, 0, {}};
    const std::uint32_t slot = add_parameter(parameter, node.name);
    add_step(plan_.parse, {op, value, slot, leaf});
    if (type == Type::fp16 && !folded_ && !plan_.flat_order) {
      halves_.push_back({Op::check_half, value, slot, leaf});
    }
  }

  void check_type(const PyKernelArg& node, std::optional<Type> type) const {
    if (node.dtype.empty()) fail(node.name, "it has no type");
    if (!type && canonical_type(node.dtype)) {
      fail(node.name, quoted(node.dtype) + " can only be pointed to: '*" + node.dtype + "'");
    }
    if (!type) fail(node.name, "unknown type " + quoted(node.dtype));
    if (type == Type::tensordesc && dialect_.descriptors.expands) {
      refuse_descriptor(node);
    }
    const bool foreign =
        type == Type::tensordesc || ((type == Type::nv_tma_desc || type == Type::tdm_desc) &&
                                     type != dialect_.descriptors.by_value);
    if (foreign) {
      fail(node.name, std::string(dialect_.name) + " has no type " + quoted(node.dtype));
    }
  }

  [[noreturn]] void refuse_descriptor(const PyKernelArg& node) const {
    const auto type = parse_descriptor(node.dtype);
    if (!type) fail(node.name, quoted(node.dtype) + " is no descriptor");
    const std::string dialect(dialect_.name);
    if (type->is_im2col && !dialect_.descriptors.has_im2col) {
      fail(node.name, dialect + " has no im2col descriptors; Triton has them from 3.8 on");
    }
    fail(node.name, dialect + " expands no descriptors inside tuples; Triton does from 3.8 on");
  }

  static Parameter pointer_at(std::uint32_t leaf) {
    const std::uint32_t size = info(Type::pointer).size;
    return {Type::pointer, leaf, 0, size, size, info(Type::pointer).alignment, 0, {}};
  }

  /// Gives it a slot, and unless it is folded a place among the kernel's parameters.
  std::uint32_t add_parameter(Parameter parameter, const std::string& name) {
    // Behind its value, an fp16 leaves room for the note that it overflowed.
    parameter.slot_offset = round_up(slot_end_, std::max(8U, parameter.alignment));
    slot_end_ = parameter.slot_offset + std::max(8U, parameter.slot_size);
    if (folded_) return parameter.slot_offset;
    parameter.offset = round_up(parameter_end_, parameter.alignment);
    parameter_end_ = parameter.offset + parameter.size;
    if (parameter_end_ > dialect_.parameter_limit) {
      fail(name, "it ends at byte " + std::to_string(parameter_end_) +
                     " of the kernel's parameters; the driver takes " +
                     std::to_string(dialect_.parameter_limit));
    }
    parameter.name = name;
    plan_.parameters.push_back(parameter);
    return parameter.slot_offset;
  }

  void add_hidden(std::uint32_t index) {
    const HiddenParameter& hidden = dialect_.hidden.parameters[index];
    const Parameter parameter{Type::pointer, kNoLeaf,          0, hidden.size,
                              hidden.size,   hidden.alignment, 0, {}};
    const std::uint32_t slot = add_parameter(parameter, std::string(hidden.name));
    const bool given = (hidden.kind == HiddenKind::global_scratch && options_.global_scratch) ||
                       (hidden.kind == HiddenKind::profile_scratch && options_.profile_scratch);
    scratch_.push_back({given ? Op::hidden : Op::null, 0, slot, index});
  }

  void order_intake() {
    bool checks_halves = false;
    for (const IntakeStage stage : dialect_.intake) {
      for (const std::vector<Step>* steps : steps_of(stage)) {
        plan_.intake.insert(plan_.intake.end(), steps->begin(), steps->end());
      }
      checks_halves = checks_halves || stage == IntakeStage::halves;
    }
    if (!checks_halves) plan_.parse.insert(plan_.parse.end(), halves_.begin(), halves_.end());
  }

  std::vector<const std::vector<Step>*> steps_of(IntakeStage stage) const {
    switch (stage) {
      case IntakeStage::scratch: return {&scratch_};
      case IntakeStage::pointers: return {&pointers_};
      case IntakeStage::descriptors: return {&descriptors_};
      case IntakeStage::halves: return {&halves_};
      case IntakeStage::flat_order: return {&opens_, &flat_};
    }
    return {};
  }

  const Tree& tree_;
  const Dialect& dialect_;
  const PlanOptions& options_;
  std::vector<PyKernelArg> entries_;
  std::vector<Step> scratch_;
  std::vector<Step> pointers_;
  std::vector<Step> descriptors_;
  std::vector<Step> halves_;
  std::vector<Step> opens_;
  std::vector<Step> flat_;
  bool folded_ = false;  // the entry being added is a constant of the kernel
  std::uint32_t slot_end_ = 0;
  std::uint32_t parameter_end_ = 0;
  Plan plan_{};
};

}  // namespace

Plan make_plan(const Tree& tree, const Dialect& dialect, const PlanOptions& options) {
  return Planner(tree, dialect, options).make();
}

std::string call_text(std::string_view kernel, const Plan& plan) {
  std::string text(kernel);
  text += '(';
  if (plan.signature.size() <= kLongestSignature) {
    text += plan.signature;
  } else {
    text += plan.signature.substr(0, kLongestSignature);
    text += "...";
  }
  return text + ')';
}

}  // namespace relaunch
