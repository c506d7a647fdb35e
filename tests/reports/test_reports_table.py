"""docs/fault-reports.md: every report once, in its area, with tests that pytest collects; every test here is named."""

from __future__ import annotations

import ast
import json
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "fault-reports.md"
TITLES = {
    "types": "Types",
    "error_message": "Counts and error messages",
    "hidden_params": "Hidden parameters",
    "tuple_constexpr": "Tuples and constexpr",
    "descriptor": "Descriptors",
    "grid": "Grid",
    "launch_attrs": "Launch attributes",
    "pointer": "Pointers",
    "context_thread": "Contexts and threads",
    "hooks": "Hooks",
    "leak": "Leaks",
    "build_cache": "Build and cache",
    "overhead": "Overhead",
    "other": "Other",
}


def reports() -> list[dict[str, object]]:
    return [json.loads(line) for line in (Path(__file__).parent / "reports.jsonl").read_text().splitlines()]


def rows() -> list[tuple[str, list[str]]]:
    """(the section's title, the cells) of every row of the page."""
    found, title = [], ""
    for line in PAGE.read_text().splitlines():
        if line.startswith("## "):
            title = line.removeprefix("## ")
        elif line.startswith("| report-"):
            found.append((title, [cell.strip() for cell in line.strip("|").split("|")]))
    return found


def named() -> dict[str, list[str]]:
    """The tests of each report."""
    return {cells[0]: re.findall(r"`(tests/[^`]+)`", cells[2]) for _, cells in rows()}


def test_every_report_has_one_row_in_its_area() -> None:
    expected = [(TITLES[str(report["area"])], report["id"]) for report in reports()]
    assert sorted((title, cells[0]) for title, cells in rows()) == sorted(expected)
    assert all(len(cells) == 4 and all(cells) for _, cells in rows())


def test_only_what_is_not_ours_or_cannot_be_shown_has_no_test() -> None:
    testable = {report["id"]: report["testable_on_recorder"] for report in reports()}
    for _, (report, _, _, does) in rows():
        if not named()[report]:
            assert does.startswith("not ours: " if testable[report] else "not testable here"), report
        if not testable[report]:
            assert "not " in does


def functions(file: str) -> set[str]:
    """Node ids of a file's tests, which pytest collects by the name of the function."""
    tree = ast.parse((ROOT / file).read_text())
    names = [node.name for node in tree.body if isinstance(node, ast.FunctionDef)]
    return {f"{file}::{name}" for name in names if name.startswith("test_")}


def test_the_tests_of_the_page_are_collected(request: pytest.FixtureRequest) -> None:
    """They are there, and those of this folder are all on it, but those of this file."""
    wanted = {test for tests in named().values() for test in tests}
    known = {test for file in {test.split("::")[0] for test in wanted} for test in functions(file)}
    assert wanted - known == set()
    ours = {f"tests/reports/{path.name}" for path in Path(__file__).parent.glob("test_*.py")}
    ours -= {"tests/reports/test_reports_table.py"}
    assert {test for file in ours for test in functions(file)} - wanted == set()
    # xdist adds `@group` to the tests that have to stay in one process.
    collected = {item.nodeid.split("[")[0].split("@")[0] for item in request.session.items}
    for file in {test.split("::")[0] for test in collected} & ours:
        selected = {test for test in collected if test.startswith(f"{file}::")}
        assert selected <= functions(file), "what pytest collects there is what is read above"
