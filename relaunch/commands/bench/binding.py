"""What it takes from a signature to something that launches."""

from __future__ import annotations

import resource
import statistics
import time
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

from relaunch.commands.bench.figures import DIALECT, SIZES, Figure, progress, signature, text

BATCH = 100
UNIT = "ms of processor time"
CHEAPER = "bind, generated / precompiled, medians"
LEAST_CHEAPER = {19: 10_000.0}


def processor_seconds() -> float:
    """Processor time of this process and of those it waited for: other work on the machine is not in it."""
    children = resource.getrusage(resource.RUSAGE_CHILDREN)
    return time.process_time() + children.ru_utime + children.ru_stime


def taken(what: Callable[[], object], times: int) -> float:
    """Milliseconds of processor time of one call, over `times` of them."""
    begin = processor_seconds()
    for _ in range(times):
        what()
    return (processor_seconds() - begin) * 1e3 / times


def bind_figures(folder: Path, recorder: Path, repeats: int, sizes: Sequence[int] = tuple(SIZES)) -> list[Figure]:
    """Median and minimum of binding a tree, its text, and of gcc -O3 on the legacy source.

    Builds with gcc are `repeats` for each size; after each come 10 batches of 100 binds.
    """
    import relaunch
    from relaunch import generator

    def bind(source: relaunch.Tree | str) -> object:
        return relaunch.Launcher(source, dialect=DIALECT, function=0x1000, driver=str(recorder))

    figures = []
    cache = folder / "bind"
    for size in sizes:
        spelled, spec = text(signature(size)), generator.LauncherSpec(DIALECT, signature(size))
        tree = relaunch.parse(spelled)
        (built,) = generator.build([spec], cache=cache, optimize="-O3")  # what launchers share is built now
        times: dict[str, list[float]] = {"precompiled, from its tree": [], "precompiled, from its text": []}
        times["generated, gcc -O3"] = []
        for _ in range(repeats):
            for _ in range(10):
                times["precompiled, from its tree"].append(taken(partial(bind, tree), BATCH))
                times["precompiled, from its text"].append(taken(partial(bind, spelled), BATCH))
            built.path.unlink()
            times["generated, gcc -O3"].append(taken(partial(generator.build, [spec], cache, optimize="-O3"), 1))
        for what, found in times.items():
            figures.append(Figure(f"bind {what}, median", size, "-", statistics.median(found), UNIT))
            figures.append(Figure(f"bind {what}, minimum", size, "-", min(found), UNIT))
        ratio = statistics.median(times["generated, gcc -O3"]) / statistics.median(times["precompiled, from its tree"])
        figures.append(Figure(CHEAPER, size, "-", ratio, "times"))
        progress(f"bind, {size} arguments: {ratio:,.0f} times cheaper than gcc -O3")
    return figures


def bind_findings(figures: Sequence[Figure]) -> list[str]:
    """A line for each size at which binding is not as much cheaper as it must be."""
    return [
        f"bind at {figure.size} arguments: {figure.value:,.0f} times cheaper than gcc -O3, at least "
        f"{LEAST_CHEAPER[figure.size]:,.0f} wanted"
        for figure in figures
        if figure.what == CHEAPER and figure.value < LEAST_CHEAPER.get(figure.size, 0.0)
    ]
