// The structs of the C interface as callers of ABI version 1 compiled them: compiling is the proof.

#include <relaunch/relaunch.h>

#include <cstddef>

static_assert(RELAUNCH_ABI_VERSION == 1);

#define RELAUNCH_AT(type, field, offset) static_assert(offsetof(type, field) == (offset))

RELAUNCH_AT(relaunch_error, size, 0);
RELAUNCH_AT(relaunch_error, status, 4);
RELAUNCH_AT(relaunch_error, message, 8);
RELAUNCH_AT(relaunch_error, code, 16);
RELAUNCH_AT(relaunch_error, span_begin, 24);
RELAUNCH_AT(relaunch_error, span_end, 32);
RELAUNCH_AT(relaunch_error, driver_status, 40);
static_assert(sizeof(relaunch_error) == 48);

RELAUNCH_AT(relaunch_options, size, 0);
RELAUNCH_AT(relaunch_options, scheduling, 4);
RELAUNCH_AT(relaunch_options, dialect, 8);
RELAUNCH_AT(relaunch_options, name, 16);
RELAUNCH_AT(relaunch_options, driver, 24);
RELAUNCH_AT(relaunch_options, function, 32);
RELAUNCH_AT(relaunch_options, num_warps, 40);
RELAUNCH_AT(relaunch_options, num_ctas, 44);
RELAUNCH_AT(relaunch_options, shared, 48);
RELAUNCH_AT(relaunch_options, warp_size, 52);
RELAUNCH_AT(relaunch_options, cluster, 56);
RELAUNCH_AT(relaunch_options, preferred_cluster, 68);
RELAUNCH_AT(relaunch_options, cooperative, 80);
RELAUNCH_AT(relaunch_options, pdl, 84);
RELAUNCH_AT(relaunch_options, non_portable_cluster, 88);
RELAUNCH_AT(relaunch_options, tensordesc_meta, 92);
static_assert(sizeof(relaunch_options) == 96);

RELAUNCH_AT(relaunch_plan, size, 0);
RELAUNCH_AT(relaunch_plan, parameter_count, 4);
RELAUNCH_AT(relaunch_plan, argument_count, 8);
RELAUNCH_AT(relaunch_plan, packed_bytes, 12);
RELAUNCH_AT(relaunch_plan, kernel_bytes, 16);
RELAUNCH_AT(relaunch_plan, dialect, 24);
RELAUNCH_AT(relaunch_plan, name, 32);
RELAUNCH_AT(relaunch_plan, signature, 40);
static_assert(sizeof(relaunch_plan) == 48);

RELAUNCH_AT(relaunch_parameter, size, 0);
RELAUNCH_AT(relaunch_parameter, hidden, 4);
RELAUNCH_AT(relaunch_parameter, name, 8);
RELAUNCH_AT(relaunch_parameter, type, 16);
RELAUNCH_AT(relaunch_parameter, position, 24);
RELAUNCH_AT(relaunch_parameter, slot_offset, 28);
RELAUNCH_AT(relaunch_parameter, slot_size, 32);
RELAUNCH_AT(relaunch_parameter, kernel_offset, 36);
RELAUNCH_AT(relaunch_parameter, kernel_size, 40);
RELAUNCH_AT(relaunch_parameter, kernel_alignment, 44);
static_assert(sizeof(relaunch_parameter) == 48);

RELAUNCH_AT(relaunch_launch_config, size, 0);
RELAUNCH_AT(relaunch_launch_config, grid, 4);
RELAUNCH_AT(relaunch_launch_config, stream, 16);
RELAUNCH_AT(relaunch_launch_config, function, 24);
RELAUNCH_AT(relaunch_launch_config, global_scratch, 32);
RELAUNCH_AT(relaunch_launch_config, profile_scratch, 40);
static_assert(sizeof(relaunch_launch_config) == 48);
