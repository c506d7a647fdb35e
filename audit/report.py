"""A summary for people: tables, and one page that needs nothing else."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from relaunch.audit.question import MEANINGS, MISFIT, OUTCOMES, PRECOMPILED, UNREADABLE
from relaunch.audit.state import State
from relaunch.audit.summary import SHOWN, Summary
from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.table import Table
from rich.text import Text

WIDTH = 140  # columns, where standard output is no terminal
STYLES = dict(zip(OUTCOMES, ("green", "cyan", "yellow", "red", "magenta"), strict=True))


def printable(text: str) -> str:
    """On one line and in UTF-8 whatever a tree's names hold."""
    shown = "".join(
        one if one.isprintable() else one.encode("unicode_escape", "surrogatepass").decode() for one in text
    )
    return shown.encode("utf-8", "backslashreplace").decode()


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
    import jinja2

    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(Path(__file__).parent / "templates"),
        undefined=jinja2.StrictUndefined,
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    unfinished = path.with_name(f"{path.name}.{os.getpid()}.unfinished")
    stream = environment.get_template("audit.html.j2").stream(
        root=printable(root),
        to=asked(summary.question.to),
        own=summary.question.to == PRECOMPILED,
        summary=summary,
        outcomes=OUTCOMES,
        meanings=MEANINGS,
        bad=(MISFIT, UNREADABLE),
        dialects=json.dumps(summary.dialects),
        rows=_rows(state, summary),
    )
    stream.enable_buffering(64)
    try:
        with unfinished.open("w", encoding="utf-8") as file:
            for part in stream:
                file.write(part)
        unfinished.replace(path)
    finally:
        unfinished.unlink(missing_ok=True)


def _rows(state: State, summary: Summary) -> Iterator[str]:
    """A kernel's row for the page's script: no `<` in it ends the script."""
    outcomes = {outcome: number for number, outcome in enumerate(OUTCOMES)}
    dialects = {dialect: number for number, dialect in enumerate(summary.dialects)}
    for line in json_lines(state, summary):
        kernel = json.loads(line)
        if "outcome" not in kernel:
            continue
        findings = "; ".join(
            f"{one['file']}: {one['message']}" if one["file"] else one["message"] for one in kernel["findings"]
        )
        row = [
            printable(kernel["key"]),
            printable(kernel["kernel"]),
            dialects[kernel["dialect"] or "unknown"],
            outcomes[kernel["outcome"]],
            printable(kernel["signature"] or ""),
            ", ".join(kernel["verified"]),
            "; ".join(kernel["meets"]),
            printable(findings),
        ]
        yield json.dumps(row, separators=(",", ":"), ensure_ascii=True).replace("<", "\\u003c").replace("&", "\\u0026")
