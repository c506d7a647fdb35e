"""Launches signatures in loops, in a process of its own: what `relaunch bench instructions` runs under callgrind.

    python launch_loop.py CASES.json

CASES.json holds {"recorder": path, "tensor": the shared object of bench_tensor, "turns": n, "cases": [{"launcher",
"signature", "pointers", "path", "module"}, ...]}. launcher is `generated` (path and module are its shared object's),
`precompiled.launch` or `precompiled.call`; signature comma text of `*...`, `i32` and `constexpr`, or `{}`; pointers
`dlpack` (bench_tensor.Tensor), `object` (plain objects with a data_ptr() method), `int`, or `none`
where the signature has none.

Each case launches `turns` times, then three times as many, with a call of getppid() before, between and after:
whoever counts tells the loops apart by these calls, which nothing else makes.
"""

from __future__ import annotations

import ctypes
import gc
import json
import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import spelling

FUNCTION = 0x1000


def make_call(case: dict[str, Any], recorder: str) -> Callable[..., Any]:
    """What a case calls."""
    if case["launcher"] == "generated":
        generated: Callable[..., Any] = spelling.import_generated(case["path"], case["module"])
        return generated
    import relaunch

    tree = relaunch.parse(case["signature"])
    launcher = relaunch.Launcher(tree, dialect=spelling.DIALECT, function=FUNCTION, driver=recorder)
    return launcher.launch if case["launcher"] == "precompiled.launch" else launcher


def main(path: Path) -> None:
    """Runs the cases of a file."""
    given = json.loads(path.read_text())
    driver = ctypes.CDLL(given["recorder"], mode=ctypes.RTLD_GLOBAL)
    driver.relaunch_recorder_mode(1)
    tensor = spelling.import_extension(given["tensor"], "bench_tensor").Tensor
    pointers: dict[str, Callable[[int], object]] = {
        "dlpack": tensor,
        "object": spelling.Tensor,
        "int": int,
        "none": int,
    }
    for case in given["cases"]:
        values = spelling.arguments(case["signature"], pointers[case["pointers"]])
        names = {"call": make_call(case, given["recorder"]), "FUNCTION": FUNCTION, "METADATA": spelling.METADATA}
        spelled = [f"a{place}" for place in range(len(values))]
        loop = spelling.loops(spelling.FORMS[case["launcher"]], spelled, names, values)["loop"]
        loop(10)
        gc.collect()
        gc.disable()  # a collection that happens to fall into the loop is no part of a launch
        os.getppid()
        loop(given["turns"])
        os.getppid()
        loop(3 * given["turns"])
        os.getppid()
        gc.enable()


if __name__ == "__main__":
    main(Path(sys.argv[1]))
