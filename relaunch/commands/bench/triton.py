"""`relaunch bench triton`: what a launch through an installed Triton costs with and without relaunch.triton."""

from __future__ import annotations

import json
import subprocess
import sys
from typing import Annotated, Any

import typer

from relaunch.commands.bench.figures import FOLDER, PROGRAMS, ROOT, machine, progress


def table(lines: list[dict[str, Any]]) -> list[str]:
    """Markdown: a row for each way to launch and number of arguments."""
    rows = ["| launched by | arguments | Triton, ns | relaunch, ns | least of Triton | least of relaunch | share |"]
    rows.append("|---|---:|---:|---:|---:|---:|---:|")
    by_place = {(line["way"], line["size"], line["who"]): line for line in lines}
    for way, size in dict.fromkeys((line["way"], line["size"]) for line in lines):
        own, ours = by_place[way, size, "Triton"], by_place[way, size, "relaunch"]
        numbers = " | ".join(f"{number:,.0f}" for number in (own["ns"], ours["ns"], own["least"], ours["least"]))
        rows.append(f"| {way} | {size} | {numbers} | {ours['ns'] / own['ns']:.2f} |")
    return rows


def triton(
    rounds: Annotated[int, typer.Option("--rounds", min=1, help="Turns of each, of 10 bursts of 200 launches.")] = 20,
    as_json: Annotated[bool, typer.Option("--json", help="One object a line, on standard output.")] = False,
) -> None:
    """Time launches through the installed Triton, before and after relaunch.triton.install(): needs Triton and torch.

    Exit 1 where a median with relaunch is above the one without.
    """
    progress("launches through Triton and through relaunch, by turns")
    FOLDER.mkdir(parents=True, exist_ok=True)
    command = [sys.executable, str(PROGRAMS / "triton_cost.py"), str(rounds)]
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
        f"{ours['way']} with {ours['size']} arguments is slower: {ours['ns']:,.0f} ns, {own['ns']:,.0f} without"
        for own, ours in zip(lines[::2], lines[1::2], strict=True)
        if ours["ns"] > own["ns"]
    ]
    for line in slower:
        typer.echo(f"relaunch bench: {line}", err=True)
    if slower:
        raise typer.Exit(1)
