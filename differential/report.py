"""What a diff found, as one table for people, as JSON lines, and as case files that replay a fault."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from pathlib import Path

from relaunch.differential.compare import launched
from relaunch.differential.diff import Fault, Tally
from relaunch.differential.divergence import divergences, visible
from relaunch.differential.outcome import Outcome
from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.markup import escape
from rich.table import Table
from rich.text import Text

SHOWN_FAULTS = 10  # per report; all are stored


def table(tallies: list[Tally], title: str) -> Table:
    """One column per dialect: what was compared, what was equal, each divergence with its line, faults."""
    shown = Table(title=title, title_justify="left", title_style="bold", header_style="bold", box=SIMPLE_HEAD)
    shown.add_column("")
    for tally in tallies:
        shown.add_column(tally.dialect, justify="right", no_wrap=True)
    shown.add_column("")

    def row(label: str, numbers: Iterable[int | None], line: str = "", style: str = "") -> None:
        counts = ("" if number is None else f"{number:,}" for number in numbers)
        shown.add_row(Text(label), *counts, Text(line), style=style)

    row("signatures", (tally.signatures for tally in tallies), _unsupported(tallies))
    row("cases compared", (tally.cases for tally in tallies))
    shown.add_section()
    row("launches equal", (tally.launches for tally in tallies), "every call and byte that reached the driver", "green")
    row("rejections equal", (tally.rejections for tally in tallies), "same error type, same calls before it", "green")
    row("empty grids equal", (tally.nothing for tally in tallies), "neither launched nor raised", "green")
    if any(tally.deaths for tally in tallies):
        row("legacy dies, ours raises", (tally.deaths for tally in tallies))
    row("differs as listed", (tally.wanted for tally in tallies), "exactly as the entries below say", "cyan")
    seen = [entry for entry in divergences() if any(tally.divergences[entry.id] for tally in tallies)]
    if seen:
        shown.add_section()
    for entry in seen:
        held = (tally.divergences[entry.id] if tally.dialect in entry.dialects else None for tally in tallies)
        row(f"  {entry.id} {entry.title}", held, entry.summary)
    shown.add_section()
    faults = [len(tally.faults) for tally in tallies]
    line, style = ("", "bold red") if any(faults) else ("nothing else differs", "bold green")
    row("unexplained", faults, line, style)
    return shown


def _unsupported(tallies: list[Tally]) -> str:
    left_out = [f"{len(tally.unsupported)} not in {tally.dialect}" for tally in tallies if tally.unsupported]
    return ", ".join(left_out)


def show(tallies: list[Tally], *, title: str, stored: list[Path]) -> None:
    """The table, then for each fault the first difference and the commands that run the case again."""
    console = Console(highlight=False)
    if not console.is_terminal:
        console.width = 120
    console.print(table(tallies, title))
    faults = [fault for tally in tallies for fault in tally.faults]
    for fault, path in list(zip(faults, stored, strict=True))[:SHOWN_FAULTS]:
        console.print(f"\n[bold red]{escape(fault.case.id)}[/]: {escape(fault.difference)}")
        console.print(f"  expected {_in_words(fault.expected)}, got {_in_words(fault.actual)}", markup=False)
        if fault.divergences:
            console.print(f"  with {', '.join(fault.divergences)} taken into account", markup=False)
        console.print("  signature " + json.dumps(fault.case.signature), markup=False, soft_wrap=True)
        for launcher in ("generated", "precompiled"):
            console.print(f"  relaunch replay {path} --launcher {launcher}", markup=False, soft_wrap=True)
    if len(faults) > SHOWN_FAULTS:
        console.print(f"\n{len(faults) - SHOWN_FAULTS} more in {stored[0].parent}", markup=False, soft_wrap=True)


def _in_words(outcome: Outcome) -> str:
    if "events" not in outcome:
        return ", ".join(outcome)
    error = outcome.get("error")
    did = "a launch" if launched(outcome) else "no launch"
    return did if error is None else f"{did} and {error['type']}"


def store(faults: list[Fault], folder: Path) -> list[Path]:
    """One case file per fault, in the golden form; `expect` is what ours should have done."""
    paths: list[Path] = []
    for fault in faults:
        folder.mkdir(parents=True, exist_ok=True)
        path = folder / f"{fault.case.id}.jsonl"
        case = {**fault.case.to_json(), "expect": visible(fault.expected)}
        path.write_text(json.dumps(case) + "\n", "utf-8")
        paths.append(path)
    return paths


def json_lines(tallies: list[Tally], seed: int) -> Iterator[str]:
    """One object per fault, then one per dialect."""
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
            }
        )
