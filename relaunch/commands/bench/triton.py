"""`relaunch bench triton`: what a launch through an installed Triton costs with and without relaunch.triton."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from typing import Annotated, Any

import typer

from relaunch.commands.bench import instructions
from relaunch.commands.bench.figures import FOLDER, PROGRAMS, ROOT, machine, progress


def table(lines: list[dict[str, Any]]) -> list[str]:
    """Markdown: a row for each way to launch and number of arguments."""
    rows = ["| launched by | arguments | in C, ns | Triton, ns | relaunch, ns | share | share above C |"]
    rows.append("|---|---:|---:|---:|---:|---:|---:|")
    for way, size, found in by_way(lines):
        floor, own, ours = found["C"], found["Triton"], found["relaunch"]
        shares = f"{ours / own:.2f} | {(ours - floor) / (own - floor):.2f}"
        rows.append(f"| {way} | {size} | {floor:,.0f} | {own:,.0f} | {ours:,.0f} | {shares} |")
    return rows


def by_way(lines: list[dict[str, Any]]) -> Iterator[tuple[str, int, dict[str, float]]]:
    """Each way to launch, the number of arguments, and nanoseconds by who launches."""
    for way, size in dict.fromkeys((line["way"], line["size"]) for line in lines):
        yield way, size, {line["who"]: line["ns"] for line in lines if (line["way"], line["size"]) == (way, size)}


def triton(
    rounds: Annotated[int, typer.Option("--rounds", min=1, help="Turns of each, of 10 bursts of 200 launches.")] = 20,
    as_json: Annotated[bool, typer.Option("--json", help="One object a line, on standard output.")] = False,
) -> None:
    """Time launches through the installed Triton, before and after relaunch.triton.install(): needs Triton and torch.

    "above C" is the share of what a launch costs above one of the same kernel written in C.

    Exit 1 where a median with relaunch is above the one without.
    """
    progress("launches through Triton and through relaunch, by turns")
    FOLDER.mkdir(parents=True, exist_ok=True)
    floor = instructions.compile_shared(PROGRAMS / "device_floor.c", instructions.cuda_headers())
    command = [sys.executable, str(PROGRAMS / "triton_cost.py"), str(rounds), str(floor)]
    done = subprocess.run(command, cwd=ROOT, stdout=subprocess.PIPE, text=True, check=False)
    if done.returncode != 0:
        typer.echo("relaunch bench: the program above did not end well: it needs Triton, torch and a GPU", err=True)
        raise typer.Exit(2)
    versions, *lines = [json.loads(line) for line in done.stdout.splitlines()]
    if as_json:
        for one in ({"machine": machine() | versions}, *lines):
            typer.echo(json.dumps(one))
    else:
        for key, value in (machine() | versions).items():
            typer.echo(f"{key}: {value}")
        for row in ["", *table(lines)]:
            typer.echo(row)
    slower = [
        f"{way} with {size} arguments is slower: {found['relaunch']:,.0f} ns, {found['Triton']:,.0f} without"
        for way, size, found in by_way(lines)
        if found["relaunch"] > found["Triton"]
    ]
    for line in slower:
        typer.echo(f"relaunch bench: {line}", err=True)
    if slower:
        raise typer.Exit(1)
