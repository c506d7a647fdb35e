"""What a diff found, as one table for people, as JSON lines, and as case files that replay a fault."""

from __future__ import annotations

import json
import shlex
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from relaunch.differential.diff import Fault, Tally
from relaunch.differential.divergence import divergences, visible
from relaunch.differential.outcome import in_words
from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.markup import escape
from rich.table import Table
from rich.text import Text

from relaunch import generator

SMALLEST = "smallest"  # the folder of the shrunk ones, in that of all


def overview(tallies: list[Tally], title: str) -> Table:
    """One row per dialect: what was compared, what was equal, what differed as listed, faults."""
    shown = Table(title=title, title_justify="left", title_style="bold", header_style="bold", box=SIMPLE_HEAD)
    shown.add_column("")
    columns: list[tuple[str, Callable[[Tally], int], str]] = [
        ("signatures", lambda tally: tally.signatures, ""),
        ("cases", lambda tally: tally.cases, ""),
        ("launches", lambda tally: tally.launches, "green"),
        ("rejections", lambda tally: tally.rejections, "green"),
        ("empty grids", lambda tally: tally.nothing, "green"),
        ("legacy dies", lambda tally: tally.deaths, ""),
        ("as listed", lambda tally: tally.wanted, "cyan"),
        ("unexplained", lambda tally: len(tally.faults), "bold"),
    ]
    for name, count, style in columns:
        if name != "legacy dies" or any(count(tally) for tally in tallies):
            shown.add_column(name, justify="right", style=style)
    for tally in tallies:
        numbers = [
            count(tally) for name, count, _ in columns if name != "legacy dies" or any(t.deaths for t in tallies)
        ]
        shown.add_row(_label(tally), *(f"{number:,}" for number in numbers), style="red" if tally.faults else "")
    return shown


def _label(tally: Tally) -> str:
    return f"{tally.dialect} *" if generator.facts(tally.dialect).native else tally.dialect


WORKED_OUT = "*            no legacy launcher: ours is held to what is worked out from each call\n"
LEGEND = """\
launches     equal: every call and byte that reached the driver
rejections   equal: same error type, same calls before it
empty grids  neither launched nor raised
as listed    differs exactly as the entries below say
unexplained  """


def entries(tallies: list[Tally]) -> Table:
    """One row per entry of the divergence list that made a difference: in how many cases, and its line."""
    shown = Table(box=SIMPLE_HEAD, header_style="bold")
    shown.add_column("entry")
    shown.add_column("cases", justify="right")
    shown.add_column("")
    for entry in divergences():
        held = sum(tally.divergences[entry.id] for tally in tallies)
        if held:
            shown.add_row(Text(f"{entry.id} {entry.title}"), f"{held:,}", Text(entry.summary))
    return shown


def show(
    tallies: list[Tally], *, title: str, smallest: list[Fault], folder: Path, backends: Sequence[Path] = ()
) -> None:
    """The tables, then for each kind of fault its smallest case and the command that runs it again."""
    console = Console(highlight=False)
    if not console.is_terminal:
        console.width = 120
    console.print(overview(tallies, title))
    faults = [fault for tally in tallies for fault in tally.faults]
    style = "bold red" if faults else "bold green"
    if any(generator.facts(tally.dialect).native for tally in tallies):
        console.print(WORKED_OUT, end="", markup=False)
    console.print(LEGEND, end="", markup=False)
    console.print(f"{len(faults):,}" if faults else "0: nothing else differs", style=style)
    if any(tally.wanted for tally in tallies):
        console.print(entries(tallies))
    for tally in tallies:
        if tally.unsupported:
            console.print(f"{len(tally.unsupported)} signatures have no launcher in {tally.dialect}")
    for fault in smallest:
        call = {**fault.case.call, **({"constants": fault.case.constants} if fault.case.constants else {})}
        console.print(f"\n[bold red]{escape(fault.case.id)}[/]: {escape(fault.difference)}", soft_wrap=True)
        console.print(f"  expected {in_words(fault.expected)}, got {in_words(fault.actual)}", markup=False)
        if fault.divergences:
            console.print(f"  with {', '.join(fault.divergences)} taken into account", markup=False)
        console.print("  signature " + json.dumps(fault.case.signature), markup=False, soft_wrap=True)
        console.print("  call " + json.dumps(call), markup=False, soft_wrap=True)
        path = path_of(fault, folder / SMALLEST)
        console.print(f"  {replay_command(path, backends)}", markup=False, soft_wrap=True)
    if smallest:
        console.print(f"\nas they were found, {len(faults):,}: {folder}", markup=False, soft_wrap=True)


def replay_command(path: Path, backends: Sequence[Path]) -> str:
    """The shell command that runs a stored case by our launcher."""
    options = "".join(f" --backend {shlex.quote(str(file))}" for file in backends)
    return f"relaunch replay {shlex.quote(str(path))} --launcher precompiled{options}"


def store(faults: list[Fault], folder: Path) -> list[Path]:
    """One case file per fault, in the golden form; `expect` is what ours should have done."""
    paths: list[Path] = []
    for fault in faults:
        folder.mkdir(parents=True, exist_ok=True)
        path = path_of(fault, folder)
        case = {**fault.case.to_json(), "expect": visible(fault.expected)}
        path.write_text(json.dumps(case) + "\n", "utf-8")
        paths.append(path)
    return paths


def path_of(fault: Fault, folder: Path) -> Path:
    """The case file of a fault in a folder of them."""
    return folder / f"{fault.case.id}.jsonl"


def json_lines(tallies: list[Tally], seed: int, smallest: list[Fault]) -> Iterator[str]:
    """One object per fault, with the smallest case of its kind at the first, then one per dialect."""
    shrunk = {fault.case.id.removesuffix("-smallest"): fault.case.to_json() for fault in smallest}
    for tally in tallies:
        for fault in tally.faults:
            yield json.dumps(
                {
                    "fault": fault.difference,
                    "dialect": tally.dialect,
                    "case": fault.case.to_json(),
                    "expected": visible(fault.expected),
                    "actual": visible(fault.actual),
                    "divergences": list(fault.divergences),
                    **({SMALLEST: shrunk[fault.case.id]} if fault.case.id in shrunk else {}),
                }
            )
    for tally in tallies:
        yield json.dumps(
            {
                "dialect": tally.dialect,
                "seed": seed,
                "signatures": tally.signatures,
                "unsupported": [{"signature": signature, "reason": why} for signature, why in tally.unsupported],
                "cases": tally.cases,
                "launches": tally.launches,
                "rejections": tally.rejections,
                "empty_grids": tally.nothing,
                "legacy_deaths": tally.deaths,
                "wanted": tally.wanted,
                "divergences": {entry.id: tally.divergences[entry.id] for entry in divergences()},
                "faults": len(tally.faults),
                "examples": {one: case.to_json() for one, case in sorted(tally.examples.items())},
            }
        )
