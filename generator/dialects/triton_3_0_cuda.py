"""Triton 3.0 and 3.1 on CUDA."""

from __future__ import annotations

from relaunch.generator.dialects import attributes, calls, faults, scalars
from relaunch.generator.facts import (
    DescriptorFacts,
    Facts,
    HookFacts,
    Intake,
    LaunchFacts,
    MetadataFacts,
    ModuleFacts,
    PointerFacts,
    Step,
    TypeFacts,
    Way,
)

FACTS = Facts(
    dialect="triton-3.0-cuda",
    backend="cuda",
    releases=("3.0", "3.1"),
    recorded="3.0.0",
    native=False,
    types=scalars.WITHOUT_CONSTEXPR,
    pointer=TypeFacts("PyObject *", "O", "CUdeviceptr", 8, Intake.POINTER),
    prefix=(*calls.GRID, *calls.TARGET, calls.KERNEL_METADATA, *calls.HOOKS),
    metadata=MetadataFacts((*calls.COUNTS, *calls.CLUSTER), error="kernel_metadata must be a tuple"),
    scratch=(),
    hidden=(),
    descriptor=DescriptorFacts("nvTmaDesc", source=None, expanded=False, metadata=False),
    folds_constants=True,
    tuples=False,
    launch=LaunchFacts(
        skipped="product <= 0",
        ways=(
            Way("cuLaunchKernel", "num_ctas == 1"),
            Way("cuLaunchKernelEx", attributes=(attributes.CLUSTER_OF_METADATA, attributes.SPREAD)),
        ),
        factors=("cluster_x", "cluster_y", "cluster_z"),
        scaled=attributes.SEVERAL_CTAS,
        warp_size="32",
        gil_released=True,
    ),
    pointers=PointerFacts(
        query="cuPointerGetAttribute",
        lookup="attribute",
        missing="refused",
        raising="dies",
        other_status="undefined",
        clears_error=False,
        index="original",
        leaks=("zero", "not an int"),
    ),
    hooks=HookFacts(call="tuple", leaks=True, default="None"),
    steps=(*calls.PARSED, Step.POINTERS, *calls.CHECKED_FIRST),
    module=ModuleFacts(
        functions=("cuGetErrorString", "cuLaunchKernel", "cuPointerGetAttribute"),
        library="libcuda.so.1",
        lazy=("cuLaunchKernelEx",),
    ),
    driver_error="Triton Error [CUDA]: %s",
    faults=(
        faults.NEGATIVE_I8,
        faults.MASKED,
        faults.HALF_OF_A_FLOAT,
        faults.WRAPPED_GRID,
        faults.BAD_INT_POINTER,
        faults.UNKNOWN_STATUS,
        faults.DATA_PTR_RAISES,
        faults.LAZY_SYMBOL,
        faults.LEAKED_RESULTS,
    ),
)
