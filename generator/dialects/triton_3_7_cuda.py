"""Triton 3.7 on CUDA: one native launcher for every signature, which converts the arguments itself, in order."""

from __future__ import annotations

from dataclasses import replace

from relaunch.generator.dialects import calls, faults, scalars
from relaunch.generator.dialects.triton_3_6_cuda import FACTS as BEFORE
from relaunch.generator.facts import MetadataFacts, Positional, Step

_REMOVED = (
    faults.NEGATIVE_I8,
    faults.MASKED,
    faults.FP16_OVERFLOW,
    faults.CLUSTER_ATTRIBUTE,
    faults.DOUBLED_SHAPE,
    faults.LEAKED_ZERO,
)

FACTS = replace(
    BEFORE,
    dialect="triton-3.7-cuda",
    releases=("3.7",),
    recorded="3.7.0",
    native=True,
    types={**scalars.NATIVE, "nvTmaDesc": BEFORE.types["nvTmaDesc"]},
    prefix=(
        *calls.GRID,
        *calls.TARGET,
        calls.COOPERATIVE,
        calls.PDL,
        Positional("int", "(iii)", "kernel_metadata"),
        *calls.HOOKS,
        calls.GLOBAL_SCRATCH,
        calls.PROFILE_SCRATCH,
        *calls.NATIVE_ARGUMENTS,
    ),
    metadata=MetadataFacts(calls.COUNTS, any_sequence=True),
    descriptor=replace(BEFORE.descriptor, padding=("i1", "i1"), doubles_packed_shape=False),
    launch=replace(BEFORE.launch, stops_at_failure=True),
    pointers=replace(BEFORE.pointers, index="none", leaks=("not an int",)),
    module=replace(BEFORE.module, imports=()),
    steps=(Step.CONTEXT, *calls.PARSED, Step.FLAT_ARGUMENTS, Step.SCRATCH, *calls.CHECKED_FIRST),
    faults=(
        *(fault for fault in BEFORE.faults if fault not in _REMOVED),
        faults.TRUNCATED,
        faults.UNCOUNTED_ARGUMENTS,
        faults.NO_INDEX,
        faults.DESCRIPTOR_COPY,
        faults.LEAKED_NOT_INT,
    ),
)
