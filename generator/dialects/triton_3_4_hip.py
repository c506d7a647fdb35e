"""Triton 3.4 on HIP: floats packed from doubles, before anything else is done; descriptors become pointers."""

from __future__ import annotations

from dataclasses import replace

from relaunch.generator.dialects import calls, faults, scalars
from relaunch.generator.dialects.triton_3_3_hip import FACTS as BEFORE
from relaunch.generator.facts import Step

_REMOVED = (faults.HALF_OF_A_FLOAT, faults.LEAKED_RESULTS)

FACTS = replace(
    BEFORE,
    dialect="triton-3.4-hip",
    releases=("3.4",),
    recorded="3.4.0",
    types=scalars.WIDE_BOOLEANS,
    descriptor=replace(BEFORE.descriptor, expanded=True, found_by="class"),
    hooks=replace(BEFORE.hooks, leaks=False),
    steps=(
        Step.ARGUMENTS,
        Step.PACKING,
        Step.METADATA,
        Step.ENTER_HOOK,
        Step.POINTERS,
        *calls.HOOK_FIRST,
    ),
    faults=(
        *(fault for fault in BEFORE.faults if fault not in _REMOVED),
        faults.FP16_OVERFLOW_EARLY,
        faults.LEAKED_POINTERS,
    ),
)
