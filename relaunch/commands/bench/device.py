"""`relaunch bench device`: nanoseconds per launch on a GPU, next to everything else that could launch."""

from __future__ import annotations

import ctypes
import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any

import typer

from relaunch.commands.bench import instructions, plot
from relaunch.commands.bench.figures import (
    DIALECT,
    FOLDER,
    HIDDEN_PARAMETERS,
    PROGRAMS,
    SIZES,
    Figure,
    UnfitError,
    first_line,
    machine,
    need,
    progress,
    signature,
    table,
    text,
)

DRIVER = "libcuda.so.1"
GROUPS = [(0, "none")] + [(size, pointers) for pointers in ("dlpack", "object") for size in SIZES if size]
# Arguments -> the most that the precompiled launcher may cost above the floor, of what the generated one does.
WANTED = {0: 1 / 2, 19: 1 / 3, 58: 1 / 4}
MOST_DEATHS = 8


def architecture() -> str:
    """What to compile kernels for. Raises UnfitError where there is no GPU."""
    try:
        driver = ctypes.CDLL(DRIVER)
    except OSError as error:
        raise UnfitError(f"no GPU: {error}") from error
    count, numbers = ctypes.c_int(0), (ctypes.c_int(0), ctypes.c_int(0))
    status = driver.cuInit(0) or driver.cuDeviceGetCount(ctypes.byref(count))
    if status != 0 or count.value == 0:
        raise UnfitError(f"no GPU: {DRIVER} lists {count.value} devices (CUDA status {status})")
    for number, attribute in zip(numbers, (75, 76), strict=True):  # compute capability, major and minor
        driver.cuDeviceGetAttribute(ctypes.byref(number), attribute, 0)
    return f"sm_{numbers[0].value}{numbers[1].value}"


def kernel_name(size: int) -> str:
    return f"empty_{size}"


def kernel_source() -> str:
    """Empty kernels with the parameters of each size, hidden ones last."""
    types = {"*fp32": "float*", "i32": "int"}
    lines = []
    for size in SIZES:
        listed = [types[entry] for entry in signature(size) if entry != "constexpr"] + ["void*"] * HIDDEN_PARAMETERS
        parameters = ", ".join(f"{kind} p{place}" for place, kind in enumerate(listed))
        lines.append(f'extern "C" __global__ void {kernel_name(size)}({parameters}) {{}}\n')
    return "".join(lines)


def compile_kernels(target: str) -> Path:
    """The kernels as a cubin."""
    source = FOLDER / "empty.cu"
    cubin = FOLDER / f"empty-{target}.cubin"
    source.write_text(kernel_source())
    subprocess.run(["nvcc", f"-arch={target}", "-cubin", "-o", cubin, source], check=True)
    return cubin


def make_plan(rounds: int, burst: int) -> dict[str, Any]:
    """Everything that is compiled, in words of device_rounds.py. Raises UnfitError, ToolchainError."""
    from relaunch import generator

    need("gcc")
    target = architecture()
    need("nvcc")
    FOLDER.mkdir(parents=True, exist_ok=True)
    progress(f"empty kernels for {target}, generated launchers with -O3, the floor")
    headers = instructions.cuda_headers()
    specs = [generator.LauncherSpec(DIALECT, signature(size)) for size in SIZES]
    built = generator.build(specs, cache=FOLDER / "generated", jobs=os.cpu_count() or 1, optimize="-O3")
    sizes = {
        str(size): {
            "signature": text(signature(size)),
            "kernel": kernel_name(size),
            "path": str(launcher.path),
            "module": launcher.module_name,
        }
        for size, launcher in zip(SIZES, built, strict=True)
    }
    return {
        "driver": DRIVER,
        "cubin": str(compile_kernels(target)),
        "floor": str(instructions.compile_shared(PROGRAMS / "device_floor.c", headers)),
        "tensor": str(instructions.compile_shared(PROGRAMS / "tensor.c")),
        "sizes": sizes,
        "rounds": rounds,
        "burst": burst,
        "cold": max(1, burst // 10),
        "left_out": {},
    }


class Child:
    """One run of device_rounds.py: its lines, and how it ended."""

    def __init__(self, plan: Mapping[str, Any], seconds: float) -> None:
        self.plan = FOLDER / f"plan-{os.getpid()}.json"
        self.plan.write_text(json.dumps(plan))
        self.seconds = seconds
        self.status = 0
        self.stopped = False

    def lines(self) -> Iterator[dict[str, Any]]:
        """What it says, until it ends or its time is up."""
        command = [sys.executable, str(PROGRAMS / "device_rounds.py"), str(self.plan)]
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:

            def stop() -> None:
                self.stopped = True
                process.kill()

            timer = threading.Timer(self.seconds, stop)
            timer.start()
            assert process.stdout is not None
            for line in process.stdout:
                if line.startswith("{"):  # anything else is a library's own chatter
                    yield json.loads(line)
            process.wait()
            timer.cancel()
        self.status = process.returncode
        self.plan.unlink()


def describe_status(status: int) -> str:
    return f"the process died of {signal.Signals(-status).name}" if status < 0 else f"the process ended with {status}"


def measure(plan: dict[str, Any], groups: Sequence[tuple[int, str]], seconds: float) -> Iterator[dict[str, Any]]:
    """The lines of one or more runs.

    A launcher that takes the process down is left out of a new one; a group whose rounds do, too. When the time is
    up, one last line says what is missing.
    """
    left = [*groups]
    pieces = True
    end = time.monotonic() + seconds
    for _ in range(MOST_DEATHS):
        child = Child({**plan, "groups": left, "pieces": pieces}, end - time.monotonic())
        trying: str | None = "the pieces"
        for line in child.lines():
            yield line
            trying = line.get("trying", trying)
            if line.get("done") == "pieces":
                pieces = False
            elif "done" in line:
                left.remove(tuple(line["done"]))
        if child.status == 0 and not left:
            return
        if child.stopped:
            yield {"left_out": "everything", "groups": left, "reason": f"stopped after {seconds:.0f} s"}
            return
        reason = describe_status(child.status)
        if trying == "the pieces":
            if not pieces or child.status > 0:
                yield {"left_out": "everything", "groups": left, "reason": reason}
                return
            pieces = False
        elif trying is not None:
            plan["left_out"] = {**plan["left_out"], trying: reason}
        else:
            size, pointers = left.pop(0)
            yield {"left_out": "the group", "size": size, "pointers": pointers, "reason": reason}


def above_floor(figures: Sequence[Mapping[str, Any]], cache: str) -> list[Figure]:
    """What each launcher costs above the floor, as a share of what the generated one does when it is called alike.

    Both are medians over the rounds of differences within a round.
    """
    found = {(f["what"], f["size"], f["pointers"]): f["above_floor"] for f in figures if f["cache"] == cache}
    shares = []
    for (what, size, pointers), value in found.items():
        legacy = found.get(("generated *" if what.endswith("*") else "generated", size, pointers), 0.0)
        if not what.startswith(("floor", "generated")) and legacy > 0:
            shares.append(Figure(what, size, pointers, value / legacy, "of legacy"))
    return shares


def shown(lines: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    """The run as Markdown."""
    figures = [line["figure"] for line in lines if "figure" in line]
    for cache in ("warm", "cold"):
        for statistic in ("median", "minimum"):
            own = [
                Figure(f["what"], f["size"], f["pointers"], f[statistic], "ns") for f in figures if f["cache"] == cache
            ]
            yield from table(own, f"ns per launch, instruction cache {cache}, {statistic}", "{:,.0f}")
        own = above_floor(figures, cache)
        title = f"cost above the floor, of the generated launcher's, instruction cache {cache}"
        yield from table(own, title, "{:.2f}")
    wanted = ", ".join(f"{share:.2f} at {size}" for size, share in WANTED.items())
    yield f"Wanted of precompiled.call with tensors, warm: at most {wanted} arguments."
    yield ""
    yield "| piece | ns, median | ns, minimum |"
    yield "|---|---:|---:|"
    for piece in figures:
        if piece["cache"] == "piece":
            yield f"| {piece['what']} | {piece['median']:,.0f} | {piece['minimum']:,.0f} |"
    yield ""
    for what, reason in dict.fromkeys((line["left_out"], line["reason"]) for line in lines if "left_out" in line):
        yield f"left out: {what}: {reason}"


def note(line: Mapping[str, Any], noted: set[str]) -> None:
    """One line of progress for what is worth one and was not said before."""
    if "done" in line:
        progress(f"done: {line['done']}")
    elif "left_out" in line:
        said = f"left out: {line['left_out']}: {line['reason']}"
        if said not in noted:
            progress(said)
        noted.add(said)


def versions() -> dict[str, str]:
    """The versions of what competes, where it is installed."""
    from relaunch.commands.doctor import find_distribution

    names = ("torch", "triton", "cuda-core", "cupy-cuda13x", "cupy-cuda12x", "numpy")
    found = {name: find_distribution(name) for name in names}
    listed = {name: item.detail for name, item in found.items() if item.found}
    return {**listed, "nvcc": first_line("bash", "-c", "nvcc --version | tail -n 2")}


def device(
    rounds: Annotated[int, typer.Option("--rounds", min=1, help="Interleaved rounds.")] = 30,
    burst: Annotated[
        int, typer.Option("--burst", min=1, max=1000, help="Launches in a burst: fewer than the queue holds.")
    ] = 100,
    limit: Annotated[float, typer.Option("--limit", min=1, help="Seconds of measuring, at most.")] = 150,
    svg: Annotated[Path | None, typer.Option("--svg", help="Also plot the warm medians (matplotlib).")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="One object a line, on standard output.")] = False,
) -> None:
    """Time launches on a GPU: the floor in C, both launchers, and what else is installed, in interleaved bursts."""
    from relaunch.generator import ToolchainError

    try:
        if svg is not None:
            plot.pyplot()
        plan = make_plan(rounds, burst)
    except (UnfitError, ToolchainError) as error:
        typer.echo(f"relaunch bench device: {error}", err=True)
        raise typer.Exit(2) from error
    about: dict[str, str] = {**machine(), **versions()}
    lines = []
    noted: set[str] = set()
    for line in measure(plan, GROUPS, limit):
        note(line, noted)
        about.update(line.get("about", {}))
        if "trying" not in line and "about" not in line:
            lines.append(line)
    figures = [line["figure"] for line in lines if "figure" in line]
    if as_json:
        typer.echo(json.dumps({"machine": about, "rounds": rounds, "burst": burst}))
        for line in lines:
            typer.echo(json.dumps(line))
        for share in above_floor(figures, "warm"):
            listed = {"what": share.what, "size": share.size, "pointers": share.pointers, "share": share.value}
            typer.echo(json.dumps({"above_floor_of_generated": listed}))
    else:
        for key, value in about.items():
            typer.echo(f"{key}: {value}")
        for text_line in shown(lines):
            typer.echo(text_line)
    if svg is not None:
        plot.draw(figures, about, svg)
        progress(f"plot: {svg}")
    if not figures:
        raise typer.Exit(1)
