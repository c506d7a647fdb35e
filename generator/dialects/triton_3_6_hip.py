"""Triton 3.6 on HIP."""

from __future__ import annotations

from relaunch.generator.dialects.scalars import GRID, HOOKS, METADATA, SCALARS, TARGET
from relaunch.generator.facts import DescriptorFacts, Facts, Hidden, Intake, Positional, TypeFacts

_TDM_DESCRIPTOR = TypeFacts("PyObject *", "O", "TDMDescriptor", 48, Intake.DESCRIPTOR)

FACTS = Facts(
    dialect="triton-3.6-hip",
    backend="hip",
    types=SCALARS,
    pointer=TypeFacts("PyObject *", "O", "hipDeviceptr_t", 8, Intake.POINTER),
    prefix=(
        Positional("int", "p", "cooperative"),
        *GRID,
        *TARGET,
        Positional("PyObject *", "O", "profile_scratch"),
        *HOOKS,
    ),
    metadata=METADATA,
    scratch=("profile_scratch",),
    hidden=(
        Hidden("global_scratch", "hipDeviceptr_t", 8, "NULL"),
        Hidden("profile_scratch", "hipDeviceptr_t", 8, "profile_scratch_pointer.address"),
    ),
    descriptor=DescriptorFacts("tensordesc", _TDM_DESCRIPTOR, padding=("i1",)),
    fragments=(
        "fragments/hip_headers.c.j2",
        "fragments/hip_newer.c.j2",
        "fragments/hip_symbols.c.j2",
        "fragments/hip_status.c.j2",
        "fragments/data_ptr_name.c.j2",
        "fragments/hip_pointer.c.j2",
        "fragments/tdm_descriptor.c.j2",
        "fragments/packing.c.j2",
    ),
    launch="launch/hip_3_6.c.j2",
    steps=(
        "steps/arguments.c.j2",
        "steps/metadata.c.j2",
        "steps/enter_hook.c.j2",
        "steps/scratch.c.j2",
        "steps/tdm_descriptors.c.j2",
        "steps/pointers.c.j2",
        "steps/packing.c.j2",
        "steps/launch_hip.c.j2",
        "steps/exit_hook.c.j2",
        "steps/pending_error.c.j2",
    ),
    init=("init/hip_symbols.c.j2", "init/data_ptr_name.c.j2", "init/descriptor_type.c.j2"),
    constants={
        "descriptor_module": "triton.backends.amd.driver",
        "descriptor_type": "PyTDMDescriptor",
        "descriptor_offset": "16",
        "descriptor_words": "12",
        "hip_library": "libamdhip64.so",
        "hip_fallback_path": "libamdhip64.so",
        "hip_version": "70100000",
        "cluster_dimension_attribute": "4",
        "cooperative_attribute": "2",
    },
)
