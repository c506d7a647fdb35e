"""Triton 3.0 and 3.1 on HIP."""

from __future__ import annotations

from relaunch.generator.dialects import calls, faults, scalars
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
    dialect="triton-3.0-hip",
    backend="hip",
    releases=("3.0", "3.1"),
    recorded="3.0.0",
    native=False,
    types=scalars.WITHOUT_CONSTEXPR,
    pointer=TypeFacts("PyObject *", "O", "hipDeviceptr_t", 8, Intake.POINTER),
    prefix=(*calls.GRID, *calls.TARGET, calls.KERNEL_METADATA, *calls.HOOKS),
    metadata=MetadataFacts((*calls.COUNTS, *calls.CLUSTER)),
    scratch=(),
    hidden=(),
    descriptor=DescriptorFacts("tensordesc", source=None, expanded=False, metadata=False),
    folds_constants=True,
    tuples=False,
    launch=LaunchFacts(
        skipped="product <= 0",
        ways=(Way("hipModuleLaunchKernel"),),
        factors=("1", "1", "1"),
        scaled="",
        warp_size="baked",
    ),
    pointers=PointerFacts(
        query="hipPointerGetAttribute",
        lookup="attribute",
        missing="launched as 0",
        raising="dies",
        other_status="undefined",
        clears_error=False,
        index="original",
        leaks=("zero", "not an int"),
    ),
    hooks=HookFacts(call="tuple", leaks=True, default="None"),
    steps=(*calls.PARSED, Step.POINTERS, *calls.HOOK_FIRST),
    module=ModuleFacts(
        symbols="dlsym",
        functions=("hipGetErrorString", "hipModuleLaunchKernel", "hipPointerGetAttribute"),
        library="libamdhip64.so",
    ),
    driver_error="Triton Error [HIP]:  Code: %d, Messsage: %s",
    faults=(
        faults.NEGATIVE_I8,
        faults.MASKED,
        faults.HALF_OF_A_FLOAT,
        faults.WRAPPED_GRID,
        faults.BAD_INT_POINTER,
        faults.UNKNOWN_STATUS,
        faults.DATA_PTR_RAISES,
        faults.NO_DATA_PTR_LAUNCHED,
        faults.EXIT_HOOK_AFTER_FAILURE,
        faults.CTAS_IGNORED,
        faults.LEAKED_RESULTS,
    ),
)
