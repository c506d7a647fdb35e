"""Triton 3.3 on CUDA: tuples, constexpr entries, cooperative launches, global scratch."""

from __future__ import annotations

from dataclasses import replace

from relaunch.generator.dialects import attributes, calls, scalars
from relaunch.generator.dialects.triton_3_2_cuda import FACTS as BEFORE
from relaunch.generator.facts import Step, Way

FACTS = replace(
    BEFORE,
    dialect="triton-3.3-cuda",
    releases=("3.3",),
    recorded="3.3.1",
    types={**scalars.C_FLOATS, "nvTmaDesc": BEFORE.types["nvTmaDesc"]},
    prefix=(
        *calls.GRID,
        *calls.TARGET,
        calls.COOPERATIVE,
        calls.GLOBAL_SCRATCH,
        calls.KERNEL_METADATA,
        *calls.HOOKS,
    ),
    scratch=("global_scratch",),
    hidden=(calls.scratch("global_scratch", "CUdeviceptr", calls.PER_BLOCK),),
    folds_constants=False,
    tuples=True,
    launch=replace(
        BEFORE.launch,
        ways=(
            Way("cuLaunchKernel", "num_ctas == 1 && cooperative == 0"),
            Way(
                "cuLaunchKernelEx",
                attributes=(attributes.CLUSTER_OF_METADATA, attributes.SPREAD, attributes.COOPERATIVE),
            ),
        ),
    ),
    pointers=replace(BEFORE.pointers, index="flattened"),
    steps=(Step.CONTEXT, *calls.PARSED, Step.SCRATCH, Step.POINTERS, Step.DESCRIPTORS, *calls.CHECKED_FIRST),
)
