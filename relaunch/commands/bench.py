"""`relaunch bench`: what a launch costs in instructions, and binding a signature in time. In a checkout only."""

from __future__ import annotations

import concurrent.futures
import dataclasses
import json
import os
import platform
import re
import resource
import shutil
import statistics
import subprocess
import sys
import sysconfig
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated

import typer

ROOT = Path(__file__).resolve().parents[2]
PROGRAMS = ROOT / "tests" / "bench"
DIALECT = "triton-3.6-cuda"
# Number of arguments -> how many are tensors, ints and constexprs.
SIZES = {0: (0, 0, 0), 19: (5, 9, 5), 58: (14, 26, 18)}
HIDDEN_PARAMETERS = 2  # global_scratch and profile_scratch
LAUNCHERS = ("floor", "generated", "precompiled.launch", "precompiled.call")


@dataclasses.dataclass(frozen=True)
class Figure:
    """One measured number: `what` of a signature of `size` arguments, pointers passed as `pointers`."""

    what: str
    size: int
    pointers: str
    value: float
    unit: str


def signature(size: int) -> tuple[str, ...]:
    """The entries of a signature of one size."""
    tensors, ints, constants = SIZES[size]
    return ("*fp32",) * tensors + ("i32",) * ints + ("constexpr",) * constants


def text(size: int) -> str:
    """The same signature as text."""
    return ", ".join(signature(size)) or "{}"


def progress(line: str) -> None:
    typer.echo(f"bench: {line}", err=True)


def build_floor(folder: Path) -> Path:
    """The C program of the floor, compiled."""
    from relaunch.commands.doctor import header_folders

    headers = [f"-I{path}" for path in header_folders("cuda") if (path / "cuda.h").exists()][:1]
    program = folder / "floor"
    subprocess.run(["gcc", "-O3", *headers, "-o", program, PROGRAMS / "floor.c", "-ldl"], check=True)
    return program


def per_launch(command: list[str], turns: int) -> float:
    """Instructions per launch, counted by callgrind.

    The command launches `turns` times, then three times as many, and calls getppid() before, between and after:
    callgrind writes what it counted at each of these calls. The difference of the two loops has neither start-up nor
    what surrounds a loop in it.
    """
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder, "out")
        callgrind = ["valgrind", "--tool=callgrind", "--quiet", f"--callgrind-out-file={out}"]
        callgrind += ["--dump-before=getppid", *command]
        environment = {**os.environ, "PYTHONHASHSEED": "0", "PYTHONDONTWRITEBYTECODE": "1"}
        done = subprocess.run(callgrind, capture_output=True, text=True, env=environment, check=False)
        if done.returncode != 0:
            raise RuntimeError(f"{' '.join(command)}: exit {done.returncode}\n{done.stderr}")
        dumps = sorted(Path(folder).iterdir(), key=lambda dump: int(dump.suffix[1:] or 0))
        marked = [dump.read_text() for dump in dumps if "Trigger: --dump-before" in dump.read_text()]
    short, long = map(totals, marked[-2:])
    return (long - short) / (2 * turns)


def totals(dump: str) -> int:
    """Instructions counted in one dump of callgrind."""
    found = re.search(r"^totals: (\d+)", dump, re.MULTILINE)
    assert found is not None
    return int(found[1])


@dataclasses.dataclass(frozen=True)
class Count:
    """A count to take: the command that launches, and what its figure is about."""

    launcher: str
    size: int
    pointers: str
    command: list[str]


def counts(folder: Path, recorder: Path, turns: int) -> Iterator[Count]:
    """Every launcher, size and kind of pointers."""
    from relaunch import generator

    floor = build_floor(folder)
    specs = [generator.LauncherSpec(DIALECT, signature(size)) for size in SIZES]
    progress(f"compiling {len(specs)} generated launchers with -O3")
    built = generator.build(specs, cache=folder / "generated", optimize="-O3")
    for size, launcher in zip(SIZES, built, strict=True):
        parameters = SIZES[size][0] + SIZES[size][1] + HIDDEN_PARAMETERS
        for pointers, queries in (("ready", 0), ("queried", SIZES[size][0])):
            words = [str(parameters), str(queries), str(turns)]
            yield Count("floor", size, pointers, [str(floor), str(recorder), *words])
        for pointers in ("tensor", "int"):
            for name in LAUNCHERS[1:]:
                words = [name, text(size), pointers, str(turns), str(recorder)]
                words += [str(launcher.path), launcher.module_name] if name == "generated" else []
                yield Count(name, size, pointers, [sys.executable, str(PROGRAMS / "launch_loop.py"), *words])


def launch_figures(folder: Path, recorder: Path, turns: int) -> list[Figure]:
    """Instructions per launch of every launcher and size."""
    todo = list(counts(folder, recorder, turns))
    figures = []
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        for count, value in zip(todo, pool.map(lambda count: per_launch(count.command, turns), todo), strict=True):
            figures.append(Figure(count.launcher, count.size, count.pointers, value, "instructions/launch"))
            progress(f"{count.launcher}, {count.size} arguments, pointers {count.pointers}: {value:.0f} instructions")
    return figures


def processor_seconds() -> float:
    """Processor time of this process and of the compilers it has waited for: other work on the machine is not in it."""
    children = resource.getrusage(resource.RUSAGE_CHILDREN)
    return time.process_time() + children.ru_utime + children.ru_stime


def bind_figures(folder: Path, recorder: Path, repeats: int) -> list[Figure]:
    """Processor time from a signature to something that launches, for both launchers: median and minimum."""
    import relaunch
    from relaunch import generator

    figures = []
    for size in SIZES:
        times: dict[str, list[float]] = {"bind precompiled": [], "bind generated": []}
        for _ in range(repeats * 100):
            begin = processor_seconds()
            tree = relaunch.parse(text(size))
            relaunch.Launcher(tree, dialect=DIALECT, function=0x1000, name="kernel", driver=str(recorder))
            times["bind precompiled"].append(processor_seconds() - begin)
        for number in range(repeats):
            cache = folder / f"bind-{size}-{number}"
            shutil.rmtree(cache, ignore_errors=True)
            begin = processor_seconds()
            generator.build([generator.LauncherSpec(DIALECT, signature(size))], cache=cache, optimize="-O3")
            times["bind generated"].append(processor_seconds() - begin)
        for what, taken in times.items():
            figures.append(Figure(f"{what}, median", size, "-", statistics.median(taken) * 1e3, "ms of processor time"))
            figures.append(Figure(f"{what}, minimum", size, "-", min(taken) * 1e3, "ms of processor time"))
            progress(f"{what}, {size} arguments: {figures[-2].value:.3f} ms")
    return figures


def first_line(*command: str) -> str:
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout.splitlines()[0]


def machine() -> dict[str, str]:
    """What the figures were measured on and with."""
    lines = Path("/proc/cpuinfo").read_text().splitlines()
    optimized = "--enable-optimizations" in str(sysconfig.get_config_var("CONFIG_ARGS"))
    model = next((line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")), "unknown")
    return {
        "processor": f"{model}, {os.cpu_count()} cores",
        "system": platform.platform(),
        "python": platform.python_version() + (", profile-guided" if optimized else ", not profile-guided"),
        "compiler": first_line("gcc", "--version"),
        "valgrind": first_line("valgrind", "--version"),
    }


def tables(figures: list[Figure]) -> Iterator[str]:
    """The figures as Markdown tables: a row for each launcher, a column for each size."""
    for unit in dict.fromkeys(figure.unit for figure in figures):
        yield ""
        yield f"| {unit} | pointers | " + " | ".join(f"{size} arguments" for size in SIZES) + " |"
        yield "|---|---|" + "---:|" * len(SIZES)
        rows = dict.fromkeys((figure.what, figure.pointers) for figure in figures if figure.unit == unit)
        for what, pointers in rows:
            values = {f.size: f.value for f in figures if (f.what, f.pointers, f.unit) == (what, pointers, unit)}
            form = ",.0f" if unit.startswith("instructions") else ",.3f"
            cells = (format(values[size], form) if size in values else "" for size in SIZES)
            yield f"| {what} | {pointers} | " + " | ".join(cells) + " |"


def bench(
    turns: Annotated[
        int, typer.Option(min=1, help="Launches in the shorter loop; the longer has three times as many.")
    ] = 1000,
    repeats: Annotated[
        int, typer.Option(min=1, help="Builds with gcc per signature; binds are 100 times as many.")
    ] = 5,
    as_json: Annotated[bool, typer.Option("--json", help="One object a line, on standard output.")] = False,
) -> None:
    """Measure instructions per launch (callgrind, recorder in null mode) and the time to bind a signature."""
    if not PROGRAMS.is_dir():
        typer.echo("relaunch bench: needs a checkout of the project (tests/bench)", err=True)
        raise typer.Exit(2)
    for tool in ("valgrind", "gcc"):
        if shutil.which(tool) is None:
            typer.echo(f"relaunch bench: {tool} not found", err=True)
            raise typer.Exit(2)
    from relaunch.differential import recorder
    from relaunch.generator import ToolchainError

    folder = ROOT / "build" / "bench"
    folder.mkdir(parents=True, exist_ok=True)
    driver = Path(recorder.path("cuda"))
    try:
        figures = launch_figures(folder, driver, turns) + bind_figures(folder, driver, repeats)
    except ToolchainError as error:
        typer.echo(f"relaunch bench: {error}", err=True)
        raise typer.Exit(2) from error
    if as_json:
        typer.echo(json.dumps({"machine": machine()}))
        for figure in figures:
            typer.echo(json.dumps(dataclasses.asdict(figure)))
    else:
        for key, value in machine().items():
            typer.echo(f"{key}: {value}")
        for line in tables(figures):
            typer.echo(line)
