"""Triton 3.4 on CUDA: tensor descriptors, floats packed from doubles, PDL, cuLaunchKernelEx for every launch."""

from __future__ import annotations

from dataclasses import replace

from relaunch.generator.dialects import attributes, calls, faults, scalars
from relaunch.generator.dialects.triton_3_3_cuda import FACTS as BEFORE
from relaunch.generator.facts import Step, Way

_REMOVED = (faults.HALF_OF_A_FLOAT, faults.LEAKED_RESULTS)

FACTS = replace(
    BEFORE,
    dialect="triton-3.4-cuda",
    releases=("3.4",),
    recorded="3.4.0",
    types={**scalars.WIDE_BOOLEANS, "nvTmaDesc": BEFORE.types["nvTmaDesc"]},
    prefix=(
        *calls.GRID,
        *calls.TARGET,
        calls.COOPERATIVE,
        calls.PDL,
        calls.GLOBAL_SCRATCH,
        calls.KERNEL_METADATA,
        *calls.HOOKS,
    ),
    hidden=(calls.scratch("global_scratch", "CUdeviceptr", f"{calls.PER_BLOCK} * cluster_x * cluster_y * cluster_z"),),
    descriptor=replace(
        BEFORE.descriptor,
        expanded=True,
        metadata=True,
        found_by="class",
        last_stride_is_one=True,
        encode_error="short",
    ),
    launch=replace(
        BEFORE.launch,
        ways=(
            Way(
                "cuLaunchKernelEx",
                attributes=(
                    attributes.PDL,
                    attributes.COOPERATIVE,
                    attributes.CLUSTER_OF_METADATA,
                    attributes.SPREAD,
                ),
            ),
        ),
    ),
    hooks=replace(BEFORE.hooks, leaks=False),
    steps=(
        Step.CONTEXT,
        *calls.PARSED,
        Step.SCRATCH,
        Step.POINTERS,
        Step.DESCRIPTORS,
        Step.PACKING,
        *calls.CHECKED_FIRST,
    ),
    module=replace(
        BEFORE.module, functions=tuple(name for name in BEFORE.module.functions if name != "cuLaunchKernel")
    ),
    faults=(
        *(fault for fault in BEFORE.faults if fault not in _REMOVED),
        faults.FP16_OVERFLOW,
        faults.LEAKED_POINTERS,
    ),
)
