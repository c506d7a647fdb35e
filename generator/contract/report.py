"""A comparison as sheets of text, which a terminal shows as tables and `page` as one HTML file."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING

from relaunch.generator.contract.comparison import ABSENT, PARAMETERS, Comparison
from relaunch.generator.contract.layout import Parameter

if TYPE_CHECKING:
    import jinja2


@dataclass(frozen=True)
class Row:
    """Cells of one line. `differs`: it is a difference, not there for the reader's bearings."""

    cells: tuple[str, ...]
    differs: bool = True


@dataclass(frozen=True)
class Sheet:
    """One table."""

    title: str
    head: tuple[str, ...]
    rows: tuple[Row, ...]


@dataclass(frozen=True)
class Section:
    """What there is to say of one signature, or in general."""

    title: str
    verdict: str
    sheets: tuple[Sheet, ...] = ()
    source: tuple[str, ...] = ()  # lines of a unified diff
    note: str = ""


@cache
def environment() -> jinja2.Environment:
    """Templates of pages. An undefined name is an error; what goes into HTML is escaped."""
    import jinja2

    return jinja2.Environment(
        loader=jinja2.FileSystemLoader(Path(__file__).parent / "templates"),
        undefined=jinja2.StrictUndefined,
        autoescape=lambda name: name is not None and ".html" in name,
        auto_reload=False,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )


def section(comparison: Comparison, title: str, source: Sequence[str] = (), note: str = "") -> Section:
    """One comparison: a sheet for each topic, and the parameters of both side by side."""
    count = len(comparison.differences)
    verdict = "nothing differs" if not count else f"{count} difference{'s' if count > 1 else ''}"
    return Section(title, verdict, tuple(_sheets(comparison)), tuple(source), note)


def _sheets(comparison: Comparison) -> Iterator[Sheet]:
    head = ("", comparison.left, comparison.right)
    for topic, differences in groupby(comparison.differences, key=lambda difference: difference.topic):
        if topic != PARAMETERS:
            rows = tuple(Row((one.item, one.left, one.right)) for one in differences)
            yield Sheet(topic, head, rows)
    if comparison.parameters:
        yield _layout(comparison)


def _layout(comparison: Comparison) -> Sheet:
    """The parameters of both dialects in bytes."""
    names = ("", "slot", "size", "align", "offset")
    head = ("#", comparison.left, *names[1:], comparison.right, *names[1:])
    rows = []
    for number, (one, other) in enumerate(comparison.parameters):
        cells = (str(number), *_cells(one), *_cells(other))
        rows.append(Row(cells, _cells(one) != _cells(other)))
    return Sheet(PARAMETERS, head, tuple(rows))


def _cells(parameter: Parameter | None) -> tuple[str, ...]:
    if parameter is None:
        return (ABSENT, "", "", "", "")
    numbers = (parameter.slot, parameter.size, parameter.alignment, parameter.offset)
    return (f"{parameter.type}{' (hidden)' if parameter.hidden else ''}", *map(str, numbers))


def page(title: str, sections: Sequence[Section]) -> str:
    """One HTML page that needs nothing else."""
    return environment().get_template("report.html.j2").render(title=title, sections=sections)
