#pragma once
// The pieces that rows of dialect.cpp are put together from. Each is named after the first release
// that has it.

#include <array>
#include <cstdint>

#include "precompiled/core/dialect.hpp"

namespace relaunch::pieces {

// Entries of a signature.
inline constexpr EntryRules kEntries30 = {
    .has_constexpr = false, .has_tuples = false, .folds_constants = true};
inline constexpr EntryRules kEntries33 = {
    .has_constexpr = true, .has_tuples = true, .folds_constants = false};

// Conversions: 3.0 to 3.3 pass bools as C ints and floats as C floats, 3.4 bools alone, 3.5 and 3.6
// everything in its own width. From 3.7 on the launcher is no longer generated.
inline constexpr std::array kConversions30 = {
    ConversionRule{Type::i1, Op::wide_i1, Op::wide_i1},
    ConversionRule{Type::u1, Op::wide_u1, Op::wide_checked_u1},
    ConversionRule{Type::fp16, Op::wide_fp16, Op::wide_fp16},
    ConversionRule{Type::bf16, Op::wide_bf16, Op::wide_rounded_bf16},
};
inline constexpr std::array kConversions34 = {
    ConversionRule{Type::i1, Op::wide_i1, Op::wide_i1},
    ConversionRule{Type::u1, Op::wide_u1, Op::wide_checked_u1},
};
inline constexpr std::array kConversions37 = {
    ConversionRule{Type::i1, Op::long_i1, Op::long_i1},
    ConversionRule{Type::u1, Op::long_u1, Op::strict_u1},
    ConversionRule{Type::u8, Op::long_u8, Op::strict_u8},
    ConversionRule{Type::u16, Op::long_u16, Op::strict_u16},
    ConversionRule{Type::u32, Op::long_u32, Op::strict_u32},
    ConversionRule{Type::u64, Op::long_u64, Op::long_u64},
    ConversionRule{Type::fp16, Op::ranged_fp16, Op::ranged_fp16},
};

// Hidden parameters.
inline constexpr HiddenParameter kGlobalScratch = {HiddenKind::global_scratch, "global_scratch", 8,
                                                   8};
inline constexpr HiddenParameter kNullGlobalScratch = {HiddenKind::null, "global_scratch", 8, 8};
inline constexpr HiddenParameter kProfileScratch = {HiddenKind::profile_scratch, "profile_scratch",
                                                    8, 8};
inline constexpr std::array kGlobal = {kGlobalScratch};
inline constexpr std::array kNull = {kNullGlobalScratch};
inline constexpr std::array kGlobalAndProfile = {kGlobalScratch, kProfileScratch};
inline constexpr std::array kNullAndProfile = {kNullGlobalScratch, kProfileScratch};
inline constexpr HiddenSection kHiddenNone = {0, {}};
inline constexpr HiddenSection kHiddenCuda33 = {1, kGlobal};
inline constexpr HiddenSection kHiddenCuda35 = {2, kGlobalAndProfile};
inline constexpr HiddenSection kHiddenHip33 = {1, kNull};
inline constexpr HiddenSection kHiddenHip35 = {2, kNullAndProfile};
inline constexpr HiddenSection kHiddenHip39 = kHiddenCuda35;

// What happens after the enter hook.
inline constexpr std::array kIntakeCuda30 = {IntakeStage::scratch, IntakeStage::pointers,
                                             IntakeStage::descriptors, IntakeStage::halves};
inline constexpr std::array kIntakeHip30 = {IntakeStage::scratch, IntakeStage::pointers,
                                            IntakeStage::halves};
inline constexpr std::array kIntakeHip34 = {IntakeStage::scratch, IntakeStage::pointers};
inline constexpr std::array kIntakeHip36 = {IntakeStage::scratch, IntakeStage::descriptors,
                                            IntakeStage::pointers, IntakeStage::halves};
inline constexpr std::array kIntake37 = {IntakeStage::flat_order, IntakeStage::scratch};

// Attributes. A release that has no preferred clusters sets them last, as those that have them do.
inline constexpr std::array kAttributesCuda30 = {AttributeKind::cluster_dimension,
                                                 AttributeKind::cluster_scheduling};
inline constexpr std::array kAttributesCuda33 = {AttributeKind::cluster_dimension,
                                                 AttributeKind::cluster_scheduling,
                                                 AttributeKind::cooperative};
inline constexpr std::array kAttributesCuda34 = {
    AttributeKind::programmatic_serialization, AttributeKind::cooperative,
    AttributeKind::cluster_dimension, AttributeKind::cluster_scheduling,
    AttributeKind::preferred_cluster};
inline constexpr std::array kAttributesCuda39 = {
    AttributeKind::oversize_shared,    AttributeKind::programmatic_serialization,
    AttributeKind::cooperative,        AttributeKind::cluster_dimension,
    AttributeKind::cluster_scheduling, AttributeKind::preferred_cluster};
inline constexpr std::array kAttributesHip36 = {AttributeKind::cluster_dimension,
                                                AttributeKind::cooperative_flag};

// Driver calls.
inline constexpr DriverRules kCallsCuda30 = {
    ContextRule::none, LaunchFunction::plain_without_attributes, QueryRule::strict};
inline constexpr DriverRules kCallsCuda32 = {
    ContextRule::ensure, LaunchFunction::plain_without_attributes, QueryRule::strict};
inline constexpr DriverRules kCallsCuda34 = {ContextRule::ensure, LaunchFunction::extended,
                                             QueryRule::strict};
inline constexpr DriverRules kCallsHip30 = {ContextRule::none, LaunchFunction::extended,
                                            QueryRule::strict};
inline constexpr DriverRules kCallsHip35 = {ContextRule::none, LaunchFunction::extended,
                                            QueryRule::clears_error};
inline constexpr DriverRules kCallsHip37 = {ContextRule::none, LaunchFunction::extended,
                                            QueryRule::ignores_other_errors};

// 227 KiB of shared memory are a block's on sm_90; above 228 KiB the mode must allow more.
inline constexpr std::int32_t kMostShared39 = 228 * 1024;
inline constexpr std::int32_t kAnyShared = INT32_MAX;

// CUDA drivers take as much since CUDA 12.1; what older ones take is the driver's own check. A HIP
// kernel argument segment has no smaller documented bound.
inline constexpr std::uint32_t kParameterLimit = 32764;

}  // namespace relaunch::pieces
