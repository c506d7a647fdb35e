"""Triton 3.8 and 3.9 on CUDA: descriptors inside tuples, im2col, an attribute for oversized shared memory."""

from __future__ import annotations

from dataclasses import replace

from relaunch.generator.dialects import attributes, faults
from relaunch.generator.dialects.triton_3_7_cuda import FACTS as BEFORE
from relaunch.generator.facts import Way

FACTS = replace(
    BEFORE,
    dialect="triton-3.9-cuda",
    releases=("3.8", "3.9"),
    recorded="3.9.0",
    descriptor=replace(BEFORE.descriptor, inside_tuples=True, im2col=True, one_flag=True),
    launch=replace(
        BEFORE.launch,
        ways=(Way("cuLaunchKernelEx", attributes=(attributes.OVERSIZED_SHARED, *BEFORE.launch.ways[0].attributes)),),
    ),
    faults=(*BEFORE.faults, faults.FIVE_ATTRIBUTES),
)
