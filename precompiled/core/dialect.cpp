#include "precompiled/core/dialect.hpp"

#include <algorithm>
#include <array>

#include "precompiled/core/dialect_pieces.hpp"

namespace relaunch {
namespace {

using namespace pieces;

// One row per dialect: the first of a backend in full, each later one as the release before it with
// what it changed.

constexpr Dialect cuda_3_0() {
  return {
      .name = "triton-3.0-cuda",
      .backend = Backend::cuda,
      .entries = kEntries30,
      .conversions = kConversions30,
      .descriptors = descriptors::kNone,
      .hidden = kHiddenNone,
      .intake = kIntakeCuda30,
      .metadata = MetadataForm::warps_ctas_shared_clusters,
      .metadata_errors = MetadataErrors::one_type_error,
      .clusters = ClusterRule::unless_one,
      .grid = GridRule::times_cluster,
      .attributes = kAttributesCuda30,
      .has_cooperative = false,
      .has_pdl = false,
      .non_portable_num_ctas = 0,
      .most_shared = kAnyShared,
      .warp_size = 32,
      .warp_size_is_option = false,
      .calls = kCallsCuda30,
      .gil = GilRule::released,
      .parameter_limit = kParameterLimit,
      .driver = "libcuda.so.1 libcuda.so",
  };
}

constexpr Dialect cuda_3_2() {
  Dialect d = cuda_3_0();
  d.name = "triton-3.2-cuda";
  d.calls = kCallsCuda32;
  d.descriptors = descriptors::kCuda32;
  return d;
}

constexpr Dialect cuda_3_3() {
  Dialect d = cuda_3_2();
  d.name = "triton-3.3-cuda";
  d.entries = kEntries33;
  d.hidden = kHiddenCuda33;
  d.attributes = kAttributesCuda33;
  d.has_cooperative = true;
  return d;
}

constexpr Dialect cuda_3_4() {
  Dialect d = cuda_3_3();
  d.name = "triton-3.4-cuda";
  d.conversions = kConversions34;
  d.descriptors = descriptors::kCuda34;
  d.attributes = kAttributesCuda34;
  d.has_pdl = true;
  d.calls = kCallsCuda34;
  return d;
}

constexpr Dialect cuda_3_5() {
  Dialect d = cuda_3_4();
  d.name = "triton-3.5-cuda";
  d.conversions = {};
  d.descriptors = descriptors::kCuda35;
  d.hidden = kHiddenCuda35;
  return d;
}

constexpr Dialect cuda_3_6() {
  Dialect d = cuda_3_5();
  d.name = "triton-3.6-cuda";
  d.metadata = MetadataForm::warps_ctas_shared;
  d.grid = GridRule::x_times_num_ctas;
  d.non_portable_num_ctas = 16;
  return d;
}

constexpr Dialect cuda_3_7() {
  Dialect d = cuda_3_6();
  d.name = "triton-3.7-cuda";
  d.conversions = kConversions37;
  d.descriptors = descriptors::kCuda37;
  d.intake = kIntake37;
  d.metadata_errors = MetadataErrors::any_sequence;
  return d;
}

constexpr Dialect cuda_3_9() {
  Dialect d = cuda_3_7();
  d.name = "triton-3.9-cuda";
  d.descriptors = descriptors::kCuda38;
  d.attributes = kAttributesCuda39;
  d.most_shared = kMostShared39;
  return d;
}

constexpr Dialect hip_3_0() {
  return {
      .name = "triton-3.0-hip",
      .backend = Backend::hip,
      .entries = kEntries30,
      .conversions = kConversions30,
      .descriptors = descriptors::kNone,
      .hidden = kHiddenNone,
      .intake = kIntakeHip30,
      .metadata = MetadataForm::warps_ctas_shared_clusters,
      .metadata_errors = MetadataErrors::as_found,
      .clusters = ClusterRule::never,
      .grid = GridRule::as_given,
      .attributes = {},
      .has_cooperative = false,
      .has_pdl = false,
      .non_portable_num_ctas = 0,
      .most_shared = kAnyShared,
      .warp_size = 64,
      .warp_size_is_option = true,
      .calls = kCallsHip30,
      .gil = GilRule::held,
      .parameter_limit = kParameterLimit,
      .driver = "libamdhip64.so libamdhip64.so.7 libamdhip64.so.6 libamdhip64.so.5",
  };
}

constexpr Dialect hip_3_2() {
  Dialect d = hip_3_0();
  d.name = "triton-3.2-hip";
  return d;
}

constexpr Dialect hip_3_3() {
  Dialect d = hip_3_2();
  d.name = "triton-3.3-hip";
  d.entries = kEntries33;
  d.hidden = kHiddenHip33;
  d.has_cooperative = true;
  return d;
}

constexpr Dialect hip_3_4() {
  Dialect d = hip_3_3();
  d.name = "triton-3.4-hip";
  d.conversions = kConversions34;
  d.descriptors = descriptors::kHip34;
  d.intake = kIntakeHip34;
  return d;
}

constexpr Dialect hip_3_5() {
  Dialect d = hip_3_4();
  d.name = "triton-3.5-hip";
  d.conversions = {};
  d.descriptors = descriptors::kHip35;
  d.hidden = kHiddenHip35;
  d.calls = kCallsHip35;
  return d;
}

constexpr Dialect hip_3_6() {
  Dialect d = hip_3_5();
  d.name = "triton-3.6-hip";
  d.descriptors = descriptors::kHip36;
  d.intake = kIntakeHip36;
  d.metadata = MetadataForm::warps_ctas_shared;
  d.clusters = ClusterRule::above_one;
  d.grid = GridRule::x_times_num_ctas;
  d.attributes = kAttributesHip36;
  return d;
}

constexpr Dialect hip_3_7() {
  Dialect d = hip_3_6();
  d.name = "triton-3.7-hip";
  d.conversions = kConversions37;
  d.descriptors = descriptors::kHip37;
  d.calls = kCallsHip37;
  d.intake = kIntake37;
  d.metadata_errors = MetadataErrors::any_sequence;
  return d;
}

constexpr Dialect hip_3_9() {
  Dialect d = hip_3_7();
  d.name = "triton-3.9-hip";
  d.descriptors = descriptors::kHip38;
  d.hidden = kHiddenHip39;
  return d;
}

constexpr std::array kDialects = {
    cuda_3_0(), hip_3_0(), cuda_3_2(), hip_3_2(), cuda_3_3(), hip_3_3(), cuda_3_4(), hip_3_4(),
    cuda_3_5(), hip_3_5(), cuda_3_6(), hip_3_6(), cuda_3_7(), hip_3_7(), cuda_3_9(), hip_3_9(),
};

/// Releases whose launcher is that of another one.
struct Alias {
  std::string_view release;
  std::string_view same_as;
};
constexpr std::array kAliases = {Alias{"triton-3.1", "triton-3.0"},
                                 Alias{"triton-3.8", "triton-3.9"}};

/// What the options choose where a dialect has no rule of its own.
constexpr std::array kUsualRequests = {
    ConversionRule{Type::u1, Op::u1, Op::checked_u1},
    ConversionRule{Type::u8, Op::u8, Op::checked_u8},
    ConversionRule{Type::u16, Op::u16, Op::checked_u16},
    ConversionRule{Type::u32, Op::u32, Op::checked_u32},
    ConversionRule{Type::u64, Op::u64, Op::checked_u64},
    ConversionRule{Type::bf16, Op::bf16, Op::rounded_bf16},
};

const ConversionRule* find_rule(std::span<const ConversionRule> rules, Type type) {
  const auto found = std::find_if(rules.begin(), rules.end(),
                                  [type](const ConversionRule& rule) { return rule.type == type; });
  return found == rules.end() ? nullptr : &*found;
}

/// The first line of the type in conversions.def.
Op usual_op(Type type) {
  std::size_t i = 0;
  while (i < std::size(kConversions) && kConversions[i].type != type) ++i;
  return static_cast<Op>(i);
}

bool is_digits(std::string_view text) {
  return !text.empty() &&
         std::all_of(text.begin(), text.end(), [](char c) { return c >= '0' && c <= '9'; });
}

/// `triton-3.8.1-cuda` -> `triton-3.9-cuda`; what is no such name as it is.
std::string canonical(std::string_view name) {
  const std::size_t last_dash = name.rfind('-');
  if (last_dash == std::string_view::npos) return std::string(name);
  std::string_view release = name.substr(0, last_dash);
  const std::size_t last_dot = release.rfind('.');
  const bool has_patch = last_dot != std::string_view::npos &&
                         release.substr(0, last_dot).find('.') != std::string_view::npos &&
                         is_digits(release.substr(last_dot + 1));
  if (has_patch) release = release.substr(0, last_dot);
  for (const Alias& alias : kAliases) {
    if (release == alias.release) release = alias.same_as;
  }
  return std::string(release) + std::string(name.substr(last_dash));
}

}  // namespace

std::string_view backend_name(Backend backend) { return backend == Backend::cuda ? "CUDA" : "HIP"; }

std::span<const Dialect> all_dialects() { return kDialects; }

const Dialect* find_dialect(std::string_view name) {
  const std::string wanted = canonical(name);
  for (const Dialect& dialect : kDialects) {
    if (dialect.name == wanted) return &dialect;
  }
  return nullptr;
}

std::string unknown_dialect(std::string_view name) {
  std::string text = "unknown dialect '" + std::string(name) + "'; there are ";
  for (const Dialect& dialect : kDialects) {
    if (&dialect != kDialects.data()) text += ", ";
    text += dialect.name;
  }
  return text;
}

std::string scratch_refusal(const Dialect& dialect, std::string_view name) {
  const auto hidden = dialect.hidden.parameters;
  const bool is_null =
      std::any_of(hidden.begin(), hidden.end(),
                  [name](const HiddenParameter& parameter) { return parameter.name == name; });
  return std::string(dialect.name) + (is_null ? " passes a null " : " has no ") +
         std::string(name) + "; none can be given";
}

Op scalar_op(const Dialect& dialect, Type type, bool on_request) {
  for (const std::span<const ConversionRule> rules :
       {dialect.conversions, std::span<const ConversionRule>(kUsualRequests)}) {
    if (const ConversionRule* rule = find_rule(rules, type)) {
      return on_request ? rule->on_request : rule->usual;
    }
  }
  return usual_op(type);
}

bool takes_flat_order(const Dialect& dialect) {
  return std::find(dialect.intake.begin(), dialect.intake.end(), IntakeStage::flat_order) !=
         dialect.intake.end();
}

}  // namespace relaunch
