"""What is counted of a launch: every launcher, size and kind of pointers, and what an added int costs."""

from __future__ import annotations

import concurrent.futures
import dataclasses
import itertools
import json
import os
import subprocess
import sys
import sysconfig
import uuid
from collections.abc import Iterator, Sequence
from pathlib import Path

from relaunch.commands.bench import callgrind
from relaunch.commands.bench.figures import (
    DIALECT,
    FOLDER,
    HIDDEN_PARAMETERS,
    PROGRAMS,
    SIZES,
    Figure,
    progress,
    signature,
    text,
)

LAUNCH = "instructions from the launcher's entry to the driver's"
TURN = "instructions of a whole turn of the loop, interpreter and recorder included"
LAUNCHERS = ("generated", "precompiled.launch", "precompiled.call")
POINTERS = ("dlpack", "object", "int")
# Arguments of a signature of ints alone: the cost of one more, and whether it stays the same.
RAMP = (100, 500, 1000, 2000)


@dataclasses.dataclass(frozen=True)
class Case:
    """One count to take, in words of launch_loop.py; path and module are a generated launcher's."""

    launcher: str
    signature: str
    pointers: str
    path: str = ""
    module: str = ""

    @property
    def size(self) -> int:
        return 0 if self.signature == "{}" else self.signature.count(",") + 1


def compile_shared(source: Path, headers: Sequence[Path] = ()) -> Path:
    """A C file of tests/bench as a shared object that Python can load, compiled where it is not yet."""
    FOLDER.mkdir(parents=True, exist_ok=True)
    target = FOLDER / f"{source.stem}.{sysconfig.get_config_var('SOABI')}.so"
    if not target.exists() or target.stat().st_mtime < source.stat().st_mtime:
        folders = [f"-I{folder}" for folder in (sysconfig.get_path("include"), *headers)]
        fresh = target.with_suffix(f".{uuid.uuid4().hex}")
        subprocess.run(["gcc", "-O3", "-shared", "-fPIC", *folders, "-o", fresh, source, "-ldl"], check=True)
        fresh.replace(target)
    return target


def cuda_headers() -> list[Path]:
    """The folder of cuda.h. Raises ToolchainError where there is none."""
    from relaunch.commands.doctor import header_folders

    return [path for path in header_folders("cuda") if (path / "cuda.h").exists()][:1]


def build_floor(folder: Path) -> Path:
    """The C program of the floor, compiled."""
    program = folder / "floor"
    headers = [f"-I{path}" for path in cuda_headers()]
    subprocess.run(["gcc", "-O3", *headers, "-o", program, PROGRAMS / "floor.c", "-ldl"], check=True)
    return program


def cases(folder: Path, sizes: Sequence[int], launchers: Sequence[str], pointers: Sequence[str]) -> Iterator[Case]:
    """Every launcher, size and kind of pointers; generated launchers are built on the way."""
    from relaunch import generator

    built: Sequence[generator.Built] = ()
    if "generated" in launchers:
        progress(f"{len(sizes)} generated launchers with -O3")
        specs = [generator.LauncherSpec(DIALECT, signature(size)) for size in sizes]
        built = generator.build(specs, cache=folder / "generated", optimize="-O3")
    places = {size: (str(one.path), one.module_name) for size, one in zip(sizes, built, strict=False)}
    for size in sizes:
        for kind in pointers if SIZES[size][0] else ("none",):
            for name in launchers:
                place = places[size] if name == "generated" else ("", "")
                yield Case(name, text(signature(size)), kind, *place)


def ramp() -> Iterator[Case]:
    """Launches of ints alone."""
    for size in RAMP:
        yield Case("precompiled.call", text(["i32"] * size), "none")


def count_cases(todo: Sequence[Case], recorder: Path, turns: int) -> list[Figure]:
    """Two figures a case, in one process under callgrind."""
    from relaunch import _core

    core = str(Path(str(_core.__file__)).resolve())
    generated = {str(Path(case.path).parent) for case in todo if case.path}
    tensor = compile_shared(PROGRAMS / "tensor.c")
    given = {"recorder": str(recorder), "tensor": str(tensor), "turns": turns}
    listed = FOLDER / f"cases-{os.getpid()}-{id(todo)}.json"
    listed.write_text(json.dumps({**given, "cases": [dataclasses.asdict(case) for case in todo]}))
    try:
        dumps = callgrind.counted([sys.executable, PROGRAMS / "launch_loop.py", listed])
    finally:
        listed.unlink()
    if len(dumps) != 3 * len(todo):
        raise RuntimeError(f"{len(dumps)} marks of {len(todo)} cases")
    figures = []
    for case, short, long in zip(todo, dumps[1::3], dumps[2::3], strict=True):
        entries, spent = callgrind.between(
            long,
            lambda path: path == core or str(Path(path).parent) in generated,
            lambda path: path == str(recorder),
        )
        if entries != 3 * turns:
            raise RuntimeError(f"{case.launcher} was entered {entries} times in {3 * turns} launches")
        turn = (callgrind.total(long) - callgrind.total(short)) / (2 * turns)
        figures.append(Figure(case.launcher, case.size, case.pointers, spent, LAUNCH))
        figures.append(Figure(case.launcher, case.size, case.pointers, turn, TURN))
    return figures


def count_floor(program: Path, size: int, queries: int, recorder: Path, turns: int) -> list[Figure]:
    """The same of the C program, after `queries` pointer queries a launch."""
    parameters = SIZES[size][0] + SIZES[size][1] + HIDDEN_PARAMETERS
    words = [str(recorder), str(parameters), str(queries), str(turns)]
    _, short, long = callgrind.counted([program, *words])
    turn = (callgrind.total(long) - callgrind.total(short)) / (2 * turns)
    inside = sum(c.instructions for c in callgrind.crossings(long) if c.called == str(recorder)) / (3 * turns)
    pointers = "queried" if queries else "ready"
    return [Figure("floor", size, pointers, turn - inside, LAUNCH), Figure("floor", size, pointers, turn, TURN)]


def count_floors(folder: Path, sizes: Sequence[int], recorder: Path, turns: int) -> list[Figure]:
    """The floor at every size, with parameters ready and with a pointer query for each tensor."""
    program = build_floor(folder)
    figures = []
    for size in sizes:
        for queries in dict.fromkeys((0, SIZES[size][0])):
            figures += count_floor(program, size, queries, recorder, turns)
    return figures


def count_all(todo: Sequence[Case], recorder: Path, turns: int, jobs: int = 2) -> list[Figure]:
    """The figures of many cases, from `jobs` processes at a time, in order."""
    parts = [todo[start::jobs] for start in range(min(jobs, len(todo)))]
    with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        counted = list(pool.map(lambda part: count_cases(part, recorder, turns), parts))
    figures: list[Figure] = []
    for place in range(len(todo)):
        part, at = counted[place % jobs], 2 * (place // jobs)
        figures += part[at : at + 2]
    return figures


def slopes(figures: Sequence[Figure]) -> list[Figure]:
    """Instructions of one more int, between successive lengths of the ramp."""
    steps = sorted((f.size, f.value) for f in figures if f.unit == LAUNCH and f.size in RAMP)
    return [
        Figure(f"one more int, {low} to {high} arguments", high, "none", (to - start) / (high - low), "instructions")
        for (low, start), (high, to) in itertools.pairwise(steps)
    ]
