"""What a diff found as JUnit's XML, which CI systems read: a test suite for each dialect, a test for each signature.

The file is of the stricter form, that of Ant's tasks: every attribute is there, and a test fails at most once.
"""

from __future__ import annotations

import json
import platform
from collections.abc import Mapping, Sequence
from datetime import datetime, timezone
from pathlib import Path
from xml.etree import ElementTree

from relaunch.differential.case import Signature
from relaunch.differential.diff import Fault, Tally
from relaunch.differential.divergence import divergences
from relaunch.differential.shrink import kind_of
from relaunch.generator.signature import signature_text

from relaunch.page import printable, write_whole

SHOWN = 10  # commands in the text of a failure; all cases are stored


def write(path: Path, tallies: Sequence[Tally], seed: int, commands: Mapping[str, str]) -> None:
    """`commands` runs the case of an id again. The file is complete or not at all. Raises OSError."""
    suites = ElementTree.Element("testsuites")
    for number, tally in enumerate(tallies):
        suites.append(suite(tally, number, seed, commands))
    ElementTree.indent(suites)
    write_whole(path, ['<?xml version="1.0" encoding="UTF-8"?>\n', ElementTree.tostring(suites, "unicode"), "\n"])


def suite(tally: Tally, number: int, seed: int, commands: Mapping[str, str]) -> ElementTree.Element:
    """One dialect."""
    failing: dict[Signature, list[Fault]] = {}
    for fault in tally.faults:
        failing.setdefault(fault.case.signature, []).append(fault)
    tests = [_test(tally.dialect, one, failing.get(one, []), commands) for one in tally.compared]
    skipped = [_skipped(tally.dialect, one, why) for one, why in tally.unsupported]
    attributes = {
        "name": tally.dialect,
        "package": "relaunch.diff",
        "id": str(number),
        "timestamp": datetime.now(timezone.utc).strftime("%Y-%m-%dT%H:%M:%S"),
        "hostname": printable(platform.node()) or "localhost",
        "tests": str(len(tests) + len(skipped)),
        "failures": str(sum(bool(test) for test in map(len, tests))),
        "errors": "0",
        "skipped": str(len(skipped)),
        "time": f"{tally.seconds:.3f}",
    }
    made = ElementTree.Element("testsuite", attributes)
    properties = ElementTree.SubElement(made, "properties")
    for name, value in _counts(tally, seed).items():
        ElementTree.SubElement(properties, "property", name=name, value=str(value))
    made.extend([*tests, *skipped])
    ElementTree.SubElement(made, "system-out")
    ElementTree.SubElement(made, "system-err")
    return made


def _counts(tally: Tally, seed: int) -> dict[str, int]:
    counts = {
        "seed": seed,
        "cases": tally.cases,
        "launches": tally.launches,
        "rejections": tally.rejections,
        "empty grids": tally.nothing,
        "legacy deaths": tally.deaths,
        "as listed": tally.wanted,
        "unexplained": len(tally.faults),
    }
    listed = {entry.id: tally.divergences[entry.id] for entry in divergences() if tally.divergences[entry.id]}
    return counts | listed


def _element(dialect: str, signature: Signature) -> ElementTree.Element:
    name = printable(signature_text(signature)) or "no arguments"
    return ElementTree.Element("testcase", name=name, classname=dialect, time="0")


def _skipped(dialect: str, signature: Signature, why: str) -> ElementTree.Element:
    made = _element(dialect, signature)
    ElementTree.SubElement(made, "skipped", message=printable(why))
    return made


def _test(
    dialect: str, signature: Signature, faults: Sequence[Fault], commands: Mapping[str, str]
) -> ElementTree.Element:
    made = _element(dialect, signature)
    if faults:
        kinds = {kind_of(fault.difference) for fault in faults}
        more = f" (and {len(faults) - 1:,} more)" if len(faults) > 1 else ""
        message = printable(faults[0].difference) + more
        failure = ElementTree.SubElement(made, "failure", message=message, type=printable(min(kinds)))
        lines = [line for fault in faults[:SHOWN] for line in _lines(fault, commands)]
        failure.text = "\n".join(map(printable, lines))
    return made


def _lines(fault: Fault, commands: Mapping[str, str]) -> list[str]:
    return [
        f"{fault.case.id}: {fault.difference}",
        f"  call {json.dumps(fault.case.call)}",
        f"  {commands[fault.case.id]}" if fault.case.id in commands else "  (not stored)",
    ]
