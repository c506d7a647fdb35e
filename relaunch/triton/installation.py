"""install() and uninstall(): which attributes are set, and how they are set back."""

from __future__ import annotations

import gc
import importlib
import sys
import threading
import weakref
from collections.abc import Iterator
from types import TracebackType
from typing import TYPE_CHECKING, Any

from relaunch import _core
from relaunch.triton import reporting
from relaunch.triton.launcher import Replacement
from relaunch.triton.releases import BACKENDS, KNOWN, release_of, unknown_names

if TYPE_CHECKING:
    from typing_extensions import Self

_lock = threading.RLock()
_replacements: dict[type, Replacement] = {}  # by original class; kept, so that launchers made before are taken again
_is_installed = False


class Installation:
    """What install() returns: as a context manager, uninstalls at the end what that call installed."""

    def __init__(self, is_first: bool) -> None:
        self._is_first = is_first

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._is_first:
            uninstall()


def install(*, strict: bool = False, check_binary: bool = True) -> Installation:
    """From now on kernels of the installed Triton are launched by relaunch, those made before included.

    strict: a kernel whose first launch is still to come and that would be left to Triton's own launcher raises
    FallBackError then. check_binary: each signature is
    compared with the parameter table of its binary in Triton's cache. Called again, it only changes the two options.
    ImportError without Triton.
    """
    global _is_installed
    import triton

    with _lock:
        is_first = not _is_installed
        _is_installed = True
        for replacement in _find_replacements(triton):
            replacement.strict, replacement.check_binary = strict, check_binary
            _put_in_place(replacement)
        _core.set_hook_chain(_hook_chain(triton))
        return Installation(is_first)


def uninstall() -> None:
    """Puts back what was there. Launcher objects that were made in between call Triton's own from now on."""
    global _is_installed
    with _lock:
        _is_installed = False
        reporting.backends.clear()
        for replacement in _replacements.values():
            replacement.is_active = False
            _take_out(replacement)
        _core.set_hook_chain(None)


def is_installed() -> bool:
    return _is_installed


def _find_replacements(triton: Any) -> Iterator[Replacement]:
    release = release_of(triton.__version__)
    known = (
        None if release in KNOWN else f"Triton {triton.__version__} is not known: expected {KNOWN[0]} to {KNOWN[-1]}"
    )
    originals = set()
    for backend in BACKENDS:
        for names in _driver_modules(triton, backend.name):
            original = _original_of(names.get(backend.class_name))
            if not isinstance(original, type):
                continue
            originals.add(original)
            unknown = unknown_names(original)
            refusal = known
            if unknown and known is None:
                refusal = f"{backend.class_name} is not that of a known release: it uses {', '.join(unknown)}"
            reporting.backends[backend.name] = refusal or f"taken, as triton-{release}-{backend.target}"
            yield _replacement(original, names, release, backend.target, refusal)
    for driver in _live_drivers(triton):
        original = _original_of(driver.launcher_cls)
        if original in originals or not isinstance(original, type):
            continue
        name = f"{original.__module__}.{original.__qualname__}"
        refusal = f"{name} is no launcher class of Triton's own backends"
        reporting.backends[name] = refusal
        yield _replacement(original, {}, release, "", refusal)


def _hook_chain(triton: Any) -> type | None:
    """The class of the hooks that Triton passes from 3.5 on, also where none is set."""
    if release_of(triton.__version__) not in KNOWN:
        return None
    found: type | None = getattr(getattr(triton, "knobs", None), "HookChain", None)
    return found


def _driver_modules(triton: Any, backend: str) -> Iterator[dict[str, Any]]:
    """The globals of a backend's driver module: to 3.3 there are two, one loaded for its path, one by its name."""
    found = triton.backends.backends.get(backend)
    if found is None:
        return
    loaded = found.driver.__init__.__globals__
    yield loaded
    named = vars(importlib.import_module(f"triton.backends.{backend}.driver"))
    if named is not loaded:
        yield named


def _original_of(launcher_class: Any) -> Any:
    replacement = getattr(launcher_class, "_replacement", None)
    return replacement.original if isinstance(replacement, Replacement) else launcher_class


def _replacement(original: type, names: dict[str, Any], release: str, backend: str, refusal: str | None) -> Replacement:
    if original not in _replacements:
        _replacements[original] = Replacement(original, names, release, backend, refusal)
    return _replacements[original]


def _put_in_place(replacement: Replacement) -> None:
    import triton

    original, ours = replacement.original, replacement.ours
    is_new = not replacement.is_active
    replacement.is_active = True
    if original.__name__ in replacement.names:
        replacement.names[original.__name__] = ours
    for driver in _live_drivers(triton):
        if driver.launcher_cls is original:
            driver.launcher_cls = ours
    if not is_new:
        return
    for launcher in list(replacement.launchers):
        launcher.take_again()
    for kernel, name in _kernels_with(original):
        _take_kernel(replacement, kernel, name)


def _take_out(replacement: Replacement) -> None:
    import triton

    original, ours = replacement.original, replacement.ours
    if replacement.names.get(original.__name__) is ours:
        replacement.names[original.__name__] = original
    for driver in _live_drivers(triton):
        if driver.launcher_cls is ours:
            driver.launcher_cls = original
    for launcher in list(replacement.launchers):
        launcher.give_back()
    for reference, name, before in replacement.kernels:
        kernel = reference()
        if kernel is not None and type(vars(kernel).get(name)) is ours:
            vars(kernel)[name] = before
    replacement.kernels.clear()


def _live_drivers(triton: Any) -> Iterator[Any]:
    """Driver objects that Triton has made or was given. None is made by looking."""
    seen: list[Any] = []
    for name in ("_active", "_default", "active", "default"):
        driver = vars(triton.runtime.driver).get(name)
        if type(driver).__name__ == "LazyProxy":
            driver = vars(driver).get("_obj")
        if (
            driver is None
            or "launcher_cls" not in getattr(driver, "__dict__", {})
            or any(driver is one for one in seen)
        ):
            continue
        seen.append(driver)
        yield driver


def _kernels_with(original: type) -> Iterator[tuple[Any, str]]:
    """Kernels that have launched already, each with the attribute that holds its launcher of the class."""
    compiler = sys.modules.get("triton.compiler.compiler")
    kernel_class = getattr(compiler, "CompiledKernel", None)
    if kernel_class is None:
        return
    for one in gc.get_objects():
        if type(one) is not kernel_class:
            continue
        for name in ("_run", "run"):
            if type(vars(one).get(name)) is original:
                yield one, name


def _take_kernel(replacement: Replacement, kernel: Any, name: str) -> None:
    before = vars(kernel)[name]
    target = replacement.take(kernel.src, kernel.metadata, strict=False, caller=None)
    if target is None:
        return
    launcher = replacement.ours.in_place_of(before, target)
    vars(kernel)[name] = launcher
    replacement.kernels.append((weakref.ref(kernel), name, before))
