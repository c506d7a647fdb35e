"""What is measured, on which signatures, with which machine; and how figures are shown."""

from __future__ import annotations

import dataclasses
import os
import platform
import shutil
import subprocess
import sysconfig
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

import typer

ROOT = Path(__file__).resolve().parents[3]
PROGRAMS = ROOT / "tests" / "bench"
FOLDER = ROOT / "build" / "bench"
DIALECT = "triton-3.6-cuda"
# Number of arguments -> how many are tensors, ints and constexprs.
SIZES = {0: (0, 0, 0), 5: (2, 2, 1), 19: (5, 9, 5), 58: (14, 26, 18), 200: (48, 90, 62)}
HIDDEN_PARAMETERS = 2  # global_scratch and profile_scratch


@dataclasses.dataclass(frozen=True)
class Figure:
    """One measured number: `what` of a signature of `size` arguments, pointers passed as `pointers`."""

    what: str
    size: int
    pointers: str
    value: float
    unit: str


class UnfitError(Exception):
    """What this machine or checkout lacks to measure; the text names it."""


def signature(size: int) -> tuple[str, ...]:
    """The entries of a signature of one size."""
    tensors, ints, constants = SIZES[size]
    return ("*fp32",) * tensors + ("i32",) * ints + ("constexpr",) * constants


def text(entries: Iterable[str]) -> str:
    """A signature as text."""
    return ", ".join(entries) or "{}"


def progress(line: str) -> None:
    typer.echo(f"bench: {line}", err=True)


def need(*tools: str) -> None:
    """Raises UnfitError where the checkout or one of the tools is missing."""
    if not PROGRAMS.is_dir():
        raise UnfitError("needs a checkout of the project (tests/bench)")
    for tool in tools:
        if shutil.which(tool) is None:
            raise UnfitError(f"{tool} not found")


def first_line(*command: str) -> str:
    """The first line that a command prints; empty where there is none."""
    if shutil.which(command[0]) is None:
        return ""
    lines = subprocess.run(command, capture_output=True, text=True, check=False).stdout.splitlines()
    return lines[0] if lines else ""


def python_build() -> str:
    """The interpreter and its compiler; its own costs depend on whether it was built with profiles, said if known."""
    guided = ", profile-guided" if "--enable-optimizations" in str(sysconfig.get_config_var("CONFIG_ARGS")) else ""
    return f"{platform.python_implementation()} {platform.python_version()}, {platform.python_compiler()}{guided}"


def machine() -> dict[str, str]:
    """What the figures were measured on and with."""
    lines = Path("/proc/cpuinfo").read_text().splitlines()
    model = next((line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")), "unknown")
    found = {
        "processor": f"{model}, {os.cpu_count()} cores",
        "system": f"{platform.platform()}, {' '.join(platform.libc_ver())}",
        "python": python_build(),
        "compiler": first_line("g++", "--version"),
        "valgrind": first_line("valgrind", "--version"),
    }
    return {key: value for key, value in found.items() if value}


def table(figures: Sequence[Figure], title: str, form: str) -> Iterator[str]:
    """One Markdown table: a row for each launcher and kind of pointers, a column for each size."""
    sizes = sorted({figure.size for figure in figures})
    yield ""
    yield f"| {title} | pointers | " + " | ".join(f"{size} arguments" for size in sizes) + " |"
    yield "|---|---|" + "---:|" * len(sizes)
    for what, pointers in dict.fromkeys((figure.what, figure.pointers) for figure in figures):
        values = {f.size: f.value for f in figures if (f.what, f.pointers) == (what, pointers)}
        cells = (form.format(values[size]) if size in values else "" for size in sizes)
        yield f"| {what} | {pointers} | " + " | ".join(cells) + " |"


FORMS = {"ms of processor time": "{:,.3f}", "times": "{:,.1f}"}


def tables(figures: Sequence[Figure]) -> Iterator[str]:
    """The figures as Markdown tables, one for each unit."""
    for unit in dict.fromkeys(figure.unit for figure in figures):
        yield from table([f for f in figures if f.unit == unit], unit, FORMS.get(unit, "{:,.0f}"))
