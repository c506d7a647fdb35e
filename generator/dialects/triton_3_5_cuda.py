"""Triton 3.5 on CUDA: one-byte booleans, tensor maps by their type, profile scratch, hooks that are never None."""

from __future__ import annotations

from dataclasses import replace

from relaunch.generator.dialects import calls, faults, scalars
from relaunch.generator.dialects.triton_3_4_cuda import FACTS as BEFORE
from relaunch.generator.facts import DescriptorSource, HookFacts

_MODULE = "triton.backends.nvidia.driver"
_REMOVED = (faults.DATA_PTR_RAISES, faults.LEAKED_POINTERS)

FACTS = replace(
    BEFORE,
    dialect="triton-3.5-cuda",
    releases=("3.5",),
    recorded="3.5.1",
    types={**scalars.SCALARS, "nvTmaDesc": BEFORE.types["nvTmaDesc"]},
    prefix=(
        *calls.GRID,
        *calls.TARGET,
        calls.COOPERATIVE,
        calls.PDL,
        calls.GLOBAL_SCRATCH,
        calls.PROFILE_SCRATCH,
        calls.KERNEL_METADATA,
        *calls.HOOKS,
    ),
    scratch=("global_scratch", "profile_scratch"),
    hidden=(
        BEFORE.hidden[0],
        calls.scratch("profile_scratch", "CUdeviceptr", BEFORE.hidden[0].allocated),
    ),
    descriptor=replace(
        BEFORE.descriptor,
        source=DescriptorSource("type", "PyCUtensorMap", "CUtensorMap", 128, alignment=128, module=_MODULE, offset=128),
        padding=("i1",),
        found_by="signature",
        doubles_packed_shape=True,
    ),
    pointers=replace(BEFORE.pointers, lookup="method", raising="replaced", leaks=("zero",)),
    hooks=HookFacts(call="one argument", leaks=False, default="HookChain"),
    module=replace(BEFORE.module, imports=((_MODULE, "PyCUtensorMap"),), interned=("data_ptr",)),
    faults=(
        *(fault for fault in BEFORE.faults if fault not in _REMOVED),
        faults.DATA_PTR_REPLACED,
        faults.DOUBLED_SHAPE,
        faults.LEAKED_ZERO,
    ),
)
