#include "precompiled/core/dialect.hpp"

#include <algorithm>
#include <array>

namespace relaunch {
namespace {

constexpr std::array kHidden2Cuda = {
    HiddenParameter{HiddenKind::global_scratch, "global_scratch", 8, 8},
    HiddenParameter{HiddenKind::profile_scratch, "profile_scratch", 8, 8},
};
constexpr std::array kHidden2Hip = {
    HiddenParameter{HiddenKind::null, "global_scratch", 8, 8},
    HiddenParameter{HiddenKind::profile_scratch, "profile_scratch", 8, 8},
};

constexpr std::array kCudaAttributes = {
    AttributeKind::programmatic_serialization, AttributeKind::cooperative,
    AttributeKind::cluster_dimension,          AttributeKind::cluster_scheduling,
    AttributeKind::preferred_cluster,
};
constexpr std::array kHipAttributes = {
    AttributeKind::cluster_dimension,
    AttributeKind::cooperative_flag,
};

constexpr std::array kCudaIntake = {
    IntakeStage::scratch,
    IntakeStage::pointers,
    IntakeStage::descriptors,
    IntakeStage::halves,
};
constexpr std::array kHipIntake = {
    IntakeStage::scratch,
    IntakeStage::descriptors,
    IntakeStage::pointers,
    IntakeStage::halves,
};

// CUDA drivers take as much since CUDA 12.1; what older ones take is the driver's own check. A HIP
// kernel argument segment has no smaller documented bound.
constexpr std::uint32_t kParameterLimit = 32764;

constexpr std::array kDialects = {
    Dialect{
        .name = "triton-3.6-cuda",
        .backend = Backend::cuda,
        .slot_widths = {},
        .hidden = {2, kHidden2Cuda},
        .attributes = kCudaAttributes,
        .intake = kCudaIntake,
        .grid = GridRule::x_times_num_ctas,
        .context = ContextRule::ensure,
        .gil = GilRule::released,
        .metadata = MetadataForm::warps_ctas_shared,
        .metadata_errors = MetadataErrors::one_type_error,
        .has_pdl = true,
        .clusters = ClusterRule::unless_one,
        .non_portable_num_ctas = 16,
        .warp_size = 32,
        .warp_size_is_option = false,
        .descriptors = descriptors::kCuda35,
        .parameter_limit = kParameterLimit,
        .driver = "libcuda.so.1 libcuda.so",
    },
    Dialect{
        .name = "triton-3.6-hip",
        .backend = Backend::hip,
        .slot_widths = {},
        .hidden = {2, kHidden2Hip},
        .attributes = kHipAttributes,
        .intake = kHipIntake,
        .grid = GridRule::x_times_num_ctas,
        .context = ContextRule::none,
        .gil = GilRule::held,
        .metadata = MetadataForm::warps_ctas_shared,
        .metadata_errors = MetadataErrors::as_found,
        .has_pdl = false,
        .clusters = ClusterRule::above_one,
        .non_portable_num_ctas = 0,
        .warp_size = 64,
        .warp_size_is_option = true,
        .descriptors = descriptors::kHip36,
        .parameter_limit = kParameterLimit,
        .driver = "libamdhip64.so libamdhip64.so.7 libamdhip64.so.6 libamdhip64.so.5",
    },
};

bool is_digits(std::string_view text) {
  return !text.empty() &&
         std::all_of(text.begin(), text.end(), [](char c) { return c >= '0' && c <= '9'; });
}

/// `triton-3.6.0-cuda` -> `triton-3.6-cuda`; anything else as it is.
std::string without_patch(std::string_view name) {
  const std::size_t last_dash = name.rfind('-');
  const std::size_t last_dot = name.rfind('.', last_dash);
  if (last_dash == std::string_view::npos || last_dot == std::string_view::npos) {
    return std::string(name);
  }
  const std::string_view release = name.substr(0, last_dot);
  const bool has_patch = release.find('.') != std::string_view::npos &&
                         is_digits(name.substr(last_dot + 1, last_dash - last_dot - 1));
  if (!has_patch) return std::string(name);
  return std::string(release) + std::string(name.substr(last_dash));
}

}  // namespace

std::string_view backend_name(Backend backend) { return backend == Backend::cuda ? "CUDA" : "HIP"; }

std::span<const Dialect> all_dialects() { return kDialects; }

const Dialect* find_dialect(std::string_view name) {
  const std::string wanted = without_patch(name);
  for (const Dialect& dialect : kDialects) {
    if (dialect.name == wanted) return &dialect;
  }
  return nullptr;
}

std::uint32_t slot_size(const Dialect& dialect, Type type) {
  for (const SlotWidth& width : dialect.slot_widths) {
    if (width.type == type) return width.bytes;
  }
  return parameter_size(dialect, type);
}

std::uint32_t parameter_size(const Dialect& dialect, Type type) {
  return type == dialect.descriptors.by_value ? dialect.descriptors.bytes : info(type).size;
}

}  // namespace relaunch
