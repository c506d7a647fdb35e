#pragma once
// Tensor descriptors as plain data: what becomes of them in a signature, release by release, and
// what the driver is asked for to make one that a kernel takes by value.

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "precompiled/core/tree.hpp"
#include "precompiled/core/types.hpp"

namespace relaunch {

/// What a descriptor taken apart says in an `i1` behind its first shape and strides.
enum class DescriptorFlag : std::uint8_t { padding_is_nan, round_f32_to_tf32 };

/// What a release does with descriptors. Code reads these fields; it never asks for a release.
struct DescriptorRules {
  std::optional<Type> by_value = {};  // the parameter that holds a whole descriptor
  std::uint32_t bytes = 0;            // of that parameter, on the host and in the kernel
  bool by_address = false;  // any object that says where its bytes lie; else one of a known type
  bool expands = false;     // `tensordesc<...>` stands for several entries
  bool takes_meta =
      false;  // where there is metadata, by_value takes the place of pointer and flags
  bool whole_meta =
      false;  // metadata is there for all descriptors or none; else for each by itself
  bool passes_padded_shape = false;  // under fp4_padded the kernel gets the last size doubled
  bool in_tuples = false;            // those inside tuples expand too
  bool has_im2col = false;           // `tensordesc_im2col<...>`
  std::span<const DescriptorFlag> flags = {};
};

namespace descriptors {

inline constexpr std::array kPaddingFlag = {DescriptorFlag::padding_is_nan};
inline constexpr std::array kBothFlags = {DescriptorFlag::padding_is_nan,
                                          DescriptorFlag::round_f32_to_tf32};
inline constexpr std::uint32_t kMapBytes = 128;
inline constexpr std::uint32_t kTdmBytes36 = 48;
inline constexpr std::uint32_t kTdmBytes37 = 80;

/// 3.0, and HIP to 3.3.
inline constexpr DescriptorRules kNone = {};
/// CUDA 3.2 and 3.3: tensor maps that the caller made.
inline constexpr DescriptorRules kCuda32 = {
    .by_value = Type::nv_tma_desc, .bytes = kMapBytes, .by_address = true};
inline constexpr DescriptorRules kCuda34 = {.by_value = Type::nv_tma_desc,
                                            .bytes = kMapBytes,
                                            .by_address = true,
                                            .expands = true,
                                            .takes_meta = true};
/// CUDA 3.5 and 3.6.
inline constexpr DescriptorRules kCuda35 = {.by_value = Type::nv_tma_desc,
                                            .bytes = kMapBytes,
                                            .expands = true,
                                            .takes_meta = true,
                                            .passes_padded_shape = true,
                                            .flags = kPaddingFlag};
inline constexpr DescriptorRules kCuda37 = {.by_value = Type::nv_tma_desc,
                                            .bytes = kMapBytes,
                                            .expands = true,
                                            .takes_meta = true,
                                            .flags = kBothFlags};
/// CUDA 3.8 and 3.9.
inline constexpr DescriptorRules kCuda38 = {.by_value = Type::nv_tma_desc,
                                            .bytes = kMapBytes,
                                            .expands = true,
                                            .takes_meta = true,
                                            .whole_meta = true,
                                            .in_tuples = true,
                                            .has_im2col = true,
                                            .flags = kBothFlags};
inline constexpr DescriptorRules kHip34 = {.expands = true};
inline constexpr DescriptorRules kHip35 = {.expands = true, .flags = kPaddingFlag};
inline constexpr DescriptorRules kHip36 = {.by_value = Type::tdm_desc,
                                           .bytes = kTdmBytes36,
                                           .expands = true,
                                           .takes_meta = true,
                                           .flags = kPaddingFlag};
inline constexpr DescriptorRules kHip37 = {.by_value = Type::tdm_desc,
                                           .bytes = kTdmBytes37,
                                           .expands = true,
                                           .takes_meta = true,
                                           .flags = kBothFlags};
/// HIP 3.8 and 3.9.
inline constexpr DescriptorRules kHip38 = {.by_value = Type::tdm_desc,
                                           .bytes = kTdmBytes37,
                                           .expands = true,
                                           .takes_meta = true,
                                           .whole_meta = true,
                                           .in_tuples = true,
                                           .has_im2col = true,
                                           .flags = kBothFlags};

}  // namespace descriptors

/// Whether the node is a `tensordesc<...>` or an im2col one.
bool is_descriptor(const PyKernelArg& node);

/// Whether it is one or has one inside, at any depth.
bool has_descriptors(const PyKernelArg& node);

/// The types that a descriptor expands to, canonical spelling, in order.
std::vector<std::string> expand_descriptor(const DescriptorRules& rules,
                                           const DescriptorType& descriptor, bool by_value);

}  // namespace relaunch
