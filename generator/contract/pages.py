"""docs/launch-contract: one page for each dialect, and the matrix of all of them."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby

from relaunch.generator.contract import origins, words
from relaunch.generator.contract.aspects import ASPECTS
from relaunch.generator.contract.deduced import DEDUCTIONS, Deduction, recordings
from relaunch.generator.contract.errors import Refusal, refusals
from relaunch.generator.contract.layout import layout
from relaunch.generator.contract.report import environment
from relaunch.generator.contract.steps import step_texts
from relaunch.generator.contract.topics import ordered_attributes, topics
from relaunch.generator.dialects import all_dialects, facts
from relaunch.generator.facts import Facts, Fault
from relaunch.generator.signature import LauncherSpec

MATRIX = "README.md"
VENDORS: Mapping[str, str] = {"cuda": "CUDA", "hip": "HIP"}

# A signature whose layout shows what differs between releases.
SAMPLE = ("*fp32", "i1", "fp16", "i32")

_CODE = re.compile(r"(`[^`]*`)")
_NAME = re.compile(r"(?<![\w`])([A-Za-z_]\w*_\w*(?:\(\))?|data_ptr\(\)|[a-z]+[A-Z]\w*\(?\)?)(?![\w`])")


def markdown(text: str) -> str:
    """Text for a cell: code stays code, names with underscores become code, what Markdown would read is escaped."""
    parts = _CODE.split(text)
    for place, part in enumerate(parts):
        parts[place] = part.replace("|", "\\|") if part.startswith("`") else _prose(part)
    return "".join(parts)


def _prose(text: str) -> str:
    pieces = re.split(r"(`[^`]*`)", _NAME.sub(r"`\1`", text))
    return "".join(piece if piece.startswith("`") else re.sub(r"([*|<>\[\]])", r"\\\1", piece) for piece in pieces)


def pages() -> dict[str, str]:
    """Every page by its file name."""
    rendered = {f"{name}.md": _page(facts(name)) for name in all_dialects()}
    rendered[MATRIX] = _matrix()
    return rendered


def _render(template: str, **values: object) -> str:
    found = environment()
    found.filters["md"] = markdown
    return re.sub("\n{3,}", "\n\n", found.get_template(template).render(values))


def _page(found: Facts) -> str:
    return _render(
        "dialect.md.j2",
        facts=found,
        vendor=VENDORS[found.backend],
        origins=[(release, origins.ORIGINS[release]) for release in found.releases],
        module=found.dialect.replace("-", "_").replace(".", "_"),
        topics={topic.name: topic.statements for topic in topics(found)},
        meanings=origins.MEANINGS,
        elements=origins.ELEMENTS,
        python_side=origins.python_side(found),
        specialised=origins.specialised(found),
        type_bytes=origins.type_bytes(found),
        steps=step_texts(found),
        types=list(_types(found)),
        sample=", ".join(SAMPLE),
        layout=layout(LauncherSpec(found.dialect, SAMPLE)),
        attributes=ordered_attributes(found),
        attributed=next((way for way in found.launch.ways if way.attributes), None),
        words=words,
        errors=list(_errors(found)),
        faults=[(fault, _reach(fault, found), _mended(found, fault), _seen(found, fault)) for fault in found.faults],
        deductions=[(one, _examples(found, one)) for one in DEDUCTIONS if one.concerns(found)],
    )


def _types(found: Facts) -> Iterator[tuple[str, str, str, int, int, str]]:
    """(types, C type, taken, slot, kernel, stored), types that are alike in one row."""
    rows = [
        (name, one.parsed, words.taken(one), one.size, one.kernel_size, words.conversion(name, one))
        for name, one in found.types.items()
        if one.size and not words.by_value(one)
    ]
    for rest, same in groupby(rows, key=lambda row: row[1:]):
        yield ", ".join(f"`{row[0]}`" for row in same), *rest


def _errors(found: Facts) -> Iterator[tuple[str, str, str, str, str]]:
    """(step, subjects, when, type, texts), subjects that are refused alike in one row."""

    def alike(one: Refusal) -> tuple[str, str, str, tuple[str, ...]]:
        return words.STEPS[one.step], one.when, one.type, one.texts

    merged: dict[tuple[str, str, str, tuple[str, ...]], list[str]] = {}
    for one in refusals(found):
        merged.setdefault(alike(one), []).append(one.subject)
    for (step, when, type_name, texts), subjects in merged.items():
        yield step, ", ".join(subjects), when, type_name, ", ".join(f"`{text}`" for text in texts)


def _reach(fault: Fault, found: Facts) -> str:
    """The releases that have a fault of this name on the backend: `3.0 to 3.3`."""
    having = [
        one
        for name in all_dialects()
        if (one := facts(name)).backend == found.backend and any(other.name == fault.name for other in one.faults)
    ]
    releases = [release for one in having for release in one.releases]
    return releases[0] if len(releases) == 1 else f"{releases[0]} to {releases[-1]}"


def _mended(found: Facts, fault: Fault) -> str:
    """What the precompiled launcher makes of a fault."""
    ids = ", ".join(f"[{one}](../divergences.md)" for one in words.mended(found, fault))
    return "; ".join(filter(None, (ids, fault.kept))) or "has it not"


def _seen(found: Facts, fault: Fault) -> str:
    ids = recordings()["faults"][found.dialect].get(fault.name, [])
    return f"recorded: `{ids[0]}`" if ids else "read in the source"


def _examples(found: Facts, one: Deduction) -> str:
    return ", ".join(f"`{name}`" for name in recordings()["deductions"][found.dialect].get(one.key, []))


def _matrix() -> str:
    every = [facts(name) for name in all_dialects()]
    blocks = [(vendor, [one for one in every if one.backend == backend]) for backend, vendor in VENDORS.items()]
    return _render(
        "matrix.md.j2",
        blocks=[(vendor, columns, list(_rows(columns))) for vendor, columns in blocks],
        questions=[(one, _where(one)) for one in DEDUCTIONS],
        origins=origins.ORIGINS,
    )


def _rows(columns: Sequence[Facts]) -> Iterator[tuple[str, list[str]]]:
    """(aspect, one cell for each dialect)."""
    for item, cell in ASPECTS:
        yield item, [cell(found) for found in columns]


def _where(one: Deduction) -> str:
    return "; ".join(
        f"{VENDORS[backend]} {first}" + ("" if first == last else f" to {last}")
        for backend, first, last in one.dialects
    )
