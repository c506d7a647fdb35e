"""A summary for people: tables, and one page that needs nothing else."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from relaunch.audit.question import MEANINGS, OUTCOMES, PRECOMPILED
from relaunch.audit.state import State
from relaunch.audit.summary import SHOWN, Summary
from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.table import Table
from rich.text import Text

from relaunch import page
from relaunch.page import printable

WIDTH = 140  # columns, where standard output is no terminal
STYLES = dict(zip(OUTCOMES, ("green", "cyan", "yellow", "red", "magenta"), strict=True))
COLOURS = dict(zip(OUTCOMES, ("#2e9e5b", "#2b8fbf", "#d9a520", "#d0433b", "#9b59b6"), strict=True))  # of the page


def asked(to: str) -> str:
    """What `--to` names."""
    return "the precompiled launcher" if to == PRECOMPILED else to


def show(summary: Summary, root: str) -> None:
    """Tables on standard output."""
    console = Console(highlight=False)
    if not console.is_terminal:
        console.width = WIDTH
    console.print(_counts(summary, f"{printable(root)}: moving to {asked(summary.question.to)}"))
    for outcome, count in summary.totals.items():
        if count:
            console.print(Text(f"{outcome:10} {MEANINGS[outcome]}", style=STYLES[outcome]))
    if summary.unverified:
        console.print(f"{summary.unverified:,} of them have no binary, so nothing was verified")
    if summary.meets:
        console.print(_met(summary))
    for outcome, kernels in sorted(summary.examples.items(), key=lambda item: OUTCOMES.index(item[0])):
        console.print(Text(f"\n{outcome}", style=f"bold {STYLES[outcome]}"))
        for kernel in kernels:
            console.print(Text(_line(kernel)), soft_wrap=True)
        left = summary.totals[outcome] - SHOWN
        if left > 0:
            console.print(f"... and {left:,} more: --json or --html shows them")
    for dialect, found in summary.everywhere():
        if found:
            ids = (
                ", ".join(one.id for one in found)
                if summary.question.to == PRECOMPILED
                else f"{len(found)} differences"
            )
            console.print(Text(f"\nany call from {dialect} can also meet {ids}", style="dim"), soft_wrap=True)


def _counts(summary: Summary, title: str) -> Table:
    table = Table(title=Text(title), title_justify="left", title_style="bold", box=SIMPLE_HEAD)
    table.add_column("dialect")
    for outcome in OUTCOMES:
        table.add_column(outcome, justify="right", style=STYLES[outcome])
    table.add_column("kernels", justify="right")
    for dialect in summary.dialects:
        counts = summary.outcomes[dialect]
        table.add_row(dialect, *(f"{counts[outcome]:,}" for outcome in OUTCOMES), f"{sum(counts.values()):,}")
    if len(summary.dialects) != 1:
        totals = summary.totals
        table.add_section()
        table.add_row("all", *(f"{totals[outcome]:,}" for outcome in OUTCOMES), f"{summary.kernels:,}")
    return table


def _met(summary: Summary) -> Table:
    table = Table(title="what calls can meet", title_justify="left", title_style="bold", box=SIMPLE_HEAD)
    own = summary.question.to == PRECOMPILED
    for name in ("dialect", "difference", "kernels", *(("when", "ours") if own else ("there", summary.question.to))):
        table.add_column(name, justify="right" if name == "kernels" else "left", overflow="fold")
    for dialect, one, count in summary.met():
        title = f"{one.id} {one.title}" if own else one.id
        table.add_row(dialect, *(Text(cell) for cell in (title, f"{count:,}", one.legacy, one.asked)))
    return table


def _line(kernel: dict[str, Any]) -> str:
    """`path: message`, each finding's file in its place."""
    folder, _, name = kernel["key"].rpartition("/")
    messages = []
    for found in kernel["findings"]:
        file = found["file"] or name
        messages.append(f"{folder}/{file}: {found['message']}" if folder else f"{file}: {found['message']}")
    return "  " + printable(messages[0]) + (f" (and {len(messages) - 1} more)" if len(messages) > 1 else "")


def json_lines(state: State, summary: Summary) -> Iterator[str]:
    """One object for each kernel in the order of keys, then the summary."""
    last = -1
    kernels: dict[str, dict[str, Any]] = {}
    for key, place in summary.order:
        if place != last:
            kernels = {kernel["key"]: kernel for kernel in state.kernels_at(place)}
            last = place
        yield json.dumps(kernels[key] | {"to": summary.question.to})
    yield json.dumps(summary.record())


def write_page(path: Path, state: State, summary: Summary, root: str) -> None:
    """The page, complete or not at all. Raises OSError."""
    page.write(
        path,
        Path(__file__).parent / "templates",
        "audit.html.j2",
        heading=printable(root),
        to=asked(summary.question.to),
        own=summary.question.to == PRECOMPILED,
        summary=summary,
        tags=[page.Tag(outcome, COLOURS[outcome], MEANINGS[outcome]) for outcome in OUTCOMES],
        tag_word="outcome",
        group_word="dialect",
        groups=summary.dialects,
        head=("kernel", "signature", "verified", "what was found"),
        hint="path, name, signature, difference or message: all words must be there",
        details="",
        bars=[
            page.Bar(dialect, [summary.outcomes[dialect][outcome] for outcome in OUTCOMES])
            for dialect in summary.dialects
        ],
        rows=_rows(state, summary),
    )


def _rows(state: State, summary: Summary) -> Iterator[str]:
    """A kernel's row for the page's script."""
    outcomes = {outcome: number for number, outcome in enumerate(OUTCOMES)}
    dialects = {dialect: number for number, dialect in enumerate(summary.dialects)}
    for line in json_lines(state, summary):
        kernel = json.loads(line)
        if "outcome" not in kernel:
            continue
        findings = "; ".join(
            f"{one['file']}: {one['message']}" if one["file"] else one["message"] for one in kernel["findings"]
        )
        path, name = kernel["key"], kernel["kernel"]
        cells = (
            path if name in path else f"{path} {name}",
            kernel["signature"] or "",
            ", ".join(kernel["verified"]),
            "; ".join(filter(None, (*kernel["meets"], findings))),
        )
        yield page.row(outcomes[kernel["outcome"]], dialects[kernel["dialect"] or "unknown"], cells)
