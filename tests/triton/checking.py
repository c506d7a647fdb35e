"""Checks of a running program, one a function of a module beside this one, each in a fork of its own.

    python -m tests.triton.checking cuda|hip behaviour|falling_back NAME...

prints a JSON line for each. A check that dies has none.
"""

from __future__ import annotations

import importlib
import json
import os
import re
import sys
import traceback
from collections.abc import Callable, Iterator
from typing import Any

import pytest
import torch
import triton
import triton.language as tl
from relaunch.differential.recorder import Recorder

import relaunch.triton
from tests.triton.run_programs import make_driver

BACKEND, MODULE, *NAMES = sys.argv[1:]
RECORDER = Recorder(BACKEND)
RECORDER.own_handles()


@triton.jit  # type: ignore[untyped-decorator]
def store(out, value, BLOCK: tl.constexpr):  # type: ignore[no-untyped-def]
    tl.store(out + tl.arange(0, BLOCK), value)


@triton.jit
def nothing():  # type: ignore[no-untyped-def]
    tl.debug_barrier()


def driver_modules() -> Iterator[dict[str, Any]]:
    for backend in triton.backends.backends.values():
        yield backend.driver.__init__.__globals__


def original_class() -> Any:
    names = {"cuda": "CudaLauncher", "hip": "HIPLauncher"}
    return type(triton.runtime.driver.active).__init__.__globals__[names[BACKEND]]


def launches() -> int:
    return sum("Launch" in event.get("call", "") for event in RECORDER.events())


def launcher_of(kernel: Any) -> Any:
    return vars(kernel).get("_run", vars(kernel).get("run"))


def run(kernel: Any = store, value: int = 5, block: int = 64) -> Any:
    return kernel[(1,)](torch.zeros(64, dtype=torch.int32, device="cuda"), value, BLOCK=block)


def fresh() -> Any:
    """A kernel that was never compiled, of another source."""
    return triton.jit(store.fn)


def state() -> dict[tuple[str, ...], Any]:
    """Everything in Triton's modules and in their classes, and of the active driver, by where it is."""
    found: dict[tuple[str, ...], Any] = {}
    for name, module in list(sys.modules.items()):
        if name == "triton" or name.startswith("triton."):
            for key, value in list(vars(module).items()):
                found[name, key] = value
                if isinstance(value, type) and value.__module__.startswith("triton"):
                    found.update({(name, key, inner): one for inner, one in list(vars(value).items())})
    for number, names in enumerate(driver_modules()):
        found.update({(f"driver {number}", key): value for key, value in names.items()})
    active = triton.runtime.driver.active
    found.update({("active driver", key): value for key, value in vars(active).items()})
    return found


def changes(before: dict[tuple[str, ...], Any], after: dict[tuple[str, ...], Any]) -> set[tuple[str, ...]]:
    """Places that hold another object than before; Python's own caches aside."""
    ignored = ("__warningregistry__", "_abc_impl", "__slotnames__")
    missing = object()
    different = {
        name for name in before.keys() | after.keys() if before.get(name, missing) is not after.get(name, missing)
    }
    return {name for name in different if name[-1] not in ignored}


def refuses(call: Callable[[], Any], text: str, error: type[Exception] = relaunch.triton.FallBackError) -> None:
    with pytest.raises(error, match=re.escape(text)):
        call()


def main() -> None:
    triton.runtime.driver.set_active(make_driver(BACKEND, RECORDER))
    for name in NAMES:
        sys.stdout.flush()
        child = os.fork()
        if child == 0:
            check(name)
        os.waitpid(child, 0)


def check(name: str) -> None:
    """Says in one line what became of it, and ends the process."""
    RECORDER.reset()
    failure = None
    try:
        getattr(importlib.import_module(f"tests.triton.{MODULE}"), name)()
    except BaseException:  # noqa: BLE001  the other checks go on
        failure = traceback.format_exc()
    print(json.dumps({"check": name, "failure": failure}), flush=True)
    os._exit(0)


if __name__ == "__main__":
    sys.modules["tests.triton.checking"] = sys.modules["__main__"]
    main()
