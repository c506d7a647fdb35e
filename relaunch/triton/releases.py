"""What the launcher classes of Triton's releases do around a launch, as far as it differs (docs/triton.md)."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from types import CodeType, FunctionType
from typing import Any

KNOWN = ("3.3", "3.4", "3.5", "3.6", "3.7", "3.8", "3.9")


@dataclass(frozen=True)
class Backend:
    """A backend of Triton's own: its folder, its launcher class, and what targets and dialects call it."""

    name: str
    class_name: str
    target: str


BACKENDS = (Backend("nvidia", "CudaLauncher", "cuda"), Backend("amd", "HIPLauncher", "hip"))

# Names that the launcher classes of the known releases use, on all backends: of metadata, and of what they do with it.
# A class that uses another one does something that is not known here.
NAMES = frozenset(
    [
        "constants",
        "dict",
        "items",
        "signature",
        "fn",
        "arg_names",
        "index",
        "getattr",
        "hasattr",
        "isinstance",
        "str",
        "int",
        "tensordesc_meta",
        "bool",
        "any",
        "set",
        "make_launcher",
        "compile_module_from_src",
        "library_dirs",
        "include_dirs",
        "libraries",
        "launch",
        "wrap_handle_tensordesc",
        "wrap_handle_tensor_descriptor",  # AMD, 3.4 and 3.5
        "startswith",
        "values",
        "len",
        "enumerate",
        "range",
        "tuple",
        "list",
        "num_ctas",
        "functools",
        "reduce",
        "operator",
        "mul",
        "cluster_dims",
        "warp_size",
        "triton",
        "runtime",
        "driver",
        "active",
        "utils",
        "expand_signature",
        "annotate_arguments",
        "arg_annotations",
        "make_kernel_signature",
        "kernel_signature",
        "is_enabled",
        "gsan_enabled",
        "HIPDriver",
        "get_current_device",
        "get_device_properties",
        "AssertionError",
        "global_scratch_size",
        "global_scratch_align",
        "profile_scratch_size",
        "profile_scratch_align",
        "launch_cooperative_grid",
        "launch_pdl",
        "_allocation",
        "_allocator",
        "_profile_allocator",
        "get",
        "has_profile_allocator",
        "allocate_default_profile_scratch",
        "is_stream_capturing",
        "RuntimeError",
        "triton.experimental.gsan._allocator",
        "triton.experimental.gsan._stream_sync",
        "experimental",
        "gsan",
        "_stream_sync",
        "get_device_rank",
        "get_global_state_pointer",
        "GSAN_PER_DEVICE_STATE_STRIDE",
        "get_launch_state",
        "synchronize_launch_stream",
        "src",
    ]
)


def release_of(version: str) -> str:
    """ "3.6" for "3.6.0+cu130"; the text itself where it does not begin like that."""
    found = re.match(r"(\d+\.\d+)", version)
    return found[1] if found else version


def at_least(release: str, other: str) -> bool:
    return tuple(map(int, release.split("."))) >= tuple(map(int, other.split(".")))


def unknown_names(launcher_class: type) -> list[str]:
    """Names that the class's methods use and that no known release's do; ["?"] where one is no Python function."""
    found: set[str] = set()
    for each in launcher_class.__mro__[:-1]:
        for name in ("__init__", "__call__"):
            method = vars(each).get(name)
            if method is None:
                continue
            if not isinstance(method, FunctionType):
                return ["?"]
            found.update(_names(method.__code__))
    return sorted(found - NAMES)


def _names(code: CodeType) -> Iterator[str]:
    yield from code.co_names
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _names(constant)


def launch_options(release: str, backend: str, metadata: Any) -> dict[str, Any]:
    """Options of relaunch.Launcher that stand in a kernel's metadata."""
    options: dict[str, Any] = {
        "num_warps": metadata.num_warps,
        "num_ctas": metadata.num_ctas,
        "shared": metadata.shared,
        "cooperative": bool(metadata.launch_cooperative_grid),
        "pdl": bool(getattr(metadata, "launch_pdl", False)),
        "name": metadata.name,
    }
    if backend == "hip":
        options["warp_size"] = metadata.warp_size
    elif metadata.num_ctas != 1 and not at_least(release, "3.6"):
        options["cluster"] = tuple(metadata.cluster_dims)
    return options | _scratch_options(release, backend, metadata)


def _scratch_options(release: str, backend: str, metadata: Any) -> dict[str, Any]:
    options: dict[str, Any] = {}
    factor = 1
    if backend == "cuda" and at_least(release, "3.4"):
        factor = metadata.num_ctas if at_least(release, "3.6") else math.prod(metadata.cluster_dims)
    has_global = at_least(release, "3.8") if backend == "hip" else True
    has_profile = at_least(release, "3.5")
    if has_global and metadata.global_scratch_size > 0:
        size, align = metadata.global_scratch_size, metadata.global_scratch_align
        options["global_scratch"] = _scratch(factor * size, align, _global_allocator(release))
    if has_profile and metadata.profile_scratch_size > 0:
        size, align = metadata.profile_scratch_size, metadata.profile_scratch_align
        options["profile_scratch"] = _scratch(factor * size, align, _profile_allocator(release))
    return options


def _scratch(bytes_per_block: int, align: int, allocator: Callable[[], Any]) -> Callable[..., Any]:
    def allocate(grid: tuple[int, int, int], stream: int) -> Any:
        return allocator()(grid[0] * grid[1] * grid[2] * bytes_per_block, align, stream)

    return allocate


def _global_allocator(release: str) -> Callable[[], Any]:
    """Gives the allocator that is set when it is called."""
    from triton.runtime import _allocation

    if at_least(release, "3.5"):
        return lambda: _allocation._allocator.get()  # noqa: PLW0108  set_allocator may have changed the variable
    return lambda: _allocation._allocator


def _profile_allocator(release: str) -> Callable[[], Any]:
    import triton
    from triton.runtime import _allocation

    def chosen() -> Any:
        if _allocation.has_profile_allocator():
            return _allocation._profile_allocator.get()
        return triton.runtime.driver.active.allocate_default_profile_scratch

    return chosen if at_least(release, "3.8") else lambda: _allocation._profile_allocator.get()  # noqa: PLW0108
