"""Triton 3.6 on HIP: clusters, TDM descriptors, floats packed last."""

from __future__ import annotations

from dataclasses import replace

from relaunch.generator.dialects import attributes, calls, faults
from relaunch.generator.dialects.triton_3_5_hip import FACTS as BEFORE
from relaunch.generator.facts import DescriptorSource, MetadataFacts, Step, Way

_MODULE = "triton.backends.amd.driver"
_REMOVED = (faults.WRAPPED_GRID, faults.FP16_OVERFLOW_EARLY, faults.CTAS_IGNORED)

FACTS = replace(
    BEFORE,
    dialect="triton-3.6-hip",
    releases=("3.6",),
    recorded="3.6.0",
    metadata=MetadataFacts(calls.COUNTS),
    descriptor=replace(
        BEFORE.descriptor,
        source=DescriptorSource("type", "PyTDMDescriptor", "TDMDescriptor", 48, alignment=1, module=_MODULE, offset=16),
        metadata=True,
        found_by="signature",
    ),
    launch=replace(
        BEFORE.launch,
        skipped="product == 0",
        ways=(
            Way(
                "hipDrvLaunchKernelEx",
                "num_ctas > 1",
                attributes=(attributes.HIP_CLUSTER, attributes.HIP_COOPERATIVE),
            ),
            *BEFORE.launch.ways,
        ),
        factors=("num_ctas", "1", "1"),
        scaled="num_ctas > 1",
    ),
    steps=(
        *calls.PARSED,
        Step.SCRATCH,
        Step.DESCRIPTORS,
        Step.POINTERS,
        Step.PACKING,
        *calls.HOOK_FIRST,
    ),
    module=replace(
        BEFORE.module,
        imports=((_MODULE, "PyTDMDescriptor"),),
        functions=(
            "hipGetLastError",
            "hipGetErrorString",
            "hipDrvLaunchKernelEx",
            "hipModuleLaunchKernel",
            "hipModuleLaunchCooperativeKernel",
            "hipPointerGetAttribute",
        ),
        optional=("hipDrvLaunchKernelEx",),
    ),
    faults=(
        *(fault for fault in BEFORE.faults if fault not in _REMOVED),
        faults.WRAPPED_GRID_ZERO,
        faults.FP16_OVERFLOW,
        faults.WRONG_DESCRIPTOR_DIES,
    ),
)
