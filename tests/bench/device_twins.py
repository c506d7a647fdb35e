"""The launchers that `relaunch bench device` compares, each launching the same kernel with the same arguments.

A maker takes a Situation and gives a Twin, or raises: what it raises is why that launcher is not measured there.
Whatever a user makes once (scalars of numpy, views of cupy, a launch configuration) is made outside the clock.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import spelling


class NotHere(Exception):
    """Why a launcher has no figure for a situation."""


@dataclasses.dataclass(frozen=True)
class Situation:
    """One signature, its kernel on the device, and the arguments."""

    signature: str
    pointers: str  # dlpack, object, or none where the signature has none
    values: list[Any]
    function: int
    kernel: str
    cubin: str
    driver: str
    generated: tuple[str, str]  # shared object and module name

    def parameters(self) -> list[tuple[int, str]]:
        """(place, type) of each argument that reaches the kernel."""
        listed = enumerate(spelling.entries(self.signature))
        return [(place, entry) for place, entry in listed if entry != "constexpr"]


@dataclasses.dataclass(frozen=True)
class Twin:
    """A launch in words of spelling.loops."""

    form: str
    spelled: list[str]
    names: dict[str, Any]
    values: list[Any]


def all_arguments(situation: Situation) -> list[str]:
    return [f"a{place}" for place in range(len(situation.values))]


def generated(situation: Situation) -> Twin:
    call = spelling.import_generated(*situation.generated)
    names = {"call": call, "FUNCTION": situation.function, "METADATA": spelling.METADATA}
    return Twin(spelling.FORMS["generated"], all_arguments(situation), names, situation.values)


def launcher_of(situation: Situation) -> Any:
    import relaunch

    tree = relaunch.parse(situation.signature)
    given: dict[str, Any] = {"function": situation.function, "name": situation.kernel, "driver": situation.driver}
    return relaunch.Launcher(tree, dialect=spelling.DIALECT, **given)


def precompiled_launch(situation: Situation) -> Twin:
    names = {"call": launcher_of(situation).launch, "FUNCTION": situation.function, "METADATA": spelling.METADATA}
    return Twin(spelling.FORMS["precompiled.launch"], all_arguments(situation), names, situation.values)


def precompiled_call(situation: Situation) -> Twin:
    names = {"call": launcher_of(situation)}
    return Twin(spelling.FORMS["precompiled.call"], all_arguments(situation), names, situation.values)


def triton(situation: Situation) -> Twin:
    """Triton's launcher object, as its JIT and CompiledKernel call it, without hooks."""
    from triton.backends.nvidia.driver import CudaLauncher

    source = SimpleNamespace(signature=dict(enumerate(spelling.entries(situation.signature))), constants={})
    metadata = SimpleNamespace(
        num_warps=4,
        num_ctas=1,
        shared=0,
        cluster_dims=(1, 1, 1),
        global_scratch_size=0,
        global_scratch_align=1,
        profile_scratch_size=0,
        profile_scratch_align=1,
        launch_cooperative_grid=False,
        launch_pdl=False,
        tensordesc_meta=None,
    )
    names = {"call": CudaLauncher(source, metadata), "FUNCTION": situation.function, "METADATA": spelling.METADATA}
    return Twin(spelling.FORMS["precompiled.launch"], all_arguments(situation), names, situation.values)


def torch_types(situation: Situation) -> str:
    return "".join("O" if entry.startswith("*") else "i" for _, entry in situation.parameters())


def torch_static(situation: Situation) -> Twin:
    """The C function behind torch's StaticallyLaunchedCudaKernel.run, without that method's own Python."""
    from torch._C import _StaticCudaLauncher

    names = {"call": _StaticCudaLauncher._launch_kernel, "FUNCTION": situation.function}
    names["TYPES"] = torch_types(situation) + "OO"
    spelled = [f"a{place}" for place, _ in situation.parameters()] + ["None", "None"]
    return Twin("call(FUNCTION, 1, 1, 1, 4, 0, TYPES, ({}), 0)", spelled, names, situation.values)


def torch_fast(situation: Situation) -> Twin:
    """The bound launcher of newer versions of torch."""
    from torch._C import _FastCudaLauncher

    call = _FastCudaLauncher(situation.function, 4, 0, torch_types(situation), spelling.HIDDEN)
    spelled = [f"a{place}" for place, _ in situation.parameters()]
    return Twin("call(1, 1, 1, 0, {})", spelled, {"call": call}, situation.values)


def numpy_scalars(situation: Situation) -> list[Any]:
    """The values with every int as numpy's int32: what launchers take that know no signature."""
    import numpy

    return [value if hasattr(value, "data_ptr") else numpy.int32(value) for value in situation.values]


def cuda_core(situation: Situation) -> Twin:
    """cuda.core.launch: tensors are passed by their data_ptr(), which it does not call itself."""
    try:
        from cuda import core
        from cuda.core import Device, LaunchConfig, ObjectCode
    except ImportError:
        from cuda.core import experimental as core
        from cuda.core.experimental import Device, LaunchConfig, ObjectCode

    device = Device()
    device.set_current()
    names = {
        "call": core.launch,
        "STREAM": device.default_stream,
        "CONFIG": LaunchConfig(grid=1, block=128),
        "KERNEL": ObjectCode.from_cubin(Path(situation.cubin).read_bytes()).get_kernel(situation.kernel),
    }
    spelled = [
        f"a{place}.data_ptr()" if entry.startswith("*") else f"a{place}" for place, entry in situation.parameters()
    ]
    return Twin("call(STREAM, CONFIG, KERNEL, {})", [*spelled, "0", "0"], names, numpy_scalars(situation))


def cupy(situation: Situation) -> Twin:
    """A cupy.RawKernel, whose arrays are views of the tensors."""
    if situation.pointers == "object":
        raise NotHere("takes arrays of its own only")
    import cupy as library
    import numpy

    values = [library.asarray(v) if hasattr(v, "data_ptr") else v for v in numpy_scalars(situation)]
    call = library.RawModule(path=situation.cubin).get_function(situation.kernel)
    names = {"call": call, "NOTHING": numpy.uint64(0)}
    spelled = [f"a{place}" for place, _ in situation.parameters()] + ["NOTHING", "NOTHING"]
    return Twin("call((1,), (128,), ({}))", spelled, names, values)


def from_tuple(maker: Callable[[Situation], Twin]) -> Callable[[Situation], Twin]:
    """The same launch as `call(*arguments)`: the interpreter collects nothing, the tuple is there already."""

    def make(situation: Situation) -> Twin:
        twin = maker(situation)
        collecting = {**twin.names, "call": lambda *arguments: arguments}
        arguments = spelling.loops(twin.form, twin.spelled, collecting, twin.values)["once"]()
        return Twin("call({})", ["*ARGUMENTS"], {"call": twin.names["call"], "ARGUMENTS": arguments}, [])

    return make


MAKERS: dict[str, Callable[[Situation], Twin]] = {
    "generated": generated,
    "precompiled.launch": precompiled_launch,
    "precompiled.call": precompiled_call,
    "generated *": from_tuple(generated),
    "precompiled.launch *": from_tuple(precompiled_launch),
    "precompiled.call *": from_tuple(precompiled_call),
    "triton": triton,
    "torch static": torch_static,
    "torch fast": torch_fast,
    "cuda.core": cuda_core,
    "cupy": cupy,
}
