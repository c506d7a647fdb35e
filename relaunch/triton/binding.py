"""From what Triton's launcher classes are given, a kernel's source and metadata, to a relaunch.Launcher."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from types import FrameType
from typing import Any

from relaunch import _core
from relaunch.triton.releases import at_least, launch_options


class RefusedError(Exception):
    """A kernel that is not taken; str() is the reason."""


def tree_of(src: Any) -> _core.Tree:
    """The signature of an ASTSource, whose keys are names, or of an IRSource, whose keys are numbers."""
    nodes = [_node(entry, key if isinstance(key, str) else None) for key, entry in src.signature.items()]
    return _core.Tree(nodes)


def _node(entry: Any, name: str | None) -> _core.PyKernelArg:
    if isinstance(entry, (tuple, list)):
        return _core.PyKernelArg([_node(one, None) for one in entry], _core.ARG_TUPLE, name=name)
    if entry == "constexpr":
        return _core.PyKernelArg(type=_core.ARG_CONSTEXPR, name=name)
    return _core.PyKernelArg(dtype=entry, name=name)


def bind(
    src: Any, metadata: Any, names: dict[str, Any], release: str, backend: str, binary: bytes | str | None
) -> _core.Launcher | Callable[..., None]:
    """What a launch calls: a Launcher, or a function for descriptors that Triton makes.

    names: those of the backend's driver module. binary: compared with the signature where there is one. Raises
    RefusedError for what only Triton's own launcher does, and whatever relaunch.Launcher raises.
    """
    options = launch_options(release, backend, metadata)
    metas = list(getattr(metadata, "tensordesc_meta", None) or ())
    if backend == "hip":
        options["driver"] = names["_get_path_to_hip_runtime_dylib"]()
    if metas:
        options["tensordesc_meta"] = metas
    launcher = _core.Launcher(tree_of(src), dialect=f"triton-{release}-{backend}", binary=binary, **options)
    if any(backend == "hip" or meta.get("is_im2col") for meta in metas):
        return _with_triton_descriptors(launcher, dict(src.signature), metas, names, release, backend)
    return launcher


def refuse_foreign(metadata: Any, release: str, backend: str) -> None:
    if metadata.target.backend != backend:
        raise RefusedError(f"its target is {metadata.target.backend!r}, not {backend!r}")
    if "gsan" in str(getattr(metadata, "instrumentation_mode", "")):
        raise RefusedError("instrumentation_mode 'gsan' adds parameters of its own at each launch")
    for name in _launch_fields(getattr(metadata, "_fields", ())):
        if not getattr(metadata, name):
            continue
        raise RefusedError(f"its metadata has {name!r}, which is not known")
    if metadata.launch_cooperative_grid and backend == "hip" and at_least(release, "3.7"):
        import triton

        driver = triton.runtime.driver.active
        if not driver.utils.get_device_properties(driver.get_current_device())["cooperativeLaunch"]:
            raise RefusedError("the device has no cooperative launches, which Triton's own launcher says")


@lru_cache(maxsize=64)
def _launch_fields(names: tuple[str, ...]) -> tuple[str, ...]:
    """Of metadata's fields those that by their name ask something of a launch that no release's launcher does."""
    known = ("launch_cooperative_grid", "launch_pdl", "cluster_dims", "global_scratch_size", "profile_scratch_size")
    asks = ("launch_", "preferred_", "ctas_per")
    unknown = (name for name in names if name not in known)
    return tuple(n for n in unknown if n.startswith(asks) or "cluster" in n or n.endswith("_scratch_size"))


def find_binary(src: Any, metadata: Any, backend: str, caller: FrameType | None) -> bytes | str | None:
    """The kernel's binary: of the CompiledKernel that is making its launcher, else the file in Triton's cache, where
    that is a folder. None where it is elsewhere.
    """
    kernel = caller.f_locals.get("self") if caller is not None else None
    binary = getattr(kernel, "kernel", None)
    if isinstance(binary, bytes) and getattr(kernel, "metadata", None) is metadata:
        return binary
    from triton.runtime.cache import FileCacheManager, get_cache_manager

    manager = get_cache_manager(metadata.hash)
    if type(manager) is not FileCacheManager:
        return None
    found: str | None = manager.get_file(f"{src.name[:150]}.{'cubin' if backend == 'cuda' else 'hsaco'}")
    return found


def _with_triton_descriptors(
    launcher: _core.Launcher,
    signature: dict[Any, Any],
    metas: list[Any],
    names: dict[str, Any],
    release: str,
    backend: str,
) -> Callable[..., None]:
    """For descriptors that only Triton's own functions make (TDM, im2col): they do, and then it is our launch.

    Triton wraps a function that takes what the release's C launcher takes. Of that it looks at the metadata alone, so
    all the rest travels in the first place.
    """
    splits = at_least(release, "3.7")  # kernel arguments come as one sequence
    place = 8 if backend == "hip" and at_least(release, "3.8") else 7

    def receive(fixed: tuple[Any, ...], *rest: Any) -> None:
        launcher.launch(*fixed, *(rest[-1] if splits else rest[10:]))

    wrapped = names["wrap_handle_tensordesc"](receive, signature, metas)

    def launch(*args: Any) -> None:
        fixed, given = args[:9], args[9:]
        base = [fixed, *[None] * 10]
        base[place] = fixed[5]
        wrapped(*base, given) if splits else wrapped(*base, *given)

    return launch
