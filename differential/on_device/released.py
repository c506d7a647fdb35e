"""Launchers that the installed Triton 3.6 generates and builds by itself: a third opinion."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from types import SimpleNamespace
from typing import Any

from relaunch.differential.case import Signature

DIALECT = "triton-3.6-cuda"

# What a launcher object reads of a kernel's metadata; none of it reaches the launcher's C code.
_METADATA = {
    "num_ctas": 1,
    "global_scratch_size": 0,
    "global_scratch_align": 1,
    "profile_scratch_size": 0,
    "profile_scratch_align": 1,
    "launch_cooperative_grid": False,
    "launch_pdl": False,
    "tensordesc_meta": None,
}


def takes(signature: Signature) -> bool:
    """Whether Triton itself makes launchers for it: by-value descriptors come with objects of its own."""
    return all(
        takes(entry) if not isinstance(entry, str) else entry != "nvTmaDesc" and not entry.startswith("tensordesc")
        for entry in signature
    )


class Launchers:
    """One launcher for each distinct signature, built with all processors. Raises ImportError without Triton 3.6."""

    def __init__(self, signatures: Iterable[Signature]) -> None:
        import triton
        from triton.backends.nvidia import driver

        if not triton.__version__.startswith("3.6."):
            raise ImportError(f"the installed Triton is {triton.__version__}, not 3.6")
        driver.CudaUtils()  # gives the driver module its descriptor class
        distinct = {json.dumps(one): one for one in signatures}
        with ThreadPoolExecutor(os.cpu_count()) as threads:
            made = threads.map(lambda one: _make(driver.CudaLauncher, one), distinct.values())
            self._launchers = dict(zip(distinct, made, strict=True))

    def launch(self, signature: Signature) -> Callable[..., Any]:
        """The C function of the signature's launcher."""
        return self._launchers[json.dumps(signature)]


def _make(launcher: Any, signature: Signature) -> Callable[..., Any]:
    source = SimpleNamespace(constants={}, signature=dict(enumerate(signature)))
    made: Callable[..., Any] = launcher(source, SimpleNamespace(**_METADATA)).launch
    return made
