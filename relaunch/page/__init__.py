"""Pages that stand alone: one HTML file each, with nothing from elsewhere, and every text escaped.

What all pages share is in `templates/`: `page.html.j2` is the frame, `chart.html.j2` has bars, `rows.html.j2` a table
that is searched in the browser. Stages bring their own templates.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

TEMPLATES = Path(__file__).parent / "templates"


@dataclass(frozen=True)
class Tag:
    """A kind of row: its word, colour (CSS) and meaning."""

    name: str
    colour: str
    meaning: str


@dataclass(frozen=True)
class Bar:
    """One line of a chart: how many there are of each tag."""

    name: str
    counts: Sequence[int]
    title: str = ""


def printable(text: str) -> str:
    """On one line and in UTF-8 whatever a name holds."""
    shown = "".join(
        one if one.isprintable() else one.encode("unicode_escape", "surrogatepass").decode() for one in text
    )
    return shown.encode("utf-8", "backslashreplace").decode()


def row(tag: int, group: int, cells: Iterable[str], details: str = "") -> str:
    """A row for the script of `rows.html.j2`: the places of its tag and group, its cells, and what opens below it."""
    shown = [tag, group, *map(printable, cells), "\n".join(map(printable, details.split("\n")))]
    return script_json(shown)


def script_json(value: object) -> str:
    """JSON that means the same inside a script: nothing in it ends the script or begins markup."""
    text = json.dumps(value, separators=(",", ":"), ensure_ascii=True)
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")


def write(path: Path, folder: Path, template: str, **names: object) -> None:
    """The page of a template in `folder`, complete or not at all. Raises OSError."""
    import jinja2

    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader([folder, TEMPLATES]),
        undefined=jinja2.StrictUndefined,
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    environment.filters["script"] = script_json
    environment.filters["count"] = lambda number: f"{number:,}"
    stream = environment.get_template(template).stream(**names)
    stream.enable_buffering(64)
    write_whole(path, stream)


def write_whole(path: Path, parts: Iterable[str]) -> None:
    """A UTF-8 text file that appears when all went well, and not at all otherwise. Raises OSError."""
    if path.exists() and not path.is_file():  # /dev/null, a pipe: nothing to replace
        with path.open("w", encoding="utf-8") as file:
            file.writelines(parts)
        return
    unfinished = path.with_name(f"{path.name}.{os.getpid()}.unfinished")
    try:
        with unfinished.open("w", encoding="utf-8") as file:
            file.writelines(parts)
        unfinished.replace(path)
    finally:
        unfinished.unlink(missing_ok=True)
