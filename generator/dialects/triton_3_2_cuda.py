"""Triton 3.2 on CUDA: a context where there is none, tensor maps, no pointer query is ignored."""

from __future__ import annotations

from dataclasses import replace

from relaunch.generator.dialects import calls, faults
from relaunch.generator.dialects.triton_3_0_cuda import FACTS as BEFORE
from relaunch.generator.facts import DescriptorFacts, DescriptorSource, Intake, Step, TypeFacts

FACTS = replace(
    BEFORE,
    dialect="triton-3.2-cuda",
    releases=("3.2",),
    recorded="3.2.0",
    types={**BEFORE.types, "nvTmaDesc": TypeFacts("PyObject *", "O", "CUtensorMap", 128, Intake.DESCRIPTOR)},
    descriptor=DescriptorFacts(
        "nvTmaDesc",
        source=DescriptorSource("method", "tma_desc_cpu_ptr", "CUtensorMap", 128, alignment=64),
        expanded=False,
        metadata=False,
    ),
    pointers=replace(BEFORE.pointers, other_status="raised"),
    steps=(Step.CONTEXT, *calls.PARSED, Step.POINTERS, Step.DESCRIPTORS, *calls.CHECKED_FIRST),
    module=replace(
        BEFORE.module,
        functions=(
            "cuCtxGetCurrent",
            "cuCtxSetCurrent",
            "cuDeviceGet",
            "cuDevicePrimaryCtxRetain",
            *BEFORE.module.functions,
        ),
    ),
    faults=(*(fault for fault in BEFORE.faults if fault is not faults.UNKNOWN_STATUS), faults.PENDING_CONTEXT),
)
