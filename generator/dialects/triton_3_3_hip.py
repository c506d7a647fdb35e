"""Triton 3.3 on HIP: tuples, constexpr entries, cooperative launches, a null pointer for global scratch."""

from __future__ import annotations

from dataclasses import replace

from relaunch.generator.dialects import calls, scalars
from relaunch.generator.dialects.triton_3_2_hip import FACTS as BEFORE
from relaunch.generator.facts import Hidden, Way

FACTS = replace(
    BEFORE,
    dialect="triton-3.3-hip",
    releases=("3.3",),
    recorded="3.3.1",
    types=scalars.C_FLOATS,
    prefix=(calls.COOPERATIVE, *calls.GRID, *calls.TARGET, calls.KERNEL_METADATA, *calls.HOOKS),
    hidden=(Hidden("global_scratch", "hipDeviceptr_t", 8, "NULL"),),
    folds_constants=False,
    tuples=True,
    launch=replace(
        BEFORE.launch,
        ways=(Way("hipModuleLaunchCooperativeKernel", "cooperative != 0"), Way("hipModuleLaunchKernel")),
    ),
    pointers=replace(BEFORE.pointers, index="flattened"),
    module=replace(
        BEFORE.module,
        functions=(
            "hipGetErrorString",
            "hipModuleLaunchKernel",
            "hipModuleLaunchCooperativeKernel",
            "hipPointerGetAttribute",
        ),
    ),
)
