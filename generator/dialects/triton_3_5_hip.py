"""Triton 3.5 on HIP: one-byte booleans, profile scratch, symbols by hipGetProcAddress, hooks that are never None."""

from __future__ import annotations

from dataclasses import replace

from relaunch.generator.dialects import calls, faults, scalars
from relaunch.generator.dialects.triton_3_4_hip import FACTS as BEFORE
from relaunch.generator.facts import HookFacts, Step

_REMOVED = (faults.DATA_PTR_RAISES, faults.NO_DATA_PTR_LAUNCHED, faults.LEAKED_POINTERS)

FACTS = replace(
    BEFORE,
    dialect="triton-3.5-hip",
    releases=("3.5",),
    recorded="3.5.1",
    types=scalars.SCALARS,
    prefix=(
        calls.COOPERATIVE,
        *calls.GRID,
        *calls.TARGET,
        calls.PROFILE_SCRATCH,
        calls.KERNEL_METADATA,
        *calls.HOOKS,
    ),
    scratch=("profile_scratch",),
    hidden=(BEFORE.hidden[0], calls.scratch("profile_scratch", "hipDeviceptr_t", calls.PER_BLOCK)),
    descriptor=replace(BEFORE.descriptor, padding=("i1",)),
    pointers=replace(BEFORE.pointers, lookup="method", missing="dies", raising="dies", clears_error=True, leaks=()),
    hooks=HookFacts(call="one argument", leaks=False, default="HookChain"),
    steps=(
        Step.ARGUMENTS,
        Step.PACKING,
        Step.METADATA,
        Step.ENTER_HOOK,
        Step.SCRATCH,
        Step.POINTERS,
        *calls.HOOK_FIRST,
    ),
    module=replace(
        BEFORE.module,
        interned=("data_ptr",),
        symbols="hipGetProcAddress",
        functions=(
            "hipGetLastError",
            "hipGetErrorString",
            "hipModuleLaunchKernel",
            "hipModuleLaunchCooperativeKernel",
            "hipPointerGetAttribute",
        ),
    ),
    faults=(*(fault for fault in BEFORE.faults if fault not in _REMOVED), faults.NO_DATA_PTR_DIES),
)
