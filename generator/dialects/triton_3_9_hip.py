"""Triton 3.8 and 3.9 on HIP: descriptors inside tuples, global scratch that is allocated."""

from __future__ import annotations

from dataclasses import replace

from relaunch.generator.dialects import calls
from relaunch.generator.dialects.triton_3_7_hip import FACTS as BEFORE

_SCRATCH = BEFORE.prefix.index(calls.PROFILE_SCRATCH)

FACTS = replace(
    BEFORE,
    dialect="triton-3.9-hip",
    releases=("3.8", "3.9"),
    recorded="3.9.0",
    prefix=(*BEFORE.prefix[:_SCRATCH], calls.GLOBAL_SCRATCH, *BEFORE.prefix[_SCRATCH:]),
    scratch=("global_scratch", "profile_scratch"),
    hidden=(calls.scratch("global_scratch", "hipDeviceptr_t", calls.PER_BLOCK), BEFORE.hidden[1]),
    descriptor=replace(BEFORE.descriptor, inside_tuples=True, im2col=True, one_flag=True),
)
