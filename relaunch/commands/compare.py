"""`relaunch compare`: what differs between two dialects, or between a legacy launcher and the precompiled one."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

import relaunch
from relaunch import generator
from relaunch.commands.generate import plain

if TYPE_CHECKING:
    from relaunch.generator.contract import Comparison, Section

LAUNCHERS = ("legacy", "precompiled")
IN_GENERAL = "in general"
WIDTH = 140  # columns, where standard output is no terminal


@dataclass(frozen=True)
class Finding:
    """One signature of the command line, or none for what holds in general, and what was found."""

    section: Section
    report: dict[str, Any]  # for --json
    equal: bool


def compare(
    first: Annotated[str, typer.Argument(metavar="D1", help="A dialect (triton-3.3-cuda), or `legacy`.")],
    second: Annotated[str, typer.Argument(metavar="D2", help="Another dialect, or `precompiled`.")],
    signatures: Annotated[
        list[str] | None, typer.Argument(metavar="[SIGNATURE...]", help="As `relaunch.parse` takes them.")
    ] = None,
    dialect: Annotated[
        str | None, typer.Option("--dialect", metavar="D", help="With `legacy precompiled`: whose launchers.")
    ] = None,
    described: Annotated[
        bool, typer.Option("--described", help="Descriptors have metadata: they are passed by value.")
    ] = False,
    source: Annotated[bool, typer.Option("--source", help="The generated C of each SIGNATURE, too.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="One object a line, on standard output.")] = False,
    html: Annotated[Path | None, typer.Option("--html", metavar="FILE", help="Write a page that stands alone.")] = None,
) -> None:
    """Show what differs between two dialects for each SIGNATURE, or in general without one.

    `compare legacy precompiled --dialect D` shows the wanted differences that calls of a SIGNATURE can meet.
    Exit 0 when nothing differs, 1 when something does, 2 for an unknown dialect or options that do not fit.
    """
    texts: list[str | None] = [*signatures] if signatures else [None]
    own = (first, second) == LAUNCHERS
    check_options(own, dialect, source, texts)
    try:
        if own:
            name = generator.facts(dialect or "").dialect
            title = f"legacy and precompiled, {name}"
            findings = [wanted_differences(name, text, described) for text in texts]
        else:
            names = (generator.facts(first).dialect, generator.facts(second).dialect)
            title = " and ".join(names)
            findings = [differences(names, text, described, source) for text in texts]
    except generator.UnknownDialectError as error:
        raise refused(str(error)) from error
    show(title, findings, as_json, html)
    if not all(finding.equal for finding in findings):
        raise typer.Exit(1)


def check_options(own: bool, dialect: str | None, source: bool, texts: list[str | None]) -> None:
    """Exit 2 where options do not fit together."""
    if own and dialect is None:
        raise refused("legacy precompiled needs --dialect D")
    if own and source:
        raise refused("--source compares two dialects: the precompiled launcher has no generated C")
    if not own and dialect is not None:
        raise refused("--dialect goes with `legacy precompiled`")
    if source and texts == [None]:
        raise refused("--source needs a SIGNATURE")


def refused(message: str) -> typer.Exit:
    """Says why there is nothing to do: exit 2."""
    typer.echo(f"relaunch compare: {message}", err=True)
    return typer.Exit(2)


def parsed(text: str | None) -> tuple[Any, ...] | None:
    """Nested tuples of types. Raises relaunch.SignatureError."""
    return None if text is None else plain(relaunch.parse(text))


def unread(text: str | None, error: relaunch.SignatureError) -> Finding:
    """A signature that the grammar refuses: told on standard error too."""
    from relaunch.generator.contract import Section

    typer.echo(str(error), err=True)
    report = {"code": error.code, "message": error.message, "span": list(error.span)}
    return Finding(Section(text or "", str(error)), {"signature": text, "error": report}, equal=False)


def differences(names: tuple[str, str], text: str | None, described: bool, source: bool) -> Finding:
    """What differs between two dialects. Raises UnknownDialectError."""
    from relaunch.generator import contract

    try:
        signature = parsed(text)
    except relaunch.SignatureError as error:
        return unread(text, error)
    found = contract.compare(*names, signature, described=described)
    report: dict[str, Any] = {
        "signature": text,
        "dialects": list(names),
        "equal": found.equal,
        "differences": [asdict(one) for one in found.differences],
    }
    if signature is not None and found.taken:
        report["parameters"] = list(parameters(found))
    lines: list[str] = []
    note = ""
    if source and signature is not None and found.taken:
        try:
            lines = contract.source_difference(*names, signature, described=described)
            report["source"] = lines
            note = "" if lines else "The generated C is the same."
        except generator.NothingToGenerateError as error:
            note = str(error)
            report["source"] = None
            report["no_source"] = note
    section = contract.section(found, IN_GENERAL if text is None else text, lines, note)
    return Finding(section, report, found.equal and not lines)


def parameters(found: Comparison) -> Iterator[list[dict[str, Any] | None]]:
    """Pairs of parameters, those of one argument in one pair."""
    for pair in found.parameters:
        yield [None if one is None else asdict(one) | {"hidden": one.hidden} for one in pair]


def wanted_differences(name: str, text: str | None, described: bool) -> Finding:
    """The divergences that calls of a signature can meet. Raises UnknownDialectError."""
    from relaunch.differential.divergence import possible
    from relaunch.generator.contract import Row, Section, Sheet, expanded

    try:
        signature = parsed(text)
    except relaunch.SignatureError as error:
        return unread(text, error)
    title = IN_GENERAL if text is None else text
    report: dict[str, Any] = {"signature": text, "dialect": name}
    try:
        types = None if signature is None else expanded(name, signature, described=described)
    except (generator.UnknownType, ValueError) as error:
        report["error"] = {"code": "RC001", "message": str(error), "span": None}
        return Finding(Section(title, str(error)), report, equal=False)
    met = possible(name, types)
    report["equal"] = not met
    report["divergences"] = [
        {"id": one.id, "title": one.title, "when": list(one.call), "summary": one.summary, "reason": one.reason}
        for one in met
    ]
    rows = tuple(Row((one.id, one.title, "; ".join(one.call), one.summary)) for one in met)
    sheets = (Sheet("wanted differences", ("id", "", "when", "ours"), rows),) if met else ()
    verdict = f"{len(met)} can be met" if met else "none can be met"
    return Finding(Section(title, verdict, sheets), report, equal=not met)


def show(title: str, findings: list[Finding], as_json: bool, html: Path | None) -> None:
    """Prints tables or JSON lines, and writes the page where one is wanted; exit 2 where that cannot be written."""
    from relaunch.generator.contract import page

    if html is not None:
        try:
            html.write_text(page(title, [finding.section for finding in findings]), "utf-8")
        except OSError as error:
            raise refused(f"{html}: {error.strerror}") from error
    if as_json:
        for finding in findings:
            typer.echo(json.dumps(finding.report))
        return
    print_tables(title, [finding.section for finding in findings])
    if html is not None:
        typer.echo(f"written to {html}", err=True)


def print_tables(title: str, sections: list[Section]) -> None:
    """One table a sheet; differences stand out where a table has other rows too."""
    from rich.box import SIMPLE_HEAD
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    console = Console(highlight=False)
    if not console.is_terminal:
        console.width = WIDTH
    console.print(Text(title, style="bold"))
    for section in sections:
        console.print(Text(f"\n{section.title}", style="bold cyan"), Text(section.verdict, style="dim"), sep="\n")
        for sheet in section.sheets:
            table = Table(title=Text(sheet.title), title_justify="left", title_style="bold", box=SIMPLE_HEAD)
            for cell in sheet.head:
                table.add_column(Text(cell), overflow="fold")
            marks = not all(row.differs for row in sheet.rows)
            for row in sheet.rows:
                table.add_row(*map(Text, row.cells), style="yellow" if marks and row.differs else "")
            console.print(table)
        if section.note:
            console.print(Text(section.note))
        for line in section.source:
            console.print(Text(line, style=DIFF_STYLES.get(line[:1], "")), soft_wrap=True)


DIFF_STYLES = {"+": "green", "-": "red", "@": "cyan"}
