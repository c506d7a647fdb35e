"""Triton 3.7 on HIP: one native launcher for every signature, which converts the arguments itself, in order."""

from __future__ import annotations

from dataclasses import replace

from relaunch.generator.dialects import calls, faults, scalars
from relaunch.generator.dialects.triton_3_6_hip import FACTS as BEFORE
from relaunch.generator.facts import DescriptorSource, Intake, MetadataFacts, Positional, Step, TypeFacts

_DESCRIPTOR = DescriptorSource("unchecked", "PyTDMDescriptor", "TDMDescriptor", 80, alignment=1, offset=16)
_REMOVED = (
    faults.NEGATIVE_I8,
    faults.MASKED,
    faults.FP16_OVERFLOW,
    faults.UNKNOWN_STATUS,
    faults.NO_DATA_PTR_DIES,
    faults.WRONG_DESCRIPTOR_DIES,
)

FACTS = replace(
    BEFORE,
    dialect="triton-3.7-hip",
    releases=("3.7",),
    recorded="3.7.0",
    native=True,
    types={
        **scalars.NATIVE,
        "tensordesc": TypeFacts("PyObject *", "O", _DESCRIPTOR.c_type, _DESCRIPTOR.size, Intake.DESCRIPTOR),
    },
    prefix=(
        calls.COOPERATIVE,
        *calls.GRID,
        *calls.TARGET,
        calls.PROFILE_SCRATCH,
        Positional("int", "(iii)", "kernel_metadata"),
        *calls.HOOKS,
        Positional("int", "i", "warp_size"),
        *calls.NATIVE_ARGUMENTS,
    ),
    metadata=MetadataFacts(calls.COUNTS, any_sequence=True),
    descriptor=replace(BEFORE.descriptor, source=_DESCRIPTOR, padding=("i1", "i1")),
    launch=replace(BEFORE.launch, warp_size="argument"),
    pointers=replace(
        BEFORE.pointers,
        missing="refused",
        raising="replaced",
        other_status="address kept",
        index="undefined",
        leaks=("not an int",),
    ),
    steps=(*calls.PARSED, Step.FLAT_ARGUMENTS, Step.SCRATCH, *calls.HOOK_FIRST),
    module=replace(BEFORE.module, imports=()),
    faults=(
        *(fault for fault in BEFORE.faults if fault not in _REMOVED),
        faults.TRUNCATED,
        faults.DATA_PTR_REPLACED,
        faults.UNCOUNTED_ARGUMENTS,
        faults.WRONG_INDEX,
        faults.ANY_DESCRIPTOR,
        faults.LEAKED_NOT_INT,
    ),
)
