#include "precompiled/binary/verify.hpp"

#include <algorithm>
#include <utility>

namespace relaunch::binary {
namespace {

constexpr std::size_t kMostMixed = 6;  // descriptors of which all 2^n ways are tried

bool is_constexpr(const PyKernelArg& node) {
  return node.type == ArgKind::ARG_CONSTEXPR ||
         (node.type == ArgKind::ARG_KERNEL && find_type(node.dtype) == Type::constexpr_);
}

/// The entries as the dialect's own signatures have them, and which of them it folds.
struct Entries {
  Tree tree;
  std::vector<std::size_t> constants;
};

Entries entries_for(const Tree& tree, const Dialect& dialect,
                    const std::vector<std::size_t>& constants) {
  Entries out;
  out.tree.text = tree.text;
  for (std::size_t i = 0; i < tree.parameters.size(); ++i) {
    const PyKernelArg& node = tree.parameters[i];
    if (is_constexpr(node) && !dialect.entries.has_constexpr) continue;
    const bool is_folded = std::find(constants.begin(), constants.end(), i) != constants.end() ||
                           (dialect.entries.folds_constants && !node.value.empty());
    if (is_folded) out.constants.push_back(out.tree.parameters.size());
    out.tree.parameters.push_back(node);
  }
  for (const std::size_t index : constants) {
    // Left to the plan, which refuses it by its number.
    if (index >= tree.parameters.size()) out.constants.push_back(index);
  }
  return out;
}

/// All ways in which `count` descriptors may be passed: apart, by value, then mixed.
std::vector<std::vector<bool>> ways(std::size_t count, const DescriptorRules& rules) {
  std::vector<std::vector<bool>> out{{}};
  if (count == 0 || !rules.by_value || !rules.takes_meta) return out;
  out.emplace_back(count, true);
  if (rules.whole_meta || count > kMostMixed) return out;
  for (std::size_t mask = 1; mask + 1 < (std::size_t{1} << count); ++mask) {
    std::vector<bool> way(count);
    for (std::size_t i = 0; i < count; ++i) way[i] = ((mask >> i) & 1U) != 0;
    out.push_back(std::move(way));
  }
  return out;
}

std::vector<bool> passed_by_value(const Plan& plan) {
  std::vector<bool> out;
  for (const PlannedDescriptor& each : plan.descriptors) out.push_back(each.by_value);
  return out;
}

}  // namespace

Backend backend_of(Format format) {
  return format == Format::cubin || format == Format::ptx ? Backend::cuda : Backend::hip;
}

Verification verify(const Tree& tree, const Dialect& dialect, const KernelParameters& kernel,
                    const VerifyOptions& options) {
  const Entries entries = entries_for(tree, dialect, options.constants);
  const auto plan_with = [&](std::vector<bool> metas) {
    PlanOptions plan_options;
    plan_options.descriptor_metas = std::move(metas);
    plan_options.constants = entries.constants;
    return make_plan(entries.tree, dialect, plan_options);
  };
  Plan plan = plan_with(options.descriptors.value_or(std::vector<bool>()));
  Verification best;
  best.right_backend = backend_of(kernel.format) == dialect.backend;
  best.call = call_text(kernel.kernel, plan);
  best.comparison = compare(plan, kernel);
  best.descriptors = passed_by_value(plan);
  if (options.descriptors) return best;
  // Where nothing fits, the way that fits longest says most.
  for (const std::vector<bool>& way : ways(plan.descriptors.size(), dialect.descriptors)) {
    if (best.comparison.fits()) return best;
    if (way.empty()) continue;
    plan = plan_with(way);
    Comparison comparison = compare(plan, kernel);
    if (comparison.difference <= best.comparison.difference) continue;  // kNone is the largest
    best.comparison = std::move(comparison);
    best.descriptors = passed_by_value(plan);
  }
  return best;
}

std::string describe(const Verification& verification, const Dialect& dialect,
                     const KernelParameters& kernel) {
  if (verification.right_backend) return describe_difference(verification.comparison);
  return "it is compiled for " + std::string(backend_name(backend_of(kernel.format))) + ", and " +
         std::string(dialect.name) + " launches on " + std::string(backend_name(dialect.backend));
}

}  // namespace relaunch::binary
