// Signature text to tree to launcher, and what a launcher says about itself.

#include <algorithm>
#include <array>
#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "capi/failure.hpp"
#include "capi/launcher.hpp"
#include "capi/structs.hpp"
#include "migrate/parse.hpp"
#include "precompiled/core/dialect.hpp"

namespace relaunch::capi {
namespace {

const Dialect& dialect_named(const char* name) {
  if (name == nullptr) throw BindError("options.dialect is null: name one, as triton-3.6-cuda");
  if (const Dialect* dialect = find_dialect(name)) return *dialect;
  throw BindError(unknown_dialect(name));
}

std::optional<Dims> dims(const std::uint32_t (&given)[3]) {
  if (given[0] == 0 && given[1] == 0 && given[2] == 0) return std::nullopt;
  return Dims{given[0], given[1], given[2]};
}

std::optional<Scheduling> scheduling(std::uint32_t given) {
  switch (given) {
    case RELAUNCH_SCHEDULING_UNSET: return std::nullopt;
    case RELAUNCH_SCHEDULING_DEFAULT: return Scheduling::driver_default;
    case RELAUNCH_SCHEDULING_SPREAD: return Scheduling::spread;
    case RELAUNCH_SCHEDULING_LOAD_BALANCING: return Scheduling::load_balancing;
    default: break;
  }
  throw BindError("options.scheduling: expected a relaunch_scheduling, got " +
                  std::to_string(given));
}

/// Zero stands for the default: it is no valid value of an option that goes through here.
std::int32_t number(std::int32_t given, std::int32_t otherwise) {
  return given == 0 ? otherwise : given;
}

void set_launch(relaunch_launcher& launcher, const relaunch_options& given) {
  const Dialect& dialect = *launcher.dialect;
  const std::int32_t lanes = number(given.warp_size, static_cast<std::int32_t>(dialect.warp_size));
  const LaunchOptions options{
      .cooperative = given.cooperative != 0,
      .pdl = given.pdl != 0,
      .warp_size = static_cast<std::uint32_t>(std::max(0, lanes)),
      .cluster = dims(given.cluster),
      .preferred_cluster = dims(given.preferred_cluster),
      .scheduling = scheduling(given.scheduling),
      .non_portable_cluster = given.non_portable_cluster != 0,
  };
  const Geometry given_geometry{.num_warps = number(given.num_warps, 4),
                                .num_ctas = number(given.num_ctas, 1),
                                .shared = given.shared};
  check_options(dialect, options, given_geometry);
  launcher.configuration = configure(dialect, *launcher.driver, options,
                                     make_geometry(dialect, options, given_geometry));
  const Geometry& geometry = launcher.configuration.geometry;
  launcher.call = {
      .grid = {},
      .block = options.warp_size * static_cast<std::uint32_t>(geometry.num_warps),
      .shared = static_cast<std::uint32_t>(geometry.shared),
      .stream = 0,
      .attributes = &launcher.configuration.attributes,
      .attribute_count = launcher.configuration.attributes.count,
      .function = reinterpret_cast<std::uint64_t>(given.function),
      .parameters = nullptr,
  };
}

/// Whether the slots lie eight bytes apart: no parameter is larger.
bool has_word_slots(const Plan& plan) {
  std::uint32_t expected = 0;
  return std::all_of(plan.slot_offsets.begin(), plan.slot_offsets.end(),
                     [&expected](std::uint32_t offset) {
                       return offset == std::exchange(expected, expected + 8);
                     });
}

void set_hidden(relaunch_launcher& launcher) {
  const auto section = launcher.dialect->hidden.parameters;
  constexpr std::size_t kGlobal = offsetof(relaunch_launch_config, global_scratch);
  constexpr std::size_t kProfile = offsetof(relaunch_launch_config, profile_scratch);
  if (section.size() > relaunch_launcher::kMostHidden) {
    throw BindError(std::string(launcher.dialect->name) + " has more hidden parameters than known");
  }
  for (std::size_t i = 0; i < section.size(); ++i) {
    switch (section[i].kind) {
      case HiddenKind::null: launcher.hidden_at[i] = relaunch_launcher::kNull; break;
      case HiddenKind::global_scratch: launcher.hidden_at[i] = kGlobal; break;
      case HiddenKind::profile_scratch: launcher.hidden_at[i] = kProfile; break;
    }
  }
  launcher.hidden = static_cast<std::uint32_t>(section.size());
  launcher.arguments = static_cast<std::uint32_t>(launcher.plan.parameters.size() - section.size());
  if (launcher.arguments > 0) {
    const Parameter& last = launcher.plan.parameters[launcher.arguments - 1];
    launcher.packed_bytes = last.slot_offset + last.slot_size;
  }
  const GridScale& scale = launcher.configuration.scale;
  launcher.most = scale.most;
  const bool scales = scale.factors != GridScale{}.factors;
  const bool is_usual = launcher.hidden_at == std::array{kGlobal, kProfile} &&
                        launcher.arguments <= relaunch_launcher::kUsualArguments &&
                        has_word_slots(launcher.plan) && !launcher.configuration.non_portable &&
                        !scales;
  launcher.usual_size = is_usual ? sizeof(relaunch_launch_config) : 0;
}

std::size_t count_descriptors(const std::vector<PyKernelArg>& nodes) {
  std::size_t count = 0;
  for (const PyKernelArg& node : nodes) {
    count += is_descriptor(node) ? 1 : 0;
    count += count_descriptors(node.nested_tuple);
  }
  return count;
}

std::unique_ptr<relaunch_launcher> bind(const Tree& tree, const relaunch_options& options) {
  auto launcher = std::make_unique<relaunch_launcher>();
  launcher->dialect = &dialect_named(options.dialect);
  const Dialect& dialect = *launcher->dialect;
  launcher->dialect_name = dialect.name;
  launcher->name = options.name != nullptr ? options.name : "kernel";
  const std::size_t metas = options.tensordesc_meta != 0 ? count_descriptors(tree.parameters) : 0;
  launcher->plan = make_plan(tree, dialect, {.descriptor_metas = std::vector<bool>(metas, true)});
  std::optional<std::string> path;
  if (options.driver != nullptr) path = options.driver;
  launcher->driver = &Driver::open(dialect, path);
  launcher->driver->check_parameter_bytes(launcher->plan.parameter_bytes,
                                          call_text(launcher->name, launcher->plan));
  set_launch(*launcher, options);
  set_hidden(*launcher);
  return launcher;
}

/// The error of a text that cannot be read, its span in the text that was given.
Failure unreadable(const migrate::Parsed& parsed) {
  const migrate::Diagnostic& error = parsed.error();
  const Span span = parsed.origin ? parsed.origin->source_of(error.span) : error.span;
  return {RELAUNCH_ERROR_SIGNATURE, error.message, error.code, span};
}

}  // namespace
}  // namespace relaunch::capi

using namespace relaunch;
using namespace relaunch::capi;

uint32_t relaunch_abi_version(void) { return RELAUNCH_ABI_VERSION; }

relaunch_status relaunch_parse(const char* text, size_t length, relaunch_tree** tree) {
  return guarded([=] {
    require(text, "text");
    require(tree, "tree");
    migrate::Parsed parsed = migrate::parse({text, length});
    if (!parsed.ok()) return keep(unreadable(parsed));
    std::string line = dump(parsed.tree);
    *tree = new relaunch_tree{std::move(parsed.tree), std::move(line)};
    return RELAUNCH_OK;
  });
}

void relaunch_tree_free(relaunch_tree* tree) { delete tree; }

const char* relaunch_tree_text(const relaunch_tree* tree) {
  return tree != nullptr ? tree->text.c_str() : nullptr;
}

relaunch_status relaunch_bind(const relaunch_tree* tree, const relaunch_options* options,
                              relaunch_launcher** launcher) {
  return guarded([=] {
    require(tree, "tree");
    require(launcher, "launcher");
    *launcher = bind(tree->tree, read(options, "options")).release();
    return RELAUNCH_OK;
  });
}

void relaunch_launcher_free(relaunch_launcher* launcher) { delete launcher; }

relaunch_status relaunch_describe(const relaunch_launcher* launcher, relaunch_plan* plan) {
  return guarded([=] {
    require(launcher, "launcher");
    require_struct(plan, "plan");
    fill(plan, {.size = sizeof(relaunch_plan),
                .parameter_count = static_cast<std::uint32_t>(launcher->plan.parameters.size()),
                .argument_count = launcher->arguments,
                .packed_bytes = launcher->packed_bytes,
                .kernel_bytes = launcher->plan.parameter_bytes,
                .reserved = 0,
                .dialect = launcher->dialect_name.c_str(),
                .name = launcher->name.c_str(),
                .signature = launcher->plan.signature.c_str()});
    return RELAUNCH_OK;
  });
}

relaunch_status relaunch_describe_parameter(const relaunch_launcher* launcher, size_t index,
                                            relaunch_parameter* parameter) {
  return guarded([=] {
    require(launcher, "launcher");
    require_struct(parameter, "parameter");
    const Plan& plan = launcher->plan;
    if (index >= plan.parameters.size()) {
      throw ArgumentError("index " + std::to_string(index) + ": " +
                          call_text(launcher->name, plan) + " has " +
                          std::to_string(plan.parameters.size()) + " parameters");
    }
    const Parameter& own = plan.parameters[index];
    const bool is_hidden = own.leaf == kNoLeaf;
    fill(parameter, {.size = sizeof(relaunch_parameter),
                     .hidden = is_hidden ? 1U : 0U,
                     .name = own.name.c_str(),
                     .type = is_hidden ? "*i8" : plan.leaves[own.leaf].type.c_str(),
                     .position = is_hidden ? 0U : own.leaf + 1,
                     .slot_offset = own.slot_offset,
                     .slot_size = own.slot_size,
                     .kernel_offset = own.offset,
                     .kernel_size = own.size,
                     .kernel_alignment = own.alignment});
    return RELAUNCH_OK;
  });
}
