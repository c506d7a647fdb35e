"""Triton 3.6 on CUDA: clusters are num_ctas wide, 16 of them allowed by an attribute of the function."""

from __future__ import annotations

from dataclasses import replace

from relaunch.generator.dialects import attributes, calls, faults
from relaunch.generator.dialects.triton_3_5_cuda import FACTS as BEFORE
from relaunch.generator.facts import MetadataFacts, Way

_ALLOCATED = f"{calls.PER_BLOCK} * num_ctas"

FACTS = replace(
    BEFORE,
    dialect="triton-3.6-cuda",
    releases=("3.6",),
    recorded="3.6.0",
    metadata=MetadataFacts(calls.COUNTS, error="kernel_metadata must be a tuple"),
    hidden=(
        calls.scratch("global_scratch", "CUdeviceptr", _ALLOCATED),
        calls.scratch("profile_scratch", "CUdeviceptr", _ALLOCATED),
    ),
    descriptor=replace(BEFORE.descriptor, encode_error="full"),
    launch=replace(
        BEFORE.launch,
        ways=(
            Way(
                "cuLaunchKernelEx",
                attributes=(
                    attributes.PDL,
                    attributes.COOPERATIVE,
                    attributes.CLUSTER_OF_CTAS,
                    attributes.SPREAD,
                ),
            ),
        ),
        factors=("num_ctas", "1", "1"),
        scaled="",
        non_portable="num_ctas == 16",
    ),
    module=replace(BEFORE.module, functions=(*BEFORE.module.functions, "cuFuncSetAttribute")),
    faults=(*BEFORE.faults, faults.CLUSTER_ATTRIBUTE),
)
