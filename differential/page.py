"""What a diff found as one HTML page that stands alone: counts, charts, and an example of everything, searchable."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from relaunch.differential.diff import Fault, Tally
from relaunch.differential.divergence import divergences
from relaunch.differential.examples import Example
from relaunch.differential.outcome import Outcome, in_words
from relaunch.generator.signature import signature_text

from relaunch import page

MOST_FAULTS = 500  # rows of each dialect; all cases are stored
SHOWN = 400  # characters of a signature or a difference in a cell; what opens below has all

TAGS = (
    page.Tag("launches", "#2e9e5b", "equal: every call and byte that reached the driver"),
    page.Tag("rejections", "#7aa65a", "equal: same error type, same calls before it"),
    page.Tag("empty grids", "#9aa7b0", "neither launched nor raised"),
    page.Tag("legacy dies", "#9b59b6", "legacy killed its process, ours raised"),
    page.Tag("as listed", "#2b8fbf", "differs exactly as an entry of the list says"),
    page.Tag("unexplained", "#d0433b", "anything else: a fault"),
    page.Tag("no launcher", "#d9a520", "signatures that the dialect has no launcher for"),
)
LISTED, UNEXPLAINED, NO_LAUNCHER = 4, 5, 6
PLACES = {"launches": 0, "rejections": 1, "nothing": 2, "deaths": 3}  # of the counts of a tally, among the tags


def write(
    path: Path,
    tallies: Sequence[Tally],
    *,
    title: str,
    examples: Mapping[str, Sequence[Example]],
    smallest: Sequence[Fault],
    commands: Mapping[str, str],
) -> None:
    """`examples` of each dialect; `commands` runs the case of an id again. Complete or not at all. Raises OSError."""
    counts = [counts_of(tally) for tally in tallies]
    entries = [entry for entry in divergences() if any(tally.divergences[entry.id] for tally in tallies)]
    held = [sum(tally.divergences[entry.id] for tally in tallies) for entry in entries]
    page.write(
        path,
        Path(__file__).parent / "templates",
        "diff.html.j2",
        heading=page.printable(title),
        tallies=list(zip(tallies, counts, strict=True)),
        totals=[sum(column) for column in zip(*counts, strict=True)],
        tags=TAGS,
        bars=[page.Bar(tally.dialect, some[:NO_LAUNCHER]) for tally, some in zip(tallies, counts, strict=True)],
        entries=list(zip(entries, held, strict=True)),
        entry_bars=[
            page.Bar(f"{entry.id} {entry.title}", [0] * LISTED + [number], entry.summary)
            for entry, number in zip(entries, held, strict=True)
        ],
        tag_word="kind",
        group_word="dialect",
        groups=[tally.dialect for tally in tallies],
        head=("what", "cases", "signature", "legacy", "ours"),
        hint="entry, difference, type, argument, driver call or error: all words must be there",
        details="call and records",
        rows=_rows(tallies, examples, smallest, commands),
    )


def counts_of(tally: Tally) -> list[int]:
    """How many there are of each tag."""
    alike = [tally.launches, tally.rejections, tally.nothing, tally.deaths]
    return [*alike, tally.wanted, len(tally.faults), len(tally.unsupported)]


def _rows(
    tallies: Sequence[Tally],
    examples: Mapping[str, Sequence[Example]],
    smallest: Sequence[Fault],
    commands: Mapping[str, str],
) -> Iterator[str]:
    """Faults first, the smallest ones before all; then the examples; then what has no launcher."""
    for group, tally in enumerate(tallies):
        small = [fault for fault in smallest if fault.case.dialect == tally.dialect]
        for fault in (*small, *tally.faults[:MOST_FAULTS]):
            yield _fault(group, fault, commands.get(fault.case.id))
    for group, tally in enumerate(tallies):
        for example in examples.get(tally.dialect, ()):
            yield _example(group, tally, example)
    for group, tally in enumerate(tallies):
        for signature, why in tally.unsupported:
            yield page.row(NO_LAUNCHER, group, (_cut(why), "", _cut(signature_text(signature)), "", ""))


def _fault(group: int, fault: Fault, command: str | None) -> str:
    listed = [f"with {', '.join(fault.divergences)} taken into account"] if fault.divergences else []
    details = [
        *([command] if command else []),
        fault.difference,
        *listed,
        *_called(fault.case.signature, fault.case.call),
        *_record("expected", fault.expected),
        *_record("ours", fault.actual),
    ]
    signature = _cut(signature_text(fault.case.signature))
    cells = (_cut(fault.difference), "1", signature, in_words(fault.expected), in_words(fault.actual))
    return page.row(UNEXPLAINED, group, cells, "\n".join(details))


def _example(group: int, tally: Tally, example: Example) -> str:
    place = PLACES.get(example.kind, LISTED)
    what, reason, number = TAGS[place].meaning, [], counts_of(tally)[place]
    if place == LISTED:
        entry = next(entry for entry in divergences() if entry.id == example.kind)
        what, number = f"{entry.id} {entry.title}", tally.divergences[entry.id]
        reason = [entry.summary, entry.reason]
    legacy = "" if example.legacy is None else in_words(example.legacy)
    details = [
        *reason,
        *_called(example.case.signature, example.case.call),
        *([] if example.legacy is None else _record("legacy", example.legacy)),
        *_record("ours", example.ours),
    ]
    cells = (what, f"{number:,}", _cut(signature_text(example.case.signature)), legacy, in_words(example.ours))
    return page.row(place, group, cells, "\n".join(details))


def _called(signature: object, call: Mapping[str, object]) -> list[str]:
    return ["", f"signature {json.dumps(signature)}", *(f"{name} {json.dumps(value)}" for name, value in call.items())]


def _record(whose: str, outcome: Outcome) -> list[str]:
    """What happened, an event a line."""
    shown = [json.dumps(event) for event in outcome.get("events", ())]
    rest = {name: value for name, value in outcome.items() if name not in ("events", "slots") and value is not None}
    return ["", f"{whose}:", *shown, *([json.dumps(rest)] if rest else [])]


def _cut(text: str) -> str:
    return text if len(text) <= SHOWN else text[:SHOWN] + "..."
