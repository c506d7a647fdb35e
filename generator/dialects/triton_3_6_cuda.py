"""Triton 3.6 on CUDA."""

from __future__ import annotations

from relaunch.generator.dialects.scalars import GRID, HOOKS, METADATA, SCALARS, TARGET
from relaunch.generator.facts import DescriptorFacts, Facts, Hidden, Intake, Positional, TypeFacts

_TENSOR_MAP = TypeFacts("PyObject *", "O", "CUtensorMap", 128, Intake.DESCRIPTOR)

FACTS = Facts(
    dialect="triton-3.6-cuda",
    backend="cuda",
    types={**SCALARS, "nvTmaDesc": _TENSOR_MAP},
    pointer=TypeFacts("PyObject *", "O", "CUdeviceptr", 8, Intake.POINTER),
    prefix=(
        *GRID,
        *TARGET,
        Positional("int", "p", "cooperative"),
        Positional("int", "p", "pdl"),
        Positional("PyObject *", "O", "global_scratch"),
        Positional("PyObject *", "O", "profile_scratch"),
        *HOOKS,
    ),
    metadata=METADATA,
    scratch=("global_scratch", "profile_scratch"),
    hidden=(
        Hidden("global_scratch", "CUdeviceptr", 8, "global_scratch_pointer.address"),
        Hidden("profile_scratch", "CUdeviceptr", 8, "profile_scratch_pointer.address"),
    ),
    descriptor=DescriptorFacts("nvTmaDesc", _TENSOR_MAP, padding=("i1",)),
    fragments=(
        "fragments/cuda_headers.c.j2",
        "fragments/cuda_status.c.j2",
        "fragments/cuda_context.c.j2",
        "fragments/data_ptr_name.c.j2",
        "fragments/cuda_pointer.c.j2",
        "fragments/tensor_map.c.j2",
        "fragments/packing.c.j2",
        "fragments/cuda_launch_kernel_ex.c.j2",
    ),
    launch="launch/cuda_3_6.c.j2",
    steps=(
        "steps/context.c.j2",
        "steps/arguments.c.j2",
        "steps/metadata_type_error.c.j2",
        "steps/enter_hook.c.j2",
        "steps/scratch.c.j2",
        "steps/pointers.c.j2",
        "steps/tensor_maps.c.j2",
        "steps/packing.c.j2",
        "steps/launch_cuda_unlocked.c.j2",
        "steps/pending_error.c.j2",
        "steps/exit_hook.c.j2",
    ),
    init=("init/data_ptr_name.c.j2", "init/descriptor_type.c.j2"),
    constants={
        "descriptor_module": "triton.backends.nvidia.driver",
        "descriptor_type": "PyCUtensorMap",
        "descriptor_offset": "128",
        "descriptor_alignment": "128",
    },
    linked=(
        "cuCtxGetCurrent",
        "cuCtxSetCurrent",
        "cuDeviceGet",
        "cuDevicePrimaryCtxRetain",
        "cuFuncSetAttribute",
        "cuGetErrorString",
        "cuPointerGetAttribute",
    ),
    library="libcuda.so.1",
)
