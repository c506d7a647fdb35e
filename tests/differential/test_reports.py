"""Reports of a diff: the same numbers in all of them, every text escaped, nothing from elsewhere."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
from relaunch.differential import junit
from relaunch.differential.case import Case
from relaunch.differential.diff import Tally, compare_cases
from relaunch.differential.examples import examples
from relaunch.differential.sampler import sample

from relaunch.page import printable, row, script_json, write_whole
from tools.pages import HOSTILE, SIGNATURE, hostile_tallies, write_audit, write_diff

SHOWN = printable(HOSTILE)


class Markup(HTMLParser):
    """Every tag and attribute of a page, and the text of its scripts."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.attributes: set[str] = set()
        self.scripts: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.attributes |= {name for name, _ in attrs}
        if tag == "script":
            self.scripts.append("")

    def handle_data(self, data: str) -> None:
        if self.tags and self.tags[-1] == "script" and self.scripts:
            self.scripts[-1] += data


def rows_of(script: str) -> list[list[Any]]:
    lines = script.split("const rows = [\n")[1].split("];\n", maxsplit=1)[0].splitlines()
    return [json.loads(line.rstrip(",")) for line in lines]


@pytest.mark.parametrize("write", [write_diff, write_audit])
def test_a_page_stands_alone_and_no_text_is_markup(write: Any, tmp_path: Path) -> None:
    path = tmp_path / "page.html"
    write(path)
    text = path.read_text("utf-8")
    page = Markup(text)
    assert page.tags.count("script") == page.tags.count("style") == len(page.scripts) == 1
    assert {"img", "link", "iframe", "object", "embed", "base"} & set(page.tags) == set()
    assert page.attributes <= {
        "aria-label", "charset", "class", "content", "id", "lang", "name", "placeholder", "style", "title", "type",
        "value",
    }  # fmt: skip
    assert re.findall(r"https?:|url\(|@import|fetch\(|XMLHttp|innerHTML|insertAdjacent", text) == []
    assert not {char for char in text if not char.isprintable()} - {"\n"}
    assert rows_of(page.scripts[0])
    assert list(tmp_path.iterdir()) == [path]


def test_a_page_has_every_number_and_an_example_of_everything(tmp_path: Path) -> None:
    path = tmp_path / "page.html"
    write_diff(path)
    text = path.read_text("utf-8")
    quiet, loud = hostile_tallies()
    rows = rows_of(Markup(text).scripts[0])
    assert len(rows) == 1 + len(loud.faults) + len(loud.examples) + 3 + 1  # smallest, faults, examples, no launcher
    assert [line[0] for line in rows[:4]] == [5] * 4
    for fault, line in zip(loud.faults, rows[1:4], strict=True):
        assert line[2] == f"error: expected null, got {SHOWN}"
        assert line[4:7] == [printable(f"{SIGNATURE[0]}, {SIGNATURE[1]}, (i32, (fp16, constexpr))"), "a launch",
                             "no launch and ValueError"]  # fmt: skip
        assert line[7].startswith(f"relaunch replay 'x{SHOWN}'\n")
        assert json.dumps(fault.case.call["args"]) in line[7]
    numbers = (quiet.launches + loud.launches, loud.launches, quiet.rejections, 4000, *loud.divergences.values())
    assert [number for number in numbers if f">{number:,}<" not in text] == []
    assert [line[1:3] for line in rows if line[0] == 6] == [[1, f"no type '{SHOWN}'"]]
    listed = {line[2].split()[0]: line[3] for line in rows if line[0] == 4}
    assert listed == {one: f"{count:,}" for one, count in loud.divergences.items()}


def test_scripts_hold_json_that_ends_no_script() -> None:
    assert json.loads(script_json(HOSTILE)) == HOSTILE
    assert not set("<>&\u2028") & set(script_json(HOSTILE))
    assert json.loads(row(1, 2, ["a\nb", "\ud800"], "c\x1b\nd")) == [1, 2, "a\\nb", "\\ud800", "c\\x1b\nd"]


def test_a_report_is_written_whole_or_not_at_all(tmp_path: Path) -> None:
    path = tmp_path / "report"
    path.write_text("before")

    def parts() -> Iterator[str]:
        yield "half"
        raise KeyError

    with pytest.raises(KeyError):
        write_whole(path, parts())
    assert [one.read_text() for one in tmp_path.iterdir()] == ["before"]
    write_whole(path, ["after", "\n"])
    assert [one.read_text() for one in tmp_path.iterdir()] == ["after\n"]


# What the stricter of the schemas of JUnit's XML, that of Ant's tasks, wants of each element.
ATTRIBUTES = {
    "testsuites": set(),
    "testsuite": {
        "name", "package", "id", "timestamp", "hostname", "tests", "failures", "errors", "skipped", "time",
    },
    "properties": set(),
    "property": {"name", "value"},
    "testcase": {"name", "classname", "time"},
    "failure": {"message", "type"},
    "skipped": {"message"},
    "system-out": set(),
    "system-err": set(),
}  # fmt: skip


def test_junit_is_of_the_form_that_ci_systems_read(tmp_path: Path) -> None:
    path = tmp_path / "report.xml"
    tallies = hostile_tallies()
    junit.write(path, tallies, 7, {"case-0": f"relaunch replay {HOSTILE}"})
    suites = ElementTree.fromstring(path.read_bytes())
    assert suites.tag == "testsuites"
    for element in suites.iter():
        assert set(element.attrib) == ATTRIBUTES[element.tag]
    for number, (suite, tally) in enumerate(zip(suites, tallies, strict=True)):
        order = [child.tag for child in suite]
        tests = order.count("testcase")
        assert order == ["properties", *["testcase"] * tests, "system-out", "system-err"]
        assert (suite.get("name"), suite.get("id")) == (tally.dialect, str(number))
        assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d", suite.get("timestamp", ""))
        counts = {name: int(suite.get(name, "")) for name in ("tests", "failures", "errors", "skipped")}
        assert counts == {
            "tests": tests,
            "failures": len(suite.findall("testcase/failure")),
            "errors": 0,
            "skipped": len(suite.findall("testcase/skipped")),
        }
        assert tests == len(tally.compared) + len(tally.unsupported)
        properties = {one.get("name"): int(one.get("value", "")) for one in suite.iter("property")}
        assert properties["seed"] == 7
        assert properties["cases"] == tally.cases
        assert properties["unexplained"] == len(tally.faults)
        assert {one: properties[one] for one in tally.divergences} == tally.divergences


def test_junit_says_what_fails_and_how_to_run_it_again(tmp_path: Path) -> None:
    path = tmp_path / "report.xml"
    loud = hostile_tallies()[1]
    junit.write(path, [loud], 0, {fault.case.id: f"relaunch replay {fault.case.id} {HOSTILE}" for fault in loud.faults})
    suites = ElementTree.fromstring(path.read_bytes())
    failing, fine, skipped = suites.iter("testcase")
    (failure,) = failing
    assert failing.get("name") == printable(f"*fp32, {SIGNATURE[1]}, (i32, (fp16, constexpr))")
    assert failure.get("message") == f"error: expected null, got {SHOWN} (and 2 more)"
    assert failure.get("type") == "error"
    for fault in loud.faults:
        assert f"  relaunch replay {fault.case.id} {SHOWN}" in (failure.text or "").splitlines()
    assert (fine.get("name"), list(fine)) == ("no arguments", [])
    assert skipped.get("name") == "<b>i3"
    assert [one.get("message") for one in skipped] == [f"no type '{SHOWN}'"]


def test_examples_are_cases_of_what_they_stand_for() -> None:
    def run(cases: list[Case], launcher: str) -> Iterator[dict[str, Any]]:
        for case in cases:
            kind = sum(map(ord, case.id)) % 3
            events = [{"call": "cuLaunchKernel", "grid": [1, 1, 1], "params": []}] if kind == 0 else []
            yield {"slots": [], "events": events, "error": {"type": "TypeError", "text": ""} if kind == 1 else None}

    tally = Tally("triton-3.6-cuda", (("*i8",),))
    compare_cases(tally, sample(tally.dialect, ("*i8",), 300, 5), run)
    tally.nothing = 0  # so none is shown
    found = examples(tally, 5, run)
    kinds = [one.kind for one in found]
    assert kinds == ["launches", "rejections", *sorted(tally.examples)]
    assert bool(found[0].ours["events"])
    assert found[1].ours["error"]["type"] == "TypeError"
    for one in found:
        assert one.legacy == next(run([one.case], "generated"))
    native = replace(tally, dialect="triton-3.7-cuda", examples={}, launches=0, rejections=0)
    assert examples(native, 5, run) == []


def relaunch(tmp_path: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "relaunch", "diff", *arguments]
    return subprocess.run(command, cwd=tmp_path, env=os.environ, capture_output=True, text=True, check=False)


def test_all_reports_of_a_run_say_the_same(tmp_path: Path) -> None:
    files = ("--html", "diff.html", "--junit", "diff.xml", "--json-file", "diff.jsonl")
    dialects = ("--dialect", "triton-3.6-cuda", "--dialect", "triton-3.0-hip")
    signatures = ("*fp32, i32", "tensordesc<fp16[8, 8],</script><img src=x onerror=alert(1)>>")
    done = relaunch(tmp_path, *files, *dialects, "--cases", "60", *signatures)
    assert (done.returncode, done.stderr.split("\n", 1)[1].strip()) == (0, "")
    lines = [json.loads(line) for line in (tmp_path / "diff.jsonl").read_text().splitlines()]
    suites = ElementTree.fromstring((tmp_path / "diff.xml").read_bytes())
    page = Markup((tmp_path / "diff.html").read_text("utf-8"))
    assert "img" not in page.tags
    rows = rows_of(page.scripts[0])
    for group, (line, suite) in enumerate(zip(lines, suites, strict=True)):
        properties = {one.get("name"): int(one.get("value", "")) for one in suite.iter("property")}
        names = {
            "launches": "launches",
            "rejections": "rejections",
            "empty_grids": "empty grids",
            "wanted": "as listed",
        }
        assert {name: line[name] for name in names} == {name: properties[word] for name, word in names.items()}
        assert f"{line['launches']:,}" in next(one for one in done.stdout.splitlines() if line["dialect"] in one)
        shown = {one[2].split()[0]: int(one[3]) for one in rows if one[:2] == [4, group]}
        assert shown == {one: count for one, count in line["divergences"].items() if count}
        assert set(line["examples"]) == set(shown)
        counts = {one[0]: int(one[3]) for one in rows if one[1] == group and one[0] < 2}
        assert counts == {place: line[name] for place, name in enumerate(("launches", "rejections")) if line[name]}
    assert [len(line["unsupported"]) for line in lines] == [0, 1]
    assert [len(suite.findall("testcase/skipped")) for suite in suites] == [0, 1]


def test_what_a_test_compared_is_reported_where_a_folder_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, reported: Callable[[Tally, int], None]
) -> None:
    monkeypatch.delenv("RELAUNCH_REPORTS", raising=False)
    tally = Tally("triton-3.6-hip", (("i32",),), launches=7)
    reported(tally, 5)
    assert list(tmp_path.iterdir()) == []
    monkeypatch.setenv("RELAUNCH_REPORTS", str(tmp_path / "new"))
    reported(tally, 5)
    name = "test_what_a_test_compared_is_reported_where_a_folder_is_named"
    assert sorted(one.name for one in (tmp_path / "new").iterdir()) == [f"{name}.{e}" for e in ("html", "jsonl", "xml")]
    (line,) = map(json.loads, (tmp_path / "new" / f"{name}.jsonl").read_text().splitlines())
    assert (line["seed"], line["launches"]) == (5, 7)
    (suite,) = ElementTree.fromstring((tmp_path / "new" / f"{name}.xml").read_bytes())
    assert suite.get("tests") == "1"
    rows = rows_of(Markup((tmp_path / "new" / f"{name}.html").read_text("utf-8")).scripts[0])
    assert [one[:2] for one in rows] == [[0, 0]]


@pytest.mark.parametrize(
    ("option", "path", "why"),
    [("--html", "none/page.html", "there is no folder none"), ("--junit", ".", "is a folder")],
)
def test_a_report_that_cannot_be_written_is_told_before_the_work(
    option: str, path: str, why: str, tmp_path: Path
) -> None:
    done = relaunch(tmp_path, option, path, "i32")
    assert (done.returncode, done.stdout, done.stderr) == (2, "", f"relaunch diff: {path}: {why}\n")
