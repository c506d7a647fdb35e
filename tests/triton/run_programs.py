"""Runs programs one after the other under the recording driver and says what each asked of it: one JSON line each.

A process of its own, in an environment that tests/triton/releases.py makes:

    python tests/triton/run_programs.py plain|installed cuda|hip PROGRAM...

A program is a file with a function main(). What it prints and what the driver was asked is its outcome; an
exception that main() lets out is part of it too.
"""

from __future__ import annotations

import contextlib
import gc
import importlib.util
import io
import json
import sys
import time
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import torch
import triton
from relaunch.differential.recorder import Recorder


def load(path: Path) -> Any:
    spec = importlib.util.spec_from_file_location(f"program_{path.stem}", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


def set_function_slots_on_load(recorder: Recorder, utils: Any) -> None:
    """HIP's recorder reads no code objects: what it is to record of a function is told when one is loaded."""
    from relaunch import find_kernel, read_kernels

    load_binary = utils.load_binary

    def load(name: str, kernel: bytes, *rest: Any) -> Any:
        loaded = load_binary(name, kernel, *rest)
        parameters = find_kernel(read_kernels(kernel), name).parameters
        recorder.set_function_slots(loaded[1], [one["size"] for one in parameters if not one["hidden"]])
        return loaded

    utils.load_binary = load


def make_driver(backend: str, recorder: Recorder) -> Any:
    if backend == "cuda":
        from triton.backends.nvidia.driver import CudaDriver

        return CudaDriver()
    from triton.backends.amd.driver import HIPDriver

    driver = HIPDriver()
    set_function_slots_on_load(recorder, driver.utils)
    return driver


def run(path: Path, recorder: Recorder) -> dict[str, Any]:
    recorder.reset()
    torch._restart()
    printed = io.StringIO()
    begin = time.perf_counter()
    error = None
    with contextlib.redirect_stdout(printed):
        try:
            module = load(path)
            recorder.reset()
            module.main()
        except Exception as raised:  # noqa: BLE001  is the outcome
            error = f"{type(raised).__name__}: {raised}"
    outcome = {
        "program": path.stem,
        "events": recorder.events(),
        "printed": printed.getvalue().splitlines(),
        "error": error,
        "seconds": round(time.perf_counter() - begin, 3),
    }
    gc.collect()
    return outcome


def print_outcomes(mode: str, programs: Iterable[str], run: Callable[[Path], dict[str, Any]]) -> None:
    """A JSON line for each program; where relaunch.triton is installed first, with its report."""
    if mode == "installed":
        import relaunch.triton

        relaunch.triton.install()
    for program in programs:
        outcome = run(Path(program))
        if mode == "installed":
            outcome["report"] = relaunch.triton.report().to_json()
            relaunch.triton.forget_report()
        print(json.dumps(outcome), flush=True)


def main() -> None:
    mode, backend, *programs = sys.argv[1:]
    recorder = Recorder(backend)
    recorder.own_handles()
    triton.runtime.driver.set_active(make_driver(backend, recorder))
    print_outcomes(mode, programs, lambda path: run(path, recorder))


if __name__ == "__main__":
    main()
